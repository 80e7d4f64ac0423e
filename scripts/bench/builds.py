#!/usr/bin/python3
"""Compares builds: all run at once, but one at a time is let run, for a slice of a second, so that swings of the machine's speed meet all alike.

  scripts/bench/builds.py [-copies 2] [-slice 0.3] BUILD,BUILD... MODEL ITERATIONS [FLAG...]

Starts "BUILD time -model MODEL -iterations ITERATIONS FLAG..." -copies times for each BUILD, a file, and stops and continues these processes in a random
order until each has ended. Prints the seconds that each process ran and its seconds of processor time, and for each build the means and the ratios of
the first build's means to its own: above 1 the build is faster than the first. Copies of one build differ by 1 to 2 %, since each has other pages of
memory. Memory must suffice for all processes. Starting counts: ITERATIONS should last for several seconds. Run it on an otherwise idle machine."""
import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-copies", type=int, default=2)
    p.add_argument("-slice", type=float, default=0.3, help="mean seconds of a slice")
    p.add_argument("builds", metavar="BUILD,BUILD...")
    p.add_argument("model", metavar="MODEL")
    p.add_argument("iterations", metavar="ITERATIONS")
    a, a.flags = p.parse_known_args()
    a.builds = a.builds.split(",")
    return a


class Run:
    """One process, stopped but for its slices."""

    def __init__(self, build, arguments):
        self.build, self.ran, self.processor, self.ended = build, 0, 0, False
        self.log = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen([build, "time", *arguments], stdout=subprocess.DEVNULL, stderr=self.log)
        os.kill(self.child.pid, signal.SIGSTOP)

    def slice(self, seconds):
        begin = time.perf_counter()
        os.kill(self.child.pid, signal.SIGCONT)
        while not self.ended and time.perf_counter() - begin < seconds:
            pid, status, used = os.wait4(self.child.pid, os.WNOHANG)
            if pid:
                self.ended, self.processor = True, used.ru_utime + used.ru_stime
                self.child.returncode = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.002)
        if not self.ended:
            os.kill(self.child.pid, signal.SIGSTOP)
        self.ran += time.perf_counter() - begin


def main():
    a = arguments()
    command = ["-model", a.model, "-iterations", a.iterations, *a.flags]
    runs = [Run(build, command) for _ in range(a.copies) for build in a.builds]
    try:
        while left := [r for r in runs if not r.ended]:
            random.shuffle(left)
            for r in left:
                r.slice(a.slice * random.uniform(0.8, 1.2))
                if r.child.returncode:
                    r.log.seek(0)
                    sys.exit("%s time %s: exit status %d\n%s" % (r.build, " ".join(command), r.child.returncode, r.log.read()))
    finally:
        for r in runs:
            if not r.ended:
                r.child.kill()
    for r in runs:
        print("%s: ran %.2f s, processor time %.2f s" % (r.build, r.ran, r.processor))
    first = None
    for build in a.builds:
        means = [statistics.mean(getattr(r, what) for r in runs if r.build == build) for what in ("ran", "processor")]
        first = first or means
        print("%s: means %.2f and %.2f s, first build's over these %.3f and %.3f" % (build, *means, first[0] / means[0], first[1] / means[1]))


if __name__ == "__main__":
    main()
