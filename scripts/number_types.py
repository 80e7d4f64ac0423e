#!/usr/bin/python3
"""Accuracy and speed of trained nets by number type, beside other programs: writes docs/types.csv, docs/types.svg and a table of docs/PERFORMANCE.md.

  scripts/number_types.py [-seeds 5] [-jobs 2] [-nets lenet,...] [-times] [-torch COMMAND] [-write] [DIR]

Trains the nets with their own solvers on generated data, with the seeds 1 to N in fp32 and, where training has algorithms in it, in bf16. Every trained net then computes
the 4,000 test images in fp32 and bf16, and in int8 after "swcaffe quantize" on training images; ONNX Runtime computes the same nets in fp32 and as QDQ, and PyTorch in bfloat16.
-times measures 16 images as well, the programs in turns, on an otherwise idle machine. What is in DIR (build/types) is not done again.

It needs scripts/onnx_oracles.sh -install and gcc. COMMAND starts a Python with PyTorch: scripts/unstable.sh build/torch python3-torch python3-onnx, then "build/torch/run python3"."""
import argparse
import concurrent.futures
import csv
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts", "bench"))
import inference  # noqa: E402

# The data set of each net, and whether its training has algorithms in bf16.
NETS = {"lenet": ("digits", False), "cifar10_quick": ("shapes", False), "cifar10_resnet8": ("shapes", True), "cifar10_shufflenet": ("shapes", True),
        "cifar10_mobilenet_v2": ("shapes", True)}
TEST, BATCH, TIMED = 4000, 100, 16
FP32, BF16, TRAINED, INT8 = "fp32", "bf16", "bf16, also trained in it", "int8"
OURS, ONNX, TORCH = "swcaffe", "ONNX Runtime", "PyTorch"
# Programs and types, in the order of the table: whose weights they read, the net that they run, and the colour of the plot.
ROWS = {(OURS, FP32): "#1b6ca8", (OURS, BF16): "#1b6ca8", (OURS, TRAINED): "#1b6ca8", (OURS, INT8): "#1b6ca8", (ONNX, FP32): "#b8540f", (ONNX, INT8): "#b8540f", (TORCH, BF16): "#3c8031"}
CSV, PLOT, DOCUMENT = (os.path.join(ROOT, "docs", name) for name in ("types.csv", "types.svg", "PERFORMANCE.md"))
START, END = "<!-- scripts/number_types.py writes this table -->", "<!-- end of the table of types -->"


