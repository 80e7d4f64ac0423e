#!/usr/bin/python3
"""Measures what the page of a run costs: the processor time and the wall time of an iteration with it over those without it.

  scripts/bench/page.py [-swcaffe FILE] [-seconds N] [-clients N] [SOLVER...]

SOLVER is models/lenet/solver.prototxt and models/cifar10_quick/solver.prototxt if none is given; their data must be in data/ (swcaffe
dataset digits, swcaffe dataset shapes). Tests and snapshots are off. Three costs are measured, each in pairs of neighbouring stretches of
time, whose order is reversed from pair to pair:

  page open  one run with -http; clients read the page in every other stretch of two seconds (the first quarter of each is left out)
  -http      short runs with -http, which nobody opens, and without it
  -log_json  short runs with -log_json and without it

The processor time is what the system has accounted to the trainer (/proc/PID/schedstat of its threads). It says what the page makes the
trainer compute, and depends less than wall time on what else runs. Prints CSV: solver, cost, and for processor and wall time the median over the pairs of
the ratio, with the bounds of its 95 % confidence interval (order statistics), and the number of pairs. Takes -seconds in all. Run it on an otherwise
idle machine."""
import argparse
import csv
import http.client
import math
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

STRETCH = 2.0


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-swcaffe", default="swcaffe")
    p.add_argument("-seconds", type=float, default=330)
    p.add_argument("-clients", type=int, default=1)
    p.add_argument("solvers", nargs="*", metavar="SOLVER")
    return p.parse_args()


def quiet_solver(path):
    """The solver's text without tests and snapshots and without an end, with a line of the log every 5 iterations."""
    text = re.sub(r"(?m)^\s*(test_\w+|display|max_iter|snapshot\w*)\s*:.*$", "", open(path).read())
    return text + '\nmax_iter: 1000000 display: 5 snapshot_after_train: false snapshot_prefix: "unused"\n'


def processor_seconds(pid):
    """The processor time of a process's threads."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat") as f:
                total += int(f.read().split()[0])
        except OSError:
            pass  # the thread has ended
    return total / 1e9


class Run:
    """A training. marks has (wall time, iteration, processor seconds) of every line of the log with an iteration."""

    def __init__(self, a, solver, flags):
        self.marks, self.url, self.last = [], None, ""
        self.process = subprocess.Popen([a.swcaffe, "train", "-solver", solver, *flags], stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.last = line
            page = re.search(r"The run's page: (http://[^#]*)", line)
            if page:
                self.url = page[1]
            found = re.search(r"\] Iteration (\d+) \(", line)
            if found:
                self.marks.append((time.monotonic(), int(found[1]), processor_seconds(self.process.pid)))

    def begun(self):
        while len(self.marks) < 3:
            if self.process.poll() is not None:
                sys.exit(f"the training ended: {self.last.strip()}")
            time.sleep(0.01)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def costs(self, begin, end):
        """Processor and wall seconds of an iteration between two times; None if too few ended then."""
        inside = [m for m in self.marks if begin <= m[0] <= end]
        if len(inside) < 2:
            return None
        (t0, n0, c0), (t1, n1, c1) = inside[0], inside[-1]
        return (c1 - c0) / (n1 - n0), (t1 - t0) / (n1 - n0)


class Client:
    """Reads a page's events until it is closed."""

    def __init__(self, url):
        self.answer = urllib.request.urlopen(url + "api/stream")
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        try:
            while self.answer.read1():
                pass
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # closed, or the run has ended

    def close(self):
        self.answer.fp.raw._sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()


def page_open(a, solver, seconds):
    """Pairs of costs: with clients and without."""
    run = Run(a, solver, ["-http", "127.0.0.1:0"])
    run.begun()
    stretches = []
    until = time.monotonic() + seconds
    while time.monotonic() < until or len(stretches) % 2:
        pair = len(stretches) // 2
        opened = (len(stretches) + pair) % 2 == 1  # off, on, on, off, off, on ...
        begin = time.monotonic()
        clients = [Client(run.url) for _ in range(a.clients if opened else 0)]
        time.sleep(max(0, begin + STRETCH - time.monotonic()))
        stretches.append((opened, begin + STRETCH / 4, time.monotonic()))
        for c in clients:
            c.close()
    run.end()
    pairs = []
    for first, second in zip(stretches[::2], stretches[1::2]):
        with_it, without = (first, second) if first[0] else (second, first)
        pairs.append((run.costs(*with_it[1:]), run.costs(*without[1:])))
    return whole(pairs)


def short_runs(a, solver, flags, seconds):
    """Pairs of costs: of runs with flags and without."""
    pairs = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        costs = {}
        for with_it in (True, False) if len(pairs) % 2 else (False, True):
            run = Run(a, solver, flags if with_it else [])
            run.begun()
            begin = time.monotonic()
            time.sleep(STRETCH)
            run.end()
            costs[with_it] = run.costs(begin, begin + STRETCH)
        pairs.append((costs[True], costs[False]))
    return whole(pairs)


def whole(pairs):
    """The pairs with both costs."""
    found = [p for p in pairs if None not in p]
    if not found:
        sys.exit("too few iterations end in two seconds: the solver's are too long, or the machine is busy")
    return found


def interval(values):
    """The median and the bounds of its 95 % confidence interval: the order statistics between which it lies with that probability."""
    v, n = sorted(values), len(values)
    low, tail = 0, 0.5 ** n
    while low + 1 < (n + 1) // 2 and tail + math.comb(n, low + 1) * 0.5 ** n <= 0.025:
        low += 1
        tail += math.comb(n, low) * 0.5 ** n
    return statistics.median(v), v[low], v[n - 1 - low]


def main():
    a = arguments()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["solver", "cost", "cpu_ms", "wall_ms", "cpu_ratio", "cpu_low", "cpu_high", "wall_ratio", "wall_low", "wall_high", "pairs"])
    solvers = a.solvers or ["models/lenet/solver.prototxt", "models/cifar10_quick/solver.prototxt"]
    share = a.seconds / len(solvers)
    for path in solvers:
        with tempfile.TemporaryDirectory() as folder:
            solver = os.path.join(folder, "solver.prototxt")
            with open(solver, "w") as f:
                f.write(quiet_solver(path))
            for cost, pairs in [
                ("page open", page_open(a, solver, 0.5 * share)),
                ("-http", short_runs(a, solver, ["-http", "127.0.0.1:0"], 0.3 * share)),
                ("-log_json", short_runs(a, solver, ["-log_json", os.path.join(folder, "events.jsonl")], 0.2 * share)),
            ]:
                row = [path, cost] + [f"{1000 * statistics.median(without[k] for _, without in pairs):.3f}" for k in (0, 1)]
                for k in (0, 1):
                    row += [f"{r:.4f}" for r in interval([with_it[k] / without[k] for with_it, without in pairs])]
                out.writerow(row + [len(pairs)])
                sys.stdout.flush()


if __name__ == "__main__":
    main()
