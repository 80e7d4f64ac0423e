"""Runs the comparison that bench.sh prepares in a directory, prints what it finds and writes results.csv there."""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys

import nets
import report

HERE = os.path.dirname(os.path.abspath(__file__))


def output(*command, **env):
    """What a command prints, None if it fails."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **env}).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def python(script, *args, **env):
    return output(sys.executable, os.path.join(HERE, script), *map(str, args), **env)


class Bench:
    def __init__(self, o):
        self.o, self.times = o, {}
        self.kernels = {}
        self.peers = {name: python(script, "version") for name, script in (("OpenBLAS", "openblas_peer.py"), ("PyTorch", "torch_peer.py"))}
        fetched = os.path.join(o.dir, "caffe", "caffe")
        self.caffe = fetched if os.path.exists(fetched) else "caffe"
        version = output(self.caffe, "-version")
        self.peers["Caffe"] = version and version.replace("caffe version", "Caffe")
        self.peak, self.peak_avx2, self.bandwidth = {}, {}, {}
        self.beside = {}

    def add(self, what, who, milliseconds):
        if milliseconds is not None:
            self.times.setdefault(what, {}).setdefault(who, []).append(float(milliseconds))

    def measure_machine(self, program, rates):
        """One process on one core, then one on each."""
        path = os.path.join(self.o.dir, program)
        if not os.path.exists(path):
            return None
        for cores in (1, self.o.threads):
            running = [subprocess.Popen([path], stdout=subprocess.PIPE, text=True) for _ in range(cores)]
            rate = sum(float(p.communicate()[0]) for p in running)
            rates[cores] = max(rate, rates.get(cores, 0))
        return rates[self.o.threads]

    def peak_now(self, avx2):
        """The best of a few measurements of all cores' peak, None if there is no compiler."""
        program, rates = ("peak_avx2", self.peak_avx2) if avx2 else ("peak", self.peak)
        found = []
        for _ in range(3):
            now = {}
            found.append(self.measure_machine(program, now))
            rates.update((n, max(rate, rates.get(n, 0))) for n, rate in now.items())
        return None if None in found else max(found)

    def round(self):
        self.peak_now(avx2=False)
        self.measure_machine("bandwidth", self.bandwidth)
        for net in self.o.nets:
            self.time_net(net)
        if self.o.sweeps:
            self.sweep()

    def time_net(self, net):
        self.time_swcaffe(net, "swcaffe")
        if self.o.avx2:
            self.time_swcaffe(net, "swcaffe, AVX2", SWCAFFE_SIMD="avx2")
        if self.peers["PyTorch"]:
            self.add(net, "PyTorch", python("torch_peer.py", "net", net, self.o.threads, self.o.iterations))
        if self.peers["Caffe"]:
            self.time_caffe(net)

    def time_caffe(self, net):
        """A quarter of the iterations, since it takes a few times as long."""
        done = subprocess.run([self.caffe, "time", "-model", os.path.join(self.o.dir, "nets", net + ".prototxt"), "-iterations", str(max(1, self.o.iterations // 4))],
                              capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": str(self.o.threads)})
        found = re.search(r"Average Forward-Backward: ([\d.]+) ms", done.stderr)
        if done.returncode or not found:
            sys.exit("bench.sh: caffe time fails on %s: %s" % (net, done.stderr[-500:]))
        self.add(net, "Caffe", found.group(1))

    def time_swcaffe(self, net, who, **env):
        file, avx2 = os.path.join(self.o.dir, net + ".json"), bool(env)
        before = self.peak_now(avx2)
        done = output(os.path.join(self.o.dir, "swcaffe"), "time", "-model", os.path.join(self.o.dir, "nets", net + ".prototxt"), "-iterations",
                      str(self.o.iterations), "-threads", str(self.o.threads), "-json", file, **env)
        if done is None:
            sys.exit("bench.sh: swcaffe time fails on " + net)
        with open(file) as f:
            total = json.load(f)["total"]
        self.add(net, who, total["forward_ms"] + total["backward_ms"])
        if before:
            self.beside.setdefault((net, who), []).append(max(before, self.peak_now(avx2)))

    def sweep(self):
        text = output(os.path.join(self.o.dir, "kernel.test"), "-test.run", "^$", "-test.bench", "^BenchmarkSweep$", "-test.cpu", str(self.o.threads),
                      "-test.benchtime", "%dms" % (25 * self.o.iterations))
        if text is None:
            sys.exit("bench.sh: the sweep's benchmark fails")
        for kind, shape, ns in re.findall(r"^BenchmarkSweep/(gemm|conv)=([\d,]+(?:,[ab+]+)?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op", text, re.M):
            self.add(kind + " " + shape, "swcaffe", float(ns) / 1e6)
            if kind == "gemm" and self.peers["OpenBLAS"]:
                self.add("gemm " + shape, "OpenBLAS", python("openblas_peer.py", shape, self.o.threads, self.o.iterations))
            if kind == "conv" and self.peers["PyTorch"]:
                self.add("conv " + shape, "PyTorch", python("torch_peer.py", "conv", shape, self.o.threads, self.o.iterations))

    def peak_beside(self, net, who):
        """The median of the peaks right before and behind the runs of a net, None where there are none."""
        return statistics.median(self.beside[net, who]) if (net, who) in self.beside else None

    def results(self):
        """Medians over the rounds: (what, who, milliseconds, rounds)."""
        return [(what, who, statistics.median(t), len(t)) for what, by in self.times.items() for who, t in by.items()]


def has_avx512():
    with open("/proc/cpuinfo") as f:
        return "avx512f" in f.read()


def options():
    p = argparse.ArgumentParser(prog="scripts/bench.sh")
    p.add_argument("dir", help=argparse.SUPPRESS)
    p.add_argument("-quick", action="store_true", help="few iterations")
    p.add_argument("-write", action="store_true", help="write the tables of docs/PERFORMANCE.md")
    p.add_argument("-nets", default=",".join(report.CAFFE), help="which of %s, separated by commas" % ", ".join(nets.NETS))
    p.add_argument("-rounds", type=int, help="how often everything is measured in turn")
    p.add_argument("-threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("-no_avx2", action="store_false", dest="avx2", default=has_avx512(), help="do not measure the nets with AVX2 alone, too")
    p.add_argument("-no_sweeps", action="store_false", dest="sweeps", help="no products and convolutions")
    o = p.parse_args()
    o.nets = [n for n in o.nets.split(",") if n]
    for n in o.nets:
        if n not in nets.NETS:
            p.error("no net %r; nets: %s" % (n, ", ".join(nets.NETS)))
    o.rounds = o.rounds or (1 if o.quick else 5)
    o.iterations = 4 if o.quick else 10
    return o


def main():
    o = options()
    b = Bench(o)
    for name, version in b.peers.items():
        print("%s: %s" % (name, version or "absent, left out"))
    for i in range(o.rounds):
        print("round %d of %d" % (i + 1, o.rounds), flush=True)
        b.round()
    with open(os.path.join(o.dir, "results.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["what", "who", "ms_median", "rounds"])
        w.writerows([what, who, "%.4f" % ms, n] for what, who, ms, n in b.results())
        w.writerows(["peak GFLOP/s, %d cores" % n, "peak.c", "%.1f" % rate, o.rounds] for n, rate in b.peak.items())
        w.writerows(["peak GFLOP/s, AVX2, %d cores" % n, "peak.c", "%.1f" % rate, o.rounds] for n, rate in b.peak_avx2.items())
        w.writerows(["peak beside %s, GFLOP/s" % net, who, "%.1f" % b.peak_beside(net, who), o.rounds] for net, who in b.beside)
        w.writerows(["copies GB/s, %d cores" % n, "bandwidth.c", "%.2f" % rate, o.rounds] for n, rate in b.bandwidth.items())
    text = report.tables(b, os.environ.get("command", ""))
    print(text)
    if o.write:
        report.write(os.path.join(HERE, "..", "..", "docs", "PERFORMANCE.md"), text)


main()
