"""Compares the latency of inference with ONNX Runtime, OpenCV, PyTorch and Caffe: bench.sh -inference starts it.

For each net and batch size every program loads the same weights and must give the same values. Then they run in turns, a short slice each. With -int8 the nets are
those that swcaffe quantize makes, as QDQ for ONNX Runtime; the other programs are left out."""
import argparse
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import time

import numpy as np

import nets
import report

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LEFT_OUT = ("char_rnn",)  # its latency is that of a step, with states
USUAL = "lenet,cifar10_quick,cifar10_resnet8,alexnet,googlenet,resnet18,resnet50,vgg16,mobilenet,mobilenet_ssd"
ONE_IMAGE = {"faster_rcnn": "the regions of an image are the priors of its second stage"}  # nets that take one image, and why
START, END = "<!-- tables of scripts/bench.sh -inference%s -->", "<!-- end of inference%s tables -->"


class Peer:
    """A program that answers jobs (inference_peer.py)."""

    def __init__(self, name, command, env):
        self.name = name
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **env})
            self.version = json.loads(self.process.stdout.readline())["version"]
        except (OSError, ValueError):
            self.version = None

    def ask(self, **job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("bench.sh: %s has ended at the job %s" % (self.name, job))
        return json.loads(line)

    def close(self):
        if self.version:
            self.process.stdin.close()
            self.process.wait()


class Bench:
    def __init__(self, o):
        self.o, self.rows = o, []
        self.work = os.path.join(o.dir, "inference")
        os.makedirs(self.work, exist_ok=True)
        threads, python = str(o.threads), [sys.executable, os.path.join(HERE, "inference_peer.py")]
        ours = {"PYTHONPATH": os.path.join(ROOT, "python"), "SWCAFFE_LIBRARY": os.path.join(o.dir, "libswcaffe.so"), "GOMAXPROCS": threads}
        node = {"NODE_PATH": os.path.join(ROOT, "build", "onnxruntime", "node_modules"), "TMPDIR": self.work}  # its telemetry leaves files there
        self.peers = [
            Peer("swcaffe", python + ["swcaffe", threads], ours),
            Peer("ONNX Runtime", ["node", os.path.join(HERE, "inference_peer.js"), threads], node),
        ]
        if not o.int8:
            self.peers += [Peer("OpenCV", python + ["OpenCV", threads], {}), Peer("PyTorch", python + ["PyTorch", threads], {})]
        if not self.peers[0].version:
            sys.exit("bench.sh: swcaffe's Python module does not start; it needs python3-numpy, python3-protobuf and gcc")
        self.caffe_version = None
        if o.int8:
            return
        fetched = os.path.join(o.dir, "caffe", "caffe")
        self.caffe = fetched if os.path.exists(fetched) else "caffe"
        try:
            self.caffe_version = subprocess.run([self.caffe, "-version"], capture_output=True, text=True).stdout.strip() or None
        except OSError:
            pass

    def measure(self, net, batch):
        folder = os.path.join(self.work, "net")
        os.makedirs(folder, exist_ok=True)
        self.prepare(net, batch, folder)
        times, outputs, refused = {}, {}, {}
        for p in self.peers:
            if not p.version:
                continue
            loaded = p.ask(load=folder)
            if "error" in loaded:
                refused[p.name] = loaded["error"]
                continue
            outputs[p.name], times[p.name] = values(loaded["output"]), []
        self.compare(net, outputs)
        distances = []
        for _ in range(self.o.rounds):
            turn, distance = self.turn(list(times))
            distances.append(distance)
            for name, ms in turn.items():
                times[name] += ms
        if self.caffe_version:
            times["Caffe"], refused["Caffe"] = self.time_caffe(folder)
        times, refused = ({k: v for k, v in d.items() if v} for d in (times, refused))
        self.rows.append((net, batch, times, refused, np.median(distances)))
        print(line(net, batch, times), flush=True)
        for name, why in refused.items():
            print("  %s cannot run it: %s" % (name, why))

    def turn(self, names):
        """Returns one slice of each program and the distance of the cores. With -round_trip it is measured again until the cores are near before and after it: a virtual machine's
        processors move."""
        near, said = self.o.round_trip or np.inf, time.monotonic()
        while True:
            before, times = self.distance(), {}
            if before <= near:
                for p in self.peers:
                    if p.name in names:
                        time.sleep(0.06)  # the threads of the program before stop spinning: ONNX Runtime's take a core for 40 ms
                        times[p.name] = p.ask(run=self.o.seconds)["ms"]
                after = self.distance()
                if after <= near:
                    return times, (before + after) / 2
            if time.monotonic() - said > 60:
                said = time.monotonic()
                print("  the cores are %.0f ns apart; waiting for %.0f" % (before, near), flush=True)
            time.sleep(1)

    def distance(self):
        """The nanoseconds that a cache line takes from one processor to another and back, 0 if there is only one."""
        done = subprocess.run([os.path.join(self.o.dir, "distance")], capture_output=True, text=True)
        return float(done.stdout or 0)

    def prepare(self, net, batch, folder):
        """Writes net.prototxt for the batch, net.caffemodel, net.onnx and the input. Weights are the fillers', statistics those of a normal
        distribution, since a BatchNorm layer that divides by nothing makes values infinite."""
        with open(self.source(net)) as f:
            text = re.sub(r"(shape\s*\{\s*dim:\s*)\d+", r"\g<1>%d" % batch, f.read(), count=1)
        prototxt, weights = os.path.join(folder, "net.prototxt"), os.path.join(folder, "net.caffemodel")
        with open(prototxt, "w") as f:
            f.write(text)
        initial = [sys.executable, os.path.join(HERE, "inference_weights.py"), prototxt, weights, folder]
        run(initial, PYTHONPATH=os.path.join(ROOT, "python"), SWCAFFE_LIBRARY=os.path.join(self.o.dir, "libswcaffe.so"))
        swcaffe = os.path.join(self.o.dir, "swcaffe")
        if self.o.int8:
            quantize(swcaffe, prototxt, weights, os.path.join(folder, "int8"))
        run([swcaffe, "export_onnx", "-model", prototxt, "-weights", weights, "-batch", str(batch), "-fold", "-o", os.path.join(folder, "net.onnx")])

    def source(self, net):
        if net != "mobilenet":
            return os.path.join(ROOT, "models", net, "deploy.prototxt")
        file = os.path.join(self.work, "mobilenet.prototxt")
        with open(file, "w") as f:
            f.write(nets.deploy(nets.mobilenet()))
        return file

    def compare(self, net, outputs):
        """All programs must agree to 1e-4 of the largest value. In int8, where each rounds what it has and layers pass differences on, outputs must have the same direction: a cosine of
        0.95."""
        want = outputs.get("swcaffe")
        if want is None:
            sys.exit("bench.sh: swcaffe cannot run " + net)
        if not np.isfinite(want).all():
            sys.exit("bench.sh: swcaffe's output of %s is not finite" % net)
        for name, got in outputs.items():
            worst = np.abs(got - want).max() if got.shape == want.shape else np.inf
            agrees = worst <= 1e-4 * np.abs(want).max()
            if self.o.int8 and got.shape == want.shape:
                agrees = got @ want >= 0.95 * np.sqrt((got @ got) * (want @ want))
            if not agrees:
                sys.exit("bench.sh: %s differs from swcaffe on %s by %g, of a largest value of %g" % (name, net, worst, np.abs(want).max()))

    def time_caffe(self, folder):
        """Returns means of runs, since caffe time prints no other figure; it also runs backward. Of a net that Caffe refuses it returns why."""
        means = []
        for _ in range(self.o.rounds):
            done = subprocess.run([self.caffe, "time", "-model", os.path.join(folder, "net.prototxt"), "-phase", "TEST", "-iterations", "3"],
                                  capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": str(self.o.threads)})
            found = re.search(r"Average Forward pass: ([\d.e+-]+) ms", done.stderr)
            unknown = re.search(r"Unknown layer type: \w+|has no field named \"\w+\"", done.stderr)
            if unknown:
                return [], unknown.group(0)
            if done.returncode or not found:
                sys.exit("bench.sh: caffe time fails: " + done.stderr[-500:])
            means.append(float(found.group(1)))
        return means, None


LAYER = re.compile(r"^layer \{(?:[^\n]*\}$|\n.*?^\})", re.M | re.S)


def quantize(swcaffe, prototxt, weights, folder):
    """Quantizes a net of an Input layer, on random images of a normal distribution, in its place."""
    with open(prototxt) as f:
        text = f.read()
    images = next(layer for layer in LAYER.findall(text) if '"Input"' in layer)
    drawn = re.sub(r"input_param \{\s*(shape \{.*?\})\s*\}", r'dummy_data_param { \1 data_filler { type: "gaussian" } }', images.replace('"Input"', '"DummyData"'), flags=re.S)
    with open(prototxt, "w") as f:
        f.write(text.replace(images, re.sub("transform_param.*", "", drawn)))
    run([swcaffe, "quantize", "-model", prototxt, "-weights", weights, "-iterations", "1", "-seed", "1", "-o", folder])
    with open(os.path.join(folder, os.path.basename(prototxt))) as f:
        text = f.read()
    with open(prototxt, "w") as f:
        f.write(text.replace(next(layer for layer in LAYER.findall(text) if '"DummyData"' in layer), images))
    os.replace(os.path.join(folder, os.path.basename(weights)), weights)


def values(file):
    return (np.load(file) if file.endswith(".npy") else np.fromfile(file, dtype=np.float32)).ravel()


def run(command, **env):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env})
    if done.returncode:
        sys.exit("bench.sh: %s: %s" % (" ".join(command), done.stderr[-1000:]))


