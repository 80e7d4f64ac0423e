#!/usr/bin/python3
"""Times the convolutions of nets, one by one, beside oneDNN's and XNNPACK's: the algorithm that is picked here, and theirs.

  scripts/bench/layers.py [-swcaffe FILE] [-forward_only] [-batch N] [-rounds 2] [-csv FILE] MODEL...

Needs gcc and Debian's libdnnl-dev, libxnnpack-dev and libpthreadpool-dev. Each convolution over two axes is measured once for all layers of a model that have
the same: ours by "swcaffe time -explain '.*' -tune", theirs by onednn_peer.c and xnnpack_peer.c (forward only), on as many threads, with images in the layout
that each library asks for. Ours include the activations, sums and normalisations that are joined to a convolution, theirs only bias. -csv writes the least
times of the rounds. Prints, for each direction of each model, the sum over all layers, and over the problems the time of the faster peer over ours. Run it on
an otherwise idle machine."""
import argparse
import csv
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import picks

PROBLEM = re.compile(r" of (\d+)x(\d+)x\[(\d+) (\d+)\] -> (\d+), kernel \[(\d+) (\d+)\] stride \[(\d+) (\d+)\] pad \[(\d+) (\d+)\] dilation \[(\d+) (\d+)\] group (\d+)")
NAMES = {"forward": "forward", "weight gradient": "weights", "input gradient": "input"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-swcaffe", default="swcaffe")
    p.add_argument("-forward_only", action="store_true", help="inference: phase TEST, forward alone")
    p.add_argument("-batch", type=int, default=0)
    p.add_argument("-rounds", type=int, default=2)
    p.add_argument("-csv", default="", help="also write the rows here")
    p.add_argument("models", nargs="+", metavar="MODEL")
    return p.parse_args()


def build(folder):
    here = pathlib.Path(__file__).parent
    for name, libraries in ("onednn", ["-ldnnl"]), ("xnnpack", ["-lXNNPACK", "-lpthreadpool", "-lm"]):
        subprocess.run(["gcc", "-O2", "-o", f"{folder}/{name}", str(here / f"{name}_peer.c"), *libraries], check=True)


def peer(folder, name, problems):
    """Returns a peer's time in ms and its implementation's name by problem, a direction and PROBLEM's numbers."""
    threads = str(os.cpu_count())
    lines = [" ".join([NAMES[direction], *(n[i] for i in (0, 1, 4, 13, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12))]) for direction, n in problems]
    r = subprocess.run([f"{folder}/{name}", threads], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ, OMP_NUM_THREADS=threads))
    answers = [line.split() for line in r.stdout.splitlines()]
    return {problem: (float(ms), how) for problem, (ms, how) in zip(problems, answers, strict=True)}


def measure(a, folder, model):
    """Returns for each different convolution of a model its direction, PROBLEM's numbers, number of layers, and by library the least time in ms with the
    implementation's name."""
    least = {}
    for _ in range(a.rounds):
        ours, layers = {}, {}
        for (_, direction, _), found in picks.explain(a, model, ".*").items():
            if match := PROBLEM.search(found["problem"]):
                key = (direction, match.groups())
                took = (found["times"][found["picked"]], found["picked"])
                ours[key], layers[key] = min(took, ours.get(key, took)), layers.get(key, 0) + 1
        forward = [k for k in ours if k[0] == "forward"]
        for who, times in ("swcaffe", ours), ("onednn", peer(folder, "onednn", list(ours))), ("xnnpack", peer(folder, "xnnpack", forward)):
            for key, took in times.items():
                of = least.setdefault(key, {})
                of[who] = min(took, of.get(who, took))
    return [(direction, numbers, layers[direction, numbers], by) for (direction, numbers), by in least.items()]


def text(n):
    """A problem's numbers as text: images, channels, height and width, outputs, and what is not 1 or 0."""
    extra = [f" {name} {x}x{y}" for name, x, y, usual in (("stride", n[7], n[8], "1"), ("pad", n[9], n[10], "0"), ("dilation", n[11], n[12], "1")) if {x, y} != {usual}]
    return f"{n[0]}x{n[1]}x{n[2]}x{n[3]} -> {n[4]} kernel {n[5]}x{n[6]}" + "".join(extra) + (f" group {n[13]}" if n[13] != "1" else "")


def summary(model, direction, rows):
    rows = [r for r in rows if r[0] == direction]
    if not rows:
        return
    print(f"{model}, {direction}: {len(rows)} problems of {sum(r[2] for r in rows)} layers, ms of all layers", end="")
    for who in ("swcaffe", "onednn", "xnnpack"):
        if all(who in r[3] for r in rows):
            print(f", {who} {sum(r[2] * r[3][who][0] for r in rows):.2f}", end="")
    ratios = [min(took[0] for who, took in r[3].items() if who != "swcaffe") / r[3]["swcaffe"][0] for r in rows]
    print(f"; faster peer over swcaffe: median {statistics.median(ratios):.2f}, least {min(ratios):.2f}, at least 1 in {sum(x >= 1 for x in ratios)}", flush=True)


def main():
    a = arguments()
    with tempfile.TemporaryDirectory() as folder, open(a.csv or os.devnull, "w", newline="") as file:
        build(folder)
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["model", "direction", "problem", "layers", "algorithm", "ms", "oneDNN", "oneDNN ms", "XNNPACK ms"])
        for model in a.models:
            path = pathlib.Path(model)
            rows, name = measure(a, folder, model), path.parent.name if path.stem in ("deploy", "train_val") else path.stem
            for direction, numbers, count, by in rows:
                (ms, algorithm), (theirs, how) = by["swcaffe"], by["onednn"]
                third = f'{by["xnnpack"][0]:.4f}' if "xnnpack" in by else ""
                out.writerow([name, direction, text(numbers), count, algorithm, f"{ms:.4f}", how, f"{theirs:.4f}", third])
            file.flush()
            for direction in NAMES:
                summary(name, direction, rows)


if __name__ == "__main__":
    main()
