"""Tables of a comparison, in Markdown."""
import datetime
import os
import re
import statistics

import nets

# Milliseconds of Caffe 1.0 with OpenBLAS 0.3.21 where the peak of two cores was CAFFE_PEAK GFLOP/s: Zen 4, 2026-11-21, two threads,
# the same nets.
CAFFE = {"lenet": 16.4, "cifar10_quick": 133.5, "alexnet": 1416, "googlenet": 1791, "resnet50": 1869, "vgg16": 6110}
CAFFE_PEAK = 226

START, END = "<!-- tables of scripts/bench.sh -->", "<!-- end of tables -->"


def layers(net):
    """Of each layer its kind, the values of an image that it reads and writes, its weights and operations, and whether it reads data."""
    sizes = {"data": net.shape[2]}
    for name, kind, bottoms, p in net.nodes:
        size = sizes[bottoms[0]]
        into = sum(net.channels[b] * sizes[b] ** 2 for b in bottoms)
        weights = work = 0
        if kind == "conv":
            size = (size + 2 * p["pad"] - p["kernel"]) // p["stride"] + 1
            weights = p["out"] * (p["into"] // p["group"]) * p["kernel"] ** 2
            work = 2 * weights * size * size
        elif kind == "pool":
            size = -(-(size + 2 * p["pad"] - p["kernel"]) // p["stride"]) + 1
        elif kind == "linear":
            weights = p["out"] * into
            work, size = 2 * weights, 1
        sizes[name] = size
        yield kind, into, net.channels[name] * size * size, weights, work, bottoms[0] == "data"


def flops(net):
    """Operations of convolutions and inner products, forward and for both gradients; the first layer has no gradient of its input."""
    return net.shape[0] * sum(work * (2 if first else 3) for _, _, _, _, work, first in layers(net))


def traffic(net):
    """Bytes that pass through memory if no cache keeps a blob from one layer to the next, and rectifying and dropping come for nothing.
    Forward reads the inputs and the weights and writes the outputs. Backward reads the outputs' gradient and the weights and writes the
    inputs' gradient and the weights'; but for pooling and sums it reads the inputs once more."""
    values = 0
    for kind, into, out, weights, _, first in layers(net):
        if kind not in ("relu", "dropout", "concat"):
            again = 0 if kind in ("pool", "sum") else into
            values += net.shape[0] * (2 * out + into + again + (0 if first else into)) + (2 if first else 3) * weights
    return 4 * values


def work(what):
    """Operations of a product or of a convolution's three directions."""
    kind, shape = what.split()
    if kind == "gemm":
        m, n, k = map(int, shape.split(",")[:3])
        return 2 * m * n * k
    v = list(map(int, shape.split(",")))
    n, c, size, out, kernel, stride, pad, group = v
    edge = (size + 2 * pad - kernel) // stride + 1
    return 6 * n * out * edge * edge * (c // group) * kernel * kernel


def machine(b):
    with open("/proc/cpuinfo") as f:
        found = re.search(r"model name\s*: (.*)", f.read())
    bandwidth = ", ".join("%.1f GB/s on %d" % (rate, n) for n, rate in sorted(b.bandwidth.items())) or "not measured"
    return "%s, %d threads, Linux %s, %s; in the same run, by cores: multiply-add peak, at best, %s; copies through memory %s" % (
        found.group(1) if found else os.uname().machine, b.o.threads, os.uname().release, datetime.date.today(), rates(b.peak), bandwidth)


def rates(peak):
    return ", ".join("%.0f GFLOP/s on %d" % (rate, n) for n, rate in sorted(peak.items())) or "not measured, for want of gcc"


def tables(b, command):
    medians = {what: {who: statistics.median(t) for who, t in by.items()} for what, by in b.times.items()}
    peers = "; ".join(v or n + " is absent" for n, v in b.peers.items())
    lines = [START, "", "`%s` on %s." % (command.strip(), machine(b)), "Medians of %d alternating runs. %s." % (b.o.rounds, peers), ""]
    bandwidth = b.bandwidth.get(b.o.threads)
    lines += ["| net, batch | swcaffe ms | Caffe ms | Caffe / swcaffe | PyTorch ms | PyTorch / swcaffe | peak beside it | share of peak | MB through memory | at bandwidth ms | the quoted Caffe / swcaffe, in units of peak |",
              "|---|---|---|---|---|---|---|---|---|---|---|"]
    for name in b.o.nets:
        net, t, peak = nets.NETS[name](), medians[name], b.peak_beside(name, "swcaffe")
        ours = t["swcaffe"]
        quoted = "%.2f" % (CAFFE[name] * CAFFE_PEAK / peak / ours) if peak and name in CAFFE else "-"
        moved = traffic(net)
        least = "%.1f" % (moved / bandwidth / 1e6) if bandwidth else "-"
        lines.append("| %s %d | %.2f | %s | %s | %s | %s | %.0f | %s | %s |" % (
            name, net.shape[0], ours, against(t, "Caffe"), against(t, "PyTorch"), "%.0f" % peak if peak else "-", share(flops(net), ours, peak), moved / 1e6, least, quoted))
    if b.o.avx2:
        lines += ["", "With AVX2 alone (`SWCAFFE_SIMD=avx2`), whose multiply-add peak is %s:" % rates(b.peak_avx2), ""] + levels(b, medians)
    for kind, title, peer in (("gemm", "M,N,K, operands stored transposed (a, b), added to C (+)", "OpenBLAS"), ("conv", "images,channels,edge,outputs,kernel,stride,padding,groups", "PyTorch")):
        rows = [(what, t) for what, t in medians.items() if what.startswith(kind + " ")]
        if rows:
            lines += ["", "| %s %s | swcaffe ms | share of peak | %s ms | %s / swcaffe |" % (kind, title, peer, peer), "|---|---|---|---|---|"]
            lines += ["| %s | %.3f | %s | %s |" % (what.split()[1], t["swcaffe"], share(work(what), t["swcaffe"], b.peak.get(b.o.threads)), against(t, peer)) for what, t in rows]
    return "\n".join(lines + ["", END])


def levels(b, medians):
    """The table of the nets with both levels of vector instructions, each in shares of its own peak."""
    lines = ["| net, batch | AVX-512 ms | share of peak | AVX2 ms | share of AVX2's peak | one share / the other |", "|---|---|---|---|---|---|"]
    for name in b.o.nets:
        net, wide, avx2 = nets.NETS[name](), medians[name]["swcaffe"], medians[name]["swcaffe, AVX2"]
        peak, narrow = b.peak_beside(name, "swcaffe"), b.peak_beside(name, "swcaffe, AVX2")
        kept = "%.2f" % (wide * peak / avx2 / narrow) if peak and narrow else "-"
        lines.append("| %s %d | %.2f | %s | %.2f | %s | %s |" % (
            name, net.shape[0], wide, share(flops(net), wide, peak), avx2, share(flops(net), avx2, narrow), kept))
    return lines


def share(operations, milliseconds, peak):
    return "%.0f %%" % (100 * operations / milliseconds / 1e6 / peak) if peak else "-"


def against(times, peer):
    if peer not in times:
        return "- | -"
    return "%.3f | %.2f" % (times[peer], times[peer] / times["swcaffe"])


def write(path, text, start=START, end=END):
    """Puts the tables into a file, between its marks."""
    with open(path) as f:
        old = f.read()
    with open(path, "w") as f:
        f.write(old[:old.index(start)] + text + old[old.index(end) + len(end):])
