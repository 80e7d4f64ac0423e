#!/usr/bin/python3
"""Compares -precision fp32 with bf16 or int8: times and memory.

  scripts/bench/precision.py [-swcaffe FILE] [-rounds 5] [-iterations 20] [-train] [-precision bf16|int8] [-torch COMMAND] MODEL:BATCH...

Runs "swcaffe time" in both precisions in turns, of the forward pass in phase TEST or, with -train, of both passes in phase TRAIN, and prints for each net
the median of the rounds' least iteration in ms, the median ratio with its range, and the peak of resident memory in MB. With -torch, a command such as
"build/torch/run python3" (scripts/unstable.sh build/torch python3-torch), PyTorch runs the net of the benchmark with MODEL's name beside them, in bfloat16 with
channels last, for the medians of as many iterations. Run it on an otherwise idle machine."""
import argparse
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-swcaffe", default="swcaffe")
    p.add_argument("-rounds", type=int, default=5)
    p.add_argument("-iterations", type=int, default=20)
    p.add_argument("-train", action="store_true")
    p.add_argument("-precision", default="bf16", choices=["bf16", "int8"])
    p.add_argument("-torch", default="")
    p.add_argument("nets", nargs="+", metavar="MODEL:BATCH")
    return p.parse_args()


def measure(a, model, batch, precision):
    """Returns the least time of an iteration in ms, and the peak of resident memory in MB."""
    command = [a.swcaffe, "time", "-model", model, "-batch", batch, "-iterations", str(a.iterations), "-precision", precision]
    command += [] if a.train else ["-forward_only", "-phase", "TEST"]
    child = subprocess.Popen(["/usr/bin/time", "-f", "peak %M"] + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = child.communicate()[1]
    if child.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(command), text))
    times = [float(t) for t in re.findall(r"^.*Iteration: \d+ .* time: ([0-9.e+-]+) ms\.$", text, re.M)]
    return min(times), int(re.search(r"^peak (\d+)$", text, re.M).group(1)) / 1024


def torch(a, model, batch):
    """Returns PyTorch's time in ms."""
    peer = pathlib.Path(__file__).with_name("torch_peer.py")
    how = ["bf16", "nhwc", "batch=" + batch] + ([] if a.train else ["forward"])
    command = [*shlex.split(a.torch), str(peer), "net", pathlib.Path(model).stem, str(os.cpu_count()), str(a.iterations), *how]
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if child.returncode != 0:
        sys.exit(" ".join(command))
    return float(child.stdout)


def span(ratios):
    ratios = sorted(ratios)
    return "%.3f [%.3f %.3f]" % (statistics.median(ratios), ratios[0], ratios[-1])


def main():
    a = arguments()
    other = a.precision
    heads = ["net", "batch", "fp32 ms", other + " ms", "fp32/" + other, "fp32 MB", other + " MB"] + (["PyTorch ms", "PyTorch/" + other] if a.torch else [])
    form = "%-40s %6s %10s %10s %24s %8s %8s" + (" %10s %24s" if a.torch else "")
    print(form % tuple(heads))
    for net in a.nets:
        model, _, batch = net.rpartition(":")
        rounds = [[measure(a, model, batch, p) for p in ("fp32", other)] + ([torch(a, model, batch)] if a.torch else []) for _ in range(a.rounds)]
        fp32, lower = ([r[i][0] for r in rounds] for i in range(2))
        row = [model[-40:], batch, "%.3f" % statistics.median(fp32), "%.3f" % statistics.median(lower), span(x / y for x, y in zip(fp32, lower))]
        row += ["%.0f" % max(r[i][1] for r in rounds) for i in range(2)]
        if a.torch:
            peer = [r[2] for r in rounds]
            row += ["%.3f" % statistics.median(peer), span(x / y for x, y in zip(peer, lower))]
        print(form % tuple(row), flush=True)


if __name__ == "__main__":
    main()
