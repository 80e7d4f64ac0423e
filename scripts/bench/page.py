#!/usr/bin/python3
"""Measures what the page of a run costs: the time of an iteration with -http over the time without it.

  scripts/bench/page.py [-swcaffe FILE] [-rounds N] [-iterations N] [-clients N] [SOLVER...]

SOLVER is models/lenet/solver.prototxt and models/cifar10_quick/solver.prototxt if none is given; their data must be in data/ (swcaffe
dataset digits, swcaffe dataset shapes). Every round trains without a page, with a page that nobody opens, with one that clients read, and
with -log_json, in an order that rotates. Tests and snapshots are off. The time is that between two lines of the log; the first fifth of a
run does not count. Prints CSV: solver, way, median over the rounds of the ratio to the run without a page, lowest and highest ratio. Run
it on an otherwise idle machine."""
import argparse
import csv
import datetime
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.request

WAYS = ["nothing", "page", "page and clients", "log_json"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-swcaffe", default="swcaffe")
    p.add_argument("-rounds", type=int, default=5)
    p.add_argument("-iterations", type=int, default=2000)
    p.add_argument("-clients", type=int, default=1)
    p.add_argument("solvers", nargs="*", metavar="SOLVER")
    return p.parse_args()


def quiet_solver(path, iterations):
    """The solver's text without tests and snapshots, with few lines of log."""
    text = open(path).read()
    text = re.sub(r"(?m)^\s*(test_\w+|display|max_iter|snapshot\w*)\s*:.*$", "", text)
    step = max(1, iterations // 10)
    return text + f'\nmax_iter: {iterations} display: {step} snapshot_after_train: false snapshot_prefix: "unused"\n'


def read_stream(url):
    """Reads a page's events until the run ends."""
    try:
        with urllib.request.urlopen(url + "api/stream") as answer:
            while answer.read1():
                pass
    except OSError:
        pass  # the run has ended


def milliseconds(a, solver, way, folder):
    """The time of an iteration."""
    command = [a.swcaffe, "train", "-solver", solver]
    if way == "log_json":
        command += ["-log_json", os.path.join(folder, "events.jsonl")]
    elif way != "nothing":
        command += ["-http", "127.0.0.1:0"]
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    times, last, clients = {}, "", []
    for line in run.stderr:
        last = line
        page = re.search(r"The run's page: (http://[^#]*)", line)
        if page and way == "page and clients":
            clients = [threading.Thread(target=read_stream, args=(page[1],)) for _ in range(a.clients)]
            for c in clients:
                c.start()
        found = re.match(r"I\d{4} (\S+) .*\] Iteration (\d+) \(", line)
        if found:
            times[int(found[2])] = datetime.datetime.strptime(found[1], "%H:%M:%S.%f")
    if run.wait() != 0:
        sys.exit(f"{' '.join(command)}: {last.strip()}")
    for c in clients:
        c.join()
    steps = sorted(times)
    first = next(n for n in steps if n >= a.iterations / 5)
    lapse = (times[steps[-1]] - times[first]) % datetime.timedelta(days=1)
    return 1000 * lapse.total_seconds() / (steps[-1] - first)


def main():
    a = arguments()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["solver", "way", "ms", "ratio", "lowest", "highest"])
    for path in a.solvers or ["models/lenet/solver.prototxt", "models/cifar10_quick/solver.prototxt"]:
        with tempfile.TemporaryDirectory() as folder:
            solver = os.path.join(folder, "solver.prototxt")
            with open(solver, "w") as f:
                f.write(quiet_solver(path, a.iterations))
            rounds = []
            for k in range(a.rounds):
                shift = k % len(WAYS)
                rounds.append({way: milliseconds(a, solver, way, folder) for way in WAYS[shift:] + WAYS[:shift]})
        for way in WAYS:
            ratios = [r[way] / r["nothing"] for r in rounds]
            ms = statistics.median(r[way] for r in rounds)
            out.writerow([path, way, f"{ms:.3f}", f"{statistics.median(ratios):.4f}", f"{min(ratios):.4f}", f"{max(ratios):.4f}"])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
