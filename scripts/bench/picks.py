#!/usr/bin/python3
"""Shows for each layer whether the algorithm that is picked is the fastest: convolutions, inner products, recurrent layers and poolings.

  scripts/bench/picks.py [-swcaffe FILE] [-forward_only] [-batch N] [-within 0.05] [-again N] MODEL...

"swcaffe time -explain '.*' -tune" runs every algorithm that can compute a direction of a layer. Where the picked one took longer than the
fastest by more than -within, the layer is measured again, up to -again times; what is as far behind each time is printed: model, layer,
direction, problem, the picked algorithm, its time in ms, the fastest and its time, and the share of the whole model's time that the fastest
would save. A difference of less than 0.02 ms is the cost of a start and is passed over. The last line counts directions. The exit status is 1
if a pick is behind. Run it on an otherwise idle machine."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

TABLE = re.compile(r"^(?P<layer>\S.*), (?P<direction>forward|weight gradient|input gradient):$")
ROW = re.compile(r"^(?P<mark>[> ]) (?P<name>\S+) +\S+ +(?P<ms>[0-9]+\.[0-9]+)(?P<why>  .*)?$")
START = 0.02  # ms


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-swcaffe", default="swcaffe")
    p.add_argument("-forward_only", action="store_true", help="inference: phase TEST, forward alone")
    p.add_argument("-batch", type=int, default=0)
    p.add_argument("-within", type=float, default=0.05)
    p.add_argument("-again", type=int, default=2)
    p.add_argument("models", nargs="+", metavar="MODEL")
    return p.parse_args()


def explain(a, model, layers):
    """Returns, by layer, direction and place, the problem, the picked algorithm and the times of all."""
    with tempfile.TemporaryDirectory() as folder:
        command = [a.swcaffe, "time", "-model", model, "-explain", layers, "-tune", os.path.join(folder, "tuned"), "-batch", str(a.batch)]
        command += ["-forward_only", "-phase", "TEST"] * a.forward_only
        r = subprocess.run(command, capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit(f"{model}: {r.stderr.strip().splitlines()[-1]}")
    found, key, place = {}, None, 0
    for line in r.stdout.splitlines():
        if t := TABLE.match(line):
            place = place + 1 if key and key[:2] == (t["layer"], t["direction"]) else 0
            key = (t["layer"], t["direction"], place)
            found[key] = {"problem": "", "picked": "", "times": {}}
        elif (row := ROW.match(line)) and "cannot:" not in (row["why"] or ""):
            found[key]["times"][row["name"]] = float(row["ms"])
            if row["mark"] == ">":
                found[key]["picked"] = row["name"]
        elif ": computed by " in line:
            found[key]["problem"] = line.split(": computed by ")[0]
    return {k: f for k, f in found.items() if f["picked"] in f["times"]}


def behind(f, within):
    picked, best = f["times"][f["picked"]], min(f["times"].values())
    return picked - best > START and picked > best * (1 + within)


def main():
    a = arguments()
    directions = late = 0
    for model in a.models:
        first = explain(a, model, ".*")
        total = sum(f["times"][f["picked"]] for f in first.values())
        suspects = {k: f for k, f in first.items() if behind(f, a.within)}
        for _ in range(a.again):
            if not suspects:
                break
            again = explain(a, model, "|".join(sorted({re.escape(k[0]) for k in suspects})))
            for k in list(suspects):
                for name, ms in again[k]["times"].items():
                    suspects[k]["times"][name] = min(ms, suspects[k]["times"][name])
            suspects = {k: f for k, f in suspects.items() if behind(f, a.within) and behind(again[k], a.within)}
        for (layer, direction, _), f in suspects.items():
            best = min(f["times"], key=f["times"].get)
            saved = (f["times"][f["picked"]] - f["times"][best]) / total
            print(f'{model}: {layer}, {direction}: {f["problem"]}: {f["picked"]} {f["times"][f["picked"]]:.4f}, {best} {f["times"][best]:.4f}, {saved:.1%} of the model', flush=True)
        directions, late = directions + len(first), late + len(suspects)
    print(f"{directions} directions of layers, {late} with a pick more than {a.within:.0%} behind")
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