def figures(batch, times):
    """Median and 99th percentile in milliseconds, and images a second."""
    median = np.median(times)
    return median, np.percentile(times, 99), 1e3 * batch / median


def line(net, batch, times):
    return "%s %d: " % (net, batch) + "; ".join("%s %.3f ms (%d runs)" % (name, np.median(t), len(t)) for name, t in times.items())


def tables(b, command):
    names = [p.name for p in b.peers if p.version] + (["Caffe"] if b.caffe_version else [])
    absent = [p.name for p in b.peers if not p.version] + ([] if b.caffe_version or b.o.int8 else ["Caffe"])
    versions = "; ".join([p.version for p in b.peers if p.version] + ([b.caffe_version] if b.caffe_version else []))
    lines = [START % b.o.kind, "", "`%s` on %s, %d threads, %s. %s." % (command.strip(), processor(), b.o.threads, datetime.date.today(), versions)]
    lines.append("%d slices of %g s each, in turns; latency of a batch as median / 99th percentile in ms, and images a second." % (b.o.rounds, b.o.seconds)
                 + (" Caffe's are means of `caffe time`." if b.caffe_version else "") + (" Absent: %s." % ", ".join(absent) if absent else "")
                 + " Round trip: of a cache line between two cores, in ns (`scripts/bench/distance.c`, median of the slices); cores that share no cache take over 300.")
    lines += ["", "| net, batch | " + " | ".join("%s ms | images/s" % n for n in names) + " | " + " | ".join("%s / swcaffe" % n for n in names[1:]) + " | round trip |",
              "|" + "---|" * (3 * len(names) + 1)]
    for net, batch, times, _, distance in b.rows:
        cells, ours = ["%s %d" % (net, batch)], np.median(times["swcaffe"])
        for n in names:
            cells += ["%.3f / %.3f | %.0f" % figures(batch, times[n]) if n in times else "- | -"]
        cells += ["%.2f" % (np.median(times[n]) / ours) if n in times else "-" for n in names[1:]]
        cells.append("%.0f" % distance)
        lines.append("| " + " | ".join(cells) + " |")
    single = ["%s takes one image: %s." % (n, ONE_IMAGE[n]) for n in b.o.nets if n in ONE_IMAGE and max(b.o.batches) > 1]
    refused = single + sorted({"%s cannot run %s: %s." % (name, net, why) for net, _, _, by, _ in b.rows for name, why in by.items()})
    return "\n".join(lines + ([""] + refused if refused else []) + ["", END % b.o.kind])


