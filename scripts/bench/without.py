#!/usr/bin/python3
"""Measures what each algorithm, fusion and pass saves: the time of an iteration without it over the time with it.

  scripts/bench/without.py [-swcaffe FILE] [-forward_only] [-rounds N] [-seconds S] [-batch N] [-level avx2|go] [-names A,B] MODEL...

A round measures the whole net before and after each run without a name. A ratio is the time without the name over the mean of these two
neighbours: 1.05 says that the net takes 5 % longer without the algorithm. The printed ratio is the median over the rounds.

Prints one line of CSV for each name in use: model, mode, level, name, ratio, lowest and highest ratio of a round, and the ratio of the
fastest rounds, without the name over the whole net before it. -names measures the given names only, in use or not. Run it on an
otherwise idle machine."""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-swcaffe", default="swcaffe")
    p.add_argument("-forward_only", action="store_true", help="inference: phase TEST, forward alone")
    p.add_argument("-rounds", type=int, default=3)
    p.add_argument("-seconds", type=float, default=1, help="of measured iterations in each run")
    p.add_argument("-batch", type=int, default=0)
    p.add_argument("-level", default="", help="the vector level (SWCAFFE_SIMD)")
    p.add_argument("-names", default="")
    p.add_argument("models", nargs="+", metavar="MODEL")
    return p.parse_args()


class Timer:
    """Runs swcaffe time on one model."""

    def __init__(self, a, model):
        self.command = [a.swcaffe, "time", "-model", model, "-batch", str(a.batch)] + ["-forward_only", "-phase", "TEST"] * a.forward_only
        self.environment = dict(os.environ, SWCAFFE_SIMD=a.level)
        self.iterations = 2

    def run(self, *flags):
        r = subprocess.run(self.command + list(flags), env=self.environment, capture_output=True, text=True)
        return r.returncode, r.stdout, r.stderr

    def report(self, *without):
        flags = ["-iterations", str(self.iterations), "-json", "-"]
        code, out, err = self.run(*flags, *(["-without", ",".join(without)] if without else []))
        if code != 0:
            raise RuntimeError(err.strip().splitlines()[-1])
        return json.loads(out)

    def time(self, *without):
        total = self.report(*without)["total"]
        return total["forward_ms"] + total["backward_ms"]

    def known(self):
        """All names that -without accepts."""
        _, _, err = self.run("-without", "?")
        return re.search(r"\(passes, fusions and algorithms: (.*)\)", err).group(1).split(", ")

    def used(self):
        """The names that the net uses."""
        known, names = self.known(), set()
        for layer in self.report()["layers"]:
            for text in layer.get("algorithms", {}).values():
                names.add(max((n for n in known if (text + "-").startswith(n + "-")), key=len))
        _, notes, _ = self.run("-passes")
        for line in notes.splitlines():
            names.add(line.split(":")[0])
            for inner in re.findall(r"\(([^()]*)\)$", line):
                names.update(n for n in inner.split(", ") if n in known)
        return [n for n in known if n in names and n not in ("nothing", "arrange")]


def measure(a, model, out):
    t = Timer(a, model)
    names = a.names.split(",") if a.names else t.used()
    t.iterations = max(2, min(200, round(1000 * a.seconds / t.time())))
    ratios, fastest = {n: [] for n in names}, {n: [] for n in names}
    for _ in range(a.rounds):
        before = t.time()
        for n in names:
            try:
                without = t.time(n)
            except RuntimeError as e:
                print("%s without %s: %s" % (model, n, e), file=sys.stderr)
                continue
            after = t.time()
            ratios[n].append(2 * without / (before + after))
            fastest[n].append((without, before))
            before = after
    name = os.path.basename(model)
    name = os.path.basename(os.path.dirname(model)) if name in ("train_val.prototxt", "deploy.prototxt") else name.replace(".prototxt", "")
    for n in names:
        if ratios[n]:
            best = min(w for w, _ in fastest[n]) / min(b for _, b in fastest[n])
            row = [statistics.median(ratios[n]), min(ratios[n]), max(ratios[n]), best]
            out.writerow([name, "inference" if a.forward_only else "training", a.level or "highest", n] + ["%.3f" % r for r in row])
    sys.stdout.flush()


def main():
    a = arguments()
    out = csv.writer(sys.stdout)
    for model in a.models:
        measure(a, model, out)


if __name__ == "__main__":
    main()
