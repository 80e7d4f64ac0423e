#!/usr/bin/python3
"""Compares -precision fp32 with bf16: times and memory.

  scripts/bench/precision.py [-swcaffe FILE] [-rounds 5] [-iterations 20] [-train] MODEL:BATCH...

Runs "swcaffe time" in both precisions in turns, of the forward pass in phase TEST or, with -train, of both passes in phase TRAIN, and prints for each net
the median of the rounds' least iteration in ms, the median ratio with its range, and the peak of resident memory in MB. Run it on an otherwise idle machine."""
import argparse
import re
import statistics
import subprocess
import sys

PRECISIONS = "fp32", "bf16"


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-swcaffe", default="swcaffe")
    p.add_argument("-rounds", type=int, default=5)
    p.add_argument("-iterations", type=int, default=20)
    p.add_argument("-train", action="store_true")
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


def main():
    a = arguments()
    print("%-40s %6s %10s %10s %28s %8s %8s" % ("net", "batch", "fp32 ms", "bf16 ms", "fp32/bf16", "fp32 MB", "bf16 MB"))
    for net in a.nets:
        model, _, batch = net.rpartition(":")
        rounds = [[measure(a, model, batch, p) for p in PRECISIONS] for _ in range(a.rounds)]
        fp32, bf16 = ([r[i][0] for r in rounds] for i in range(2))
        ratios = sorted(x / y for x, y in zip(fp32, bf16))
        peaks = [max(r[i][1] for r in rounds) for i in range(2)]
        span = "%.3f [%.3f %.3f]" % (statistics.median(ratios), ratios[0], ratios[-1])
        print("%-40s %6s %10.3f %10.3f %28s %8.0f %8.0f" % (model[-40:], batch, statistics.median(fp32), statistics.median(bf16), span, *peaks), flush=True)


if __name__ == "__main__":
    main()