def processor():
    with open("/proc/cpuinfo") as f:
        found = re.search(r"model name\s*: (.*)", f.read())
    return found.group(1) if found else os.uname().machine


def options():
    zoo = sorted(os.path.basename(os.path.dirname(f)) for f in glob.glob(os.path.join(ROOT, "models", "*", "deploy.prototxt")))
    zoo = [n for n in zoo if n not in LEFT_OUT] + ["mobilenet"]
    p = argparse.ArgumentParser(prog="scripts/bench.sh -inference")
    p.add_argument("dir", help=argparse.SUPPRESS)
    p.add_argument("-write", action="store_true", help="write the table of docs/PERFORMANCE.md")
    p.add_argument("-int8", action="store_true", help="nets of 8-bit integers, beside ONNX Runtime alone")
    p.add_argument("-nets", default=USUAL, help="all, or some of %s, separated by commas; without it %s" % (", ".join(zoo), USUAL))
    p.add_argument("-batches", default="1,4,16", help="numbers of images")
    p.add_argument("-rounds", type=int, default=3, help="slices of each program")
    p.add_argument("-seconds", type=float, default=0.3, help="the length of a slice")
    p.add_argument("-round_trip", type=float, metavar="NS", help="keep slices alone whose cores were no further apart, in ns of a cache line's round trip, and wait for such a time")
    p.add_argument("-threads", type=int, default=len(os.sched_getaffinity(0)))
    o = p.parse_args()
    o.kind = " -int8" if o.int8 else ""
    o.nets, o.batches = zoo if o.nets == "all" else o.nets.split(","), [int(n) for n in o.batches.split(",")]
    for n in o.nets:
        if n not in zoo:
            p.error("no net %r; nets: %s" % (n, ", ".join(zoo)))
    return o


def main():
    o = options()
    b = Bench(o)
    for p in b.peers:
        print("%s: %s" % (p.name, p.version or "absent, left out"))
    if not o.int8:
        print("Caffe: %s" % (b.caffe_version or "absent, left out"))
    for net in o.nets:
        for batch in o.batches:
            if batch > 1 and net in ONE_IMAGE:
                print("%s %d: left out, it takes one image: %s" % (net, batch, ONE_IMAGE[net]), flush=True)
            else:
                b.measure(net, batch)
    for p in b.peers:
        p.close()
    text = tables(b, os.environ.get("command", ""))
    print(text)
    if o.write:
        report.write(os.path.join(ROOT, "docs", "PERFORMANCE.md"), text, START % o.kind, END % o.kind)


if __name__ == "__main__":
    main()
