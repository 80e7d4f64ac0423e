"""Tables of a comparison, in Markdown."""
import datetime
import os
import re
import statistics

import nets

# Milliseconds of Caffe 1.0 with OpenBLAS 0.3.21 where the peak of two cores was CAFFE_PEAK GFLOP/s: Zen 4, 2026-11-21, two threads,
# the same nets. Caffe does not come by apt.
CAFFE = {"lenet": 16.4, "cifar10_quick": 133.5, "alexnet": 1416, "googlenet": 1791, "resnet50": 1869, "vgg16": 6110}
CAFFE_PEAK = 226

START, END = "<!-- tables of scripts/bench.sh -->", "<!-- end of tables -->"


def flops(net):
    """Operations of convolutions and inner products, forward and for both gradients; the first layer has no gradient of its input."""
    sizes, total = {"data": net.shape[2]}, 0
    for name, kind, bottoms, p in net.nodes:
        size = sizes[bottoms[0]]
        if kind == "conv":
            size = (size + 2 * p["pad"] - p["kernel"]) // p["stride"] + 1
            work = 2 * size * size * p["out"] * (p["into"] // p["group"]) * p["kernel"] ** 2
        elif kind == "pool":
            size = -(-(size + 2 * p["pad"] - p["kernel"]) // p["stride"]) + 1
        elif kind == "linear":
            work = 2 * p["out"] * net.channels[bottoms[0]] * size * size
            size = 1
        if kind in ("conv", "linear"):
            total += work * (2 if bottoms[0] == "data" else 3)
        sizes[name] = size
    return total * net.shape[0]


def work(what):
    """Operations of a product or of a convolution's three directions."""
    kind, shape = what.split()
    v = list(map(int, shape.split(",")))
    if kind == "gemm":
        return 2 * v[0] * v[1] * v[2]
    n, c, size, out, kernel, stride, pad, group = v
    edge = (size + 2 * pad - kernel) // stride + 1
    return 6 * n * out * edge * edge * (c // group) * kernel * kernel


def machine(b):
    with open("/proc/cpuinfo") as f:
        found = re.search(r"model name\s*: (.*)", f.read())
    peak = ", ".join("%.0f GFLOP/s on %d" % (rate, n) for n, rate in sorted(b.peak.items())) or "not measured, for want of gcc"
    return "%s, %d threads, Linux %s, %s; multiply-add peak in the same run, by cores: %s" % (
        found.group(1) if found else os.uname().machine, b.o.threads, os.uname().release, datetime.date.today(), peak)


def tables(b, command):
    medians = {what: {who: statistics.median(t) for who, t in by.items()} for what, by in b.times.items()}
    peak = b.peak.get(b.o.threads)
    peers = "; ".join("%s %s" % (n, "is absent" if v is None else v) for n, v in b.peers.items())
    lines = [START, "", "`%s` on %s." % (command.strip(), machine(b)), "Medians of %d alternating runs. %s." % (b.o.rounds, peers), ""]
    lines += ["| net, batch | swcaffe ms | share of peak | PyTorch ms | PyTorch / swcaffe | Caffe / swcaffe, in units of peak |", "|---|---|---|---|---|---|"]
    for name in b.o.nets:
        net, t = nets.NETS[name](), medians[name]
        ours = t["swcaffe"]
        caffe = "%.2f" % (CAFFE[name] * CAFFE_PEAK / peak / ours) if peak else "-"
        lines.append("| %s %d | %.2f | %s | %s | %s |" % (name, net.shape[0], ours, share(flops(net), ours, peak), against(t, "PyTorch"), caffe))
    for kind, title, peer in (("gemm", "M,N,K", "OpenBLAS"), ("conv", "images,channels,edge,outputs,kernel,stride,padding,groups", "PyTorch")):
        rows = [(what, t) for what, t in medians.items() if what.startswith(kind + " ")]
        if rows:
            lines += ["", "| %s %s | swcaffe ms | share of peak | %s ms | %s / swcaffe |" % (kind, title, peer, peer), "|---|---|---|---|---|"]
            lines += ["| %s | %.3f | %s | %s |" % (what.split()[1], t["swcaffe"], share(work(what), t["swcaffe"], peak), against(t, peer)) for what, t in rows]
    return "\n".join(lines + ["", END])


def share(operations, milliseconds, peak):
    return "%.0f %%" % (100 * operations / milliseconds / 1e6 / peak) if peak else "-"


def against(times, peer):
    if peer not in times:
        return "- | -"
    return "%.3f | %.2f" % (times[peer], times[peer] / times["swcaffe"])


def write(path, text):
    """Puts the tables into a file, between its marks."""
    with open(path) as f:
        old = f.read()
    with open(path, "w") as f:
        f.write(old[:old.index(START)] + text + old[old.index(END) + len(END):])