class Work:
    """The programs, and a folder that has the binary, the models and the data."""

    def __init__(self, a):
        self.a, self.dir = a, os.path.abspath(a.dir)
        os.makedirs(self.dir, exist_ok=True)
        self.swcaffe = os.path.join(self.dir, "swcaffe")
        self.library = os.path.join(self.dir, "libswcaffe.so")
        if not os.path.exists(self.swcaffe):
            subprocess.check_call(["go", "build", "-o", self.swcaffe, "./cmd/swcaffe"], cwd=ROOT)
            subprocess.check_call(["go", "build", "-buildmode=c-shared", "-o", self.library, "./cmd/libswcaffe"], cwd=ROOT, env={**os.environ, "CGO_ENABLED": "1"})
            shutil.copytree(os.path.join(ROOT, "models"), os.path.join(self.dir, "models"))
        for kind in sorted({NETS[n][0] for n in a.nets}):
            if not os.path.exists(os.path.join(self.dir, "data", kind + "_test_lmdb")):
                self.run("dataset", kind, "-train", "20000", "-test", str(TEST), "-out", "data", "-force")
        self.environment = {"PYTHONPATH": os.path.join(ROOT, "python"), "SWCAFFE_LIBRARY": self.library}

    def run(self, *command):
        done = subprocess.run([self.swcaffe, *command], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit("%s\n%s" % (" ".join(command), done.stdout[-2000:]))

    def text(self, net, file):
        with open(os.path.join(self.dir, "models", net, file)) as f:
            return f.read()

    def peers(self):
        threads, python = str(os.cpu_count()), [sys.executable, os.path.join(ROOT, "scripts", "bench", "inference_peer.py")]
        node = {"NODE_PATH": os.path.join(ROOT, "build", "onnxruntime", "node_modules"), "TMPDIR": self.dir}
        found = {(OURS, t): inference.Peer(OURS, python + [OURS, threads] + ([BF16] if t in (BF16, TRAINED) else []), self.environment) for t in (FP32, BF16, TRAINED, INT8)}
        for t in (FP32, INT8):
            found[ONNX, t] = inference.Peer(ONNX, ["node", os.path.join(ROOT, "scripts", "bench", "inference_peer.js"), threads], node)
        if self.a.torch:
            found[TORCH, BF16] = inference.Peer(TORCH, shlex.split(self.a.torch) + python[1:] + [TORCH, threads, BF16], {})
        for (program, _), p in found.items():
            if not p.version:
                sys.exit("number_types.py: %s does not start" % program)
        return found


def trained(w, net, seed, precision):
    """Returns the weights of a training, which runs unless they are there."""
    folder = os.path.join("runs", net, "seed_%d" % seed, precision)
    weights = os.path.join(folder, "weights.caffemodel")
    if os.path.exists(os.path.join(w.dir, weights)):
        return weights
    os.makedirs(os.path.join(w.dir, folder), exist_ok=True)
    text = w.text(net, "solver.prototxt")
    last = re.search(r"^max_iter: (\d+)", text, re.M).group(1)
    for old, new in ((r"random_seed: \d+", "random_seed: %d" % seed), (r"snapshot: \d+", "snapshot: 0"), (r'snapshot_prefix: ".*"', 'snapshot_prefix: "%s/s"' % folder),
                     (r"test_interval: \d+", "test_interval: %s" % last), (r"(?m)^test_initialization.*\n", "")):
        text = re.sub(old, new, text)
    solver = os.path.join(folder, "solver.prototxt")
    with open(os.path.join(w.dir, solver), "w") as f:
        f.write(text + "test_initialization: false\n")
    start = time.time()
    w.run("train", "-solver", solver, "-precision", precision, "-threads", "1")
    os.rename(os.path.join(w.dir, folder, "s_iter_%s.caffemodel" % last), os.path.join(w.dir, weights))
    print("%s: %.0f s" % (folder, time.time() - start), flush=True)
    return weights


def prepare(w, net, seed):
    """Writes a folder for each net that programs run: net.prototxt, net.caffemodel, net.onnx. Returns them by program and type."""
    kind, rounds = NETS[net]
    base = os.path.join("runs", net, "seed_%d" % seed)
    transform = re.search(r"transform_param \{.*\}", w.text(net, "train_val.prototxt")).group(0)
    deploy = re.sub(r"(shape \{ dim: )\d+(.*)", r"\g<1>%d\g<2>\n  " % BATCH + transform, w.text(net, "deploy.prototxt"), count=1)
    folders = {}
    for precision in (FP32, BF16) if rounds else (FP32,):
        folder = folders[precision] = os.path.join(base, "net_" + precision)
        os.makedirs(os.path.join(w.dir, folder), exist_ok=True)
        shutil.copy(os.path.join(w.dir, trained(w, net, seed, precision)), os.path.join(w.dir, folder, "net.caffemodel"))
        with open(os.path.join(w.dir, folder, "net.prototxt"), "w") as f:
            f.write(deploy)
    integers = folders[INT8] = os.path.join(base, "net_int8")
    model, weights = (os.path.join(folders[FP32], "net." + e) for e in ("prototxt", "caffemodel"))
    w.run("quantize", "-model", model, "-weights", weights, "-data", "data/%s_train_lmdb" % kind, "-iterations", "20", "-seed", "1", "-o", integers)
    for folder in folders.values():
        model, weights, onnx = (os.path.join(folder, "net." + e) for e in ("prototxt", "caffemodel", "onnx"))
        w.run("export_onnx", "-model", model, "-weights", weights, "-fold", "-o", onnx)
    return {row: os.path.join(w.dir, folders.get(BF16, folders[FP32]) if row[1] == TRAINED else folders[INT8 if row[1] == INT8 else FP32]) for row in ROWS}


def images(w, net):
    """Returns the test images as the net's data layer prepares them, and their labels."""
    layers = re.findall(r"(?ms)^layer \{.*?^\}", w.text(net, "train_val.prototxt"))
    file = os.path.join(w.dir, "runs", net, "data.prototxt")
    with open(file, "w") as f:
        f.write("\n".join(x for x in layers if "phase: TEST" in x and 'type: "Data"' in x))
    script = ("import caffe, numpy as np\nnet, n = caffe.Net(%r, caffe.TEST), %d\nall = [net.forward() and None or {k: b.data.copy() for k, b in net.blobs.items()} for _ in range(n)]\n"
              "np.savez(%r, x=np.stack([a['data'] for a in all]), y=np.stack([a['label'] for a in all]))" % (file, TEST // BATCH, file + ".npz"))
    subprocess.check_call([sys.executable, "-c", script], cwd=w.dir, env={**os.environ, **w.environment, "GLOG_minloglevel": "2"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with np.load(file + ".npz") as f:
        return f["x"], f["y"].reshape(TEST // BATCH, BATCH)


def feed(folder, x):
    np.save(os.path.join(folder, "input.npy"), x)
    np.ascontiguousarray(x, dtype=np.float32).tofile(os.path.join(folder, "input.raw"))
    with open(os.path.join(folder, "input.json"), "w") as f:
        json.dump({"dims": x.shape}, f)


def classes(peer, folder, batches):
    """Returns the classes that a program finds, or None if it cannot run the net, which it says."""
    found = []
    for x in batches:
        feed(folder, x)
        loaded = peer.ask(load=folder)
        if "error" in loaded:
            print("%s cannot run %s: %s" % (peer.name, folder, loaded["error"]))
            return None
        found.append(inference.values(loaded["output"]).reshape(len(x), -1).argmax(1))
    return np.stack(found)


def timed(w, net, peers, folders, x):
    """Returns ms of 16 images by program and type: medians of three slices, in turns."""
    ms = {}
    for folder in sorted(set(folders.values())):
        with open(os.path.join(folder, "net.prototxt")) as f:
            text = f.read()
        with open(os.path.join(folder, "net.prototxt"), "w") as f:
            f.write(re.sub(r"(dim: )%d\b" % BATCH, r"\g<1>%d" % TIMED, text, count=1))
        inside = os.path.relpath(folder, w.dir)
        w.run("export_onnx", "-model", inside + "/net.prototxt", "-weights", inside + "/net.caffemodel", "-fold", "-o", inside + "/net.onnx")
        feed(folder, x[:TIMED])
    for row, p in peers.items():
        p.ask(load=folders[row])
        ms[row] = []
    for _ in range(3):
        for row, p in peers.items():
            time.sleep(0.06)
            ms[row] += p.ask(run=0.3)["ms"]
    return {row: statistics.median(t) for row, t in ms.items()}


def measure(w):
    """Appends what is missing to DIR/types.csv, and returns all rows."""
    path = os.path.join(w.dir, "types.csv")
    rows = read(path)
    seeds = range(1, w.a.seeds + 1)
    with concurrent.futures.ThreadPoolExecutor(w.a.jobs) as pool:
        jobs = [(net, seed, p) for seed in seeds for net in w.a.nets for p in ((FP32, BF16) if NETS[net][1] else (FP32,))]
        for _ in pool.map(lambda job: trained(w, *job), jobs):
            pass
    for net in w.a.nets:
        missing = [s for s in seeds if not any(r["net"] == net and r["seed"] == str(s) for r in rows)]
        untimed = w.a.times and not any(r["net"] == net and r["ms"] for r in rows)
        if not missing and not untimed:
            continue
        x, y = images(w, net)
        for seed in seeds:
            if seed not in missing and not (untimed and seed == 1):
                continue
            folders, peers = prepare(w, net, seed), w.peers()
            if not NETS[net][1]:
                del peers[OURS, TRAINED]
            rows = [r for r in rows if r["net"] != net or r["seed"] != str(seed)]
            found = {row: classes(p, folders[row], x) for row, p in peers.items()}
            found = {row: c for row, c in found.items() if c is not None}
            ms = timed(w, net, {row: peers[row] for row in found}, folders, x[0]) if untimed and seed == 1 else {}
            for row, c in found.items():
                rows.append({"net": net, "seed": str(seed), "program": peers[row].version, "type": row[1], "accuracy": "%.4f" % (c == y).mean(),
                             "agreement": "" if row[1] == TRAINED else "%.4f" % (c == found[OURS, FP32]).mean(), "ms": "%.3f" % ms[row] if ms else ""})
                print(*rows[-1].values(), flush=True)
            for p in peers.values():
                p.close()
            write(path, rows)
    return rows


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def write(path, rows):
    with open(path + ".partial", "w", newline="") as f:
        out = csv.DictWriter(f, ["net", "seed", "program", "type", "accuracy", "agreement", "ms"], lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    os.rename(path + ".partial", path)


def summaries(rows):
    """Returns by net, then by program and type: the accuracies, the least agreement and the time."""
    by = {}
    for net in NETS:
        for program, t in ROWS:
            mine = [r for r in rows if r["net"] == net and r["program"].startswith(program) and r["type"] == t]
            if mine:
                agree = [float(r["agreement"]) for r in mine if r["agreement"]]
                by.setdefault(net, {})[program, t] = ([float(r["accuracy"]) for r in mine], min(agree, default=None), next((float(r["ms"]) for r in mine if r["ms"]), None))
    return by


def table(rows):
    out = ["| net | program | type | accuracy, mean | range | same class as in swcaffe's fp32, at least | ms of 16 images | times as fast as swcaffe's fp32 |", "|---|---|---|---|---|---|---|---|"]
    for net, lines in summaries(rows).items():
        base = lines[OURS, FP32][2]
        for (program, t), (accuracy, agree, ms) in lines.items():
            out.append("| %s | %s | %s | %.4f | %.4f to %.4f | %s | %s | %s |" % (
                net, program, t, statistics.mean(accuracy), min(accuracy), max(accuracy), "%.2f %%" % (100 * agree) if agree is not None else "-",
                "%.3f" % ms if ms else "-", "%.2f" % (base / ms) if ms and base else "-"))
    return "\n".join(out) + "\n"


def plot(rows):
    """Returns a drawing: accuracy over images a second, a panel a net; bars are the range of the seeds."""
    width, height, left, top, gap = 250, 200, 60, 34, 62
    nets = summaries(rows)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">' % (left + len(nets) * (width + gap), height + top + 80),
           '<rect width="100%" height="100%" fill="white"/>']
    for i, (net, lines) in enumerate(nets.items()):
        x0 = left + i * (width + gap)
        speeds = {row: TIMED * 1e3 / ms for row, (_, _, ms) in lines.items() if ms}
        most, lowest, highest = 1.15 * max(speeds.values(), default=1), min(min(v[0]) for v in lines.values()), max(max(v[0]) for v in lines.values())
        margin = max(0.002, 0.15 * (highest - lowest))
        lowest, highest = lowest - margin, highest + margin
        y = lambda a: top + height - (a - lowest) / (highest - lowest) * height
        out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999"/>' % (x0, top, width, height))
        out.append('<text x="%d" y="%d" text-anchor="middle" font-weight="bold">%s</text>' % (x0 + width / 2, top - 12, net))
        for k in range(5):
            a, s = lowest + (highest - lowest) * k / 4, most * k / 4
            out.append('<text x="%d" y="%.1f" text-anchor="end">%.3f</text>' % (x0 - 5, y(a) + 4, a))
            out.append('<text x="%.1f" y="%d" text-anchor="middle">%.0f</text>' % (x0 + width * k / 4, top + height + 16, s))
        for k, (row, speed) in enumerate(sorted(speeds.items(), key=lambda item: item[1])):
            accuracy, colour, x = lines[row][0], ROWS[row], x0 + speed / most * width
            middle = statistics.mean(accuracy)
            out.append('<path d="M%.1f %.1f V%.1f" stroke="%s" stroke-opacity="0.5"/><circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>' % (x, y(min(accuracy)), y(max(accuracy)), colour, x, y(middle), colour))
            label = "bf16*" if row[1] == TRAINED else row[1]
            high = y(middle) - 4 - 12 * (k % 3) if k % 2 else y(middle) + 12 + 12 * (k % 3)  # labels of neighbours stand apart
            out.append('<text x="%.1f" y="%.1f" fill="%s">%s</text>' % (x + 5, high, colour, label))
    for k, (program, colour) in enumerate({p: c for (p, _), c in ROWS.items()}.items()):
        out.append('<circle cx="%d" cy="%d" r="4" fill="%s"/><text x="%d" y="%d">%s</text>' % (left + 140 * k, top + height + 60, colour, left + 140 * k + 8, top + height + 64, program))
    out.append('<text x="%d" y="%d">test accuracy over images a second, of 16 at a time; bars: the range of the seeds; bf16*: also trained in bf16</text>' % (left, top + height + 38))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-seeds", type=int, default=5)
    p.add_argument("-jobs", type=int, default=os.cpu_count(), help="trainings at a time, of one thread each")
    p.add_argument("-nets", type=lambda t: t.split(","), default=list(NETS))
    p.add_argument("-times", action="store_true")
    p.add_argument("-torch", default="")
    p.add_argument("-write", action="store_true")
    p.add_argument("dir", nargs="?", default=os.path.join(ROOT, "build", "types"))
    a = p.parse_args()
    unknown = sorted(set(a.nets) - set(NETS))
    if unknown:
        p.error("no such nets: %s; there are %s" % (", ".join(unknown), ", ".join(NETS)))
    rows = measure(Work(a))
    print(table(rows))
    if a.write:
        write(CSV, rows)
        with open(PLOT, "w") as f:
            f.write(plot(rows))
        with open(DOCUMENT) as f:
            text = f.read()
        head, rest = text.split(START)
        with open(DOCUMENT, "w") as f:
            f.write(head + START + "\n\n" + table(rows) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
