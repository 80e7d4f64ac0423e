"""Runs nets for inference.py and number_types.py: inference_peer.py swcaffe|OpenCV|PyTorch THREADS [bf16].

Each line of standard input is a job, a JSON object; a line with its answer follows.
  {"load": FOLDER}   loads net.prototxt and net.caffemodel, or net.onnx, and input.npy; answers {"output": FILE} with the values of the first run
  {"run": SECONDS}   runs the net for so long, at least once; answers {"ms": [...]}
An error is answered as {"error": TEXT}. The first answer is {"version": TEXT}."""
import json
import os
import sys
import time

import numpy as np


class Swcaffe:
    def __init__(self, threads, precision=None):
        import caffe
        if precision:
            caffe.set_precision(precision)
        self.caffe, self.version = caffe, "swcaffe " + caffe.__version__

    def load(self, folder, x):
        self.net = self.caffe.Net(os.path.join(folder, "net.prototxt"), os.path.join(folder, "net.caffemodel"), self.caffe.TEST)
        self.net.blobs[self.net.inputs[0]].data[...] = x

    def run(self):
        return self.net.forward()[self.net.outputs[0]]


class OpenCV:
    def __init__(self, threads):
        import cv2
        cv2.setNumThreads(threads)
        self.cv2, self.version = cv2, "OpenCV " + cv2.__version__

    def load(self, folder, x):
        self.net, self.x = self.cv2.dnn.readNetFromONNX(os.path.join(folder, "net.onnx")), x

    def run(self):
        self.net.setInput(self.x)
        return self.net.forward()


class PyTorch:
    """Calls PyTorch's functions node by node, in inference mode."""

    def __init__(self, threads, precision="fp32"):
        import torch
        torch.set_num_threads(threads)
        self.type = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
        self.torch, self.version = torch, "PyTorch " + torch.__version__

    def load(self, folder, x):
        import onnx
        import onnx.numpy_helper
        graph = onnx.load(os.path.join(folder, "net.onnx")).graph
        self.constants = {t.name: self.tensor(onnx.numpy_helper.to_array(t)) for t in graph.initializer}
        self.nodes = [(n.op_type, list(n.input), list(n.output), {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}) for n in graph.node]
        self.input, self.output, self.x = graph.input[0].name, graph.output[0].name, self.tensor(x)
        unknown = sorted({op for op, *_ in self.nodes} - set(OPERATORS))
        if unknown:
            raise ValueError("no PyTorch form of " + ", ".join(unknown))

    def tensor(self, x):
        """Numbers of float32 become those of the precision, images of bfloat16 with channels last."""
        t = self.torch.tensor(x)
        if t.dtype == self.torch.float32 and self.type != t.dtype:
            t = t.to(self.type, memory_format=self.torch.channels_last if t.dim() == 4 else self.torch.contiguous_format)
        return t

    def run(self):
        with self.torch.inference_mode():
            values = dict(self.constants)
            values[self.input] = self.x
            for op, inputs, outputs, attributes in self.nodes:
                values[outputs[0]] = OPERATORS[op](self.torch, [values[i] for i in inputs if i], attributes)
            return values[self.output].float().numpy()


def padded(torch, x, a, fill):
    """Applies the padding of a node before it, and returns what the operator can do itself."""
    pads = a.get("pads", [0, 0, 0, 0])
    if pads[:2] == pads[2:]:
        return x, pads[:2]
    return torch.nn.functional.pad(x, (pads[1], pads[3], pads[0], pads[2]), value=fill), [0, 0]


def conv(torch, v, a):
    x, pad = padded(torch, v[0], a, 0)
    return torch.nn.functional.conv2d(x, v[1], v[2] if len(v) > 2 else None, a.get("strides", 1), pad, a.get("dilations", 1), a.get("group", 1))


def conv_transpose(torch, v, a):
    pads = a.get("pads", [0, 0, 0, 0])
    if pads[:2] != pads[2:]:
        raise ValueError("a transposed convolution with other padding at the end")
    return torch.nn.functional.conv_transpose2d(v[0], v[1], v[2] if len(v) > 2 else None, a.get("strides", 1), pads[:2], 0, a.get("group", 1), a.get("dilations", 1))


def max_pool(torch, v, a):
    kernel, pads = a["kernel_shape"], a.get("pads", [0, 0, 0, 0])
    if pads[:2] == pads[2:] and all(2 * p <= k for p, k in zip(pads, kernel)):
        return torch.nn.functional.max_pool2d(v[0], kernel, a.get("strides", 1), pads[:2])
    return torch.nn.functional.max_pool2d(padded(torch, v[0], a, float("-inf"))[0], kernel, a.get("strides", 1))


def average_pool(torch, v, a):
    """Padding at the end alone, which does not count, is ceil_mode."""
    kernel, pads, own = a["kernel_shape"], a.get("pads", [0, 0, 0, 0]), bool(a.get("count_include_pad", 0))
    if pads[:2] == pads[2:]:
        return torch.nn.functional.avg_pool2d(v[0], kernel, a.get("strides", 1), pads[:2], count_include_pad=own)
    sums = torch.nn.functional.avg_pool2d(padded(torch, v[0], a, 0)[0], kernel, a.get("strides", 1))
    if own:
        return sums
    counts = torch.nn.functional.avg_pool2d(padded(torch, torch.ones_like(v[0][:1, :1]), a, 0)[0], kernel, a.get("strides", 1))
    return sums / counts


def gemm(torch, v, a):
    return torch.nn.functional.linear(v[0], v[1] if a.get("transB") else v[1].t(), v[2] if len(v) > 2 else None)


def slices(torch, v, a):
    index = [slice(None)] * v[0].dim()
    for begin, end, axis in zip(v[1].tolist(), v[2].tolist(), v[3].tolist()):
        index[axis] = slice(begin, end)
    return v[0][tuple(index)]


def norm(torch, v, a):
    return torch.nn.functional.batch_norm(v[0], v[3], v[4], v[1], v[2], eps=a.get("epsilon", 1e-5))


def reshape(torch, v, a):
    return v[0].reshape([v[0].shape[i] if n == 0 else n for i, n in enumerate(v[1].tolist())])


OPERATORS = {
    "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": max_pool, "AveragePool": average_pool, "Gemm": gemm, "Slice": slices, "Reshape": reshape,
    "BatchNormalization": norm,
    "GlobalAveragePool": lambda torch, v, a: v[0].mean((2, 3), keepdim=True),
    "GlobalMaxPool": lambda torch, v, a: v[0].amax((2, 3), keepdim=True),
    "LRN": lambda torch, v, a: torch.nn.functional.local_response_norm(v[0], a["size"], a["alpha"], a["beta"], a["bias"]),
    "Relu": lambda torch, v, a: torch.relu(v[0]), "Sigmoid": lambda torch, v, a: torch.sigmoid(v[0]), "Tanh": lambda torch, v, a: torch.tanh(v[0]),
    "Softmax": lambda torch, v, a: torch.softmax(v[0], a.get("axis", -1)), "Concat": lambda torch, v, a: torch.cat(v, a["axis"]),
    "Flatten": lambda torch, v, a: v[0].flatten(a.get("axis", 1)), "Dropout": lambda torch, v, a: v[0], "Identity": lambda torch, v, a: v[0],
    "Add": lambda torch, v, a: v[0] + v[1], "Mul": lambda torch, v, a: v[0] * v[1],
    "Clip": lambda torch, v, a: torch.clamp(v[0], v[1], v[2]),
    "Pow": lambda torch, v, a: v[0] ** v[1],
}


def answer(engine, job):
    if "load" in job:
        folder = job["load"]
        engine.load(folder, np.load(os.path.join(folder, "input.npy")))
        file = os.path.join(folder, type(engine).__name__ + ".npy")
        np.save(file, np.array(engine.run(), dtype=np.float32))
        engine.run()
        return {"output": file}
    times, end = [], time.perf_counter() + job["run"]
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        engine.run()
        times.append(1e3 * (time.perf_counter() - start))
    return {"ms": times}


if __name__ == "__main__":
    engine = {"swcaffe": Swcaffe, "OpenCV": OpenCV, "PyTorch": PyTorch}[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
    print(json.dumps({"version": engine.version}), flush=True)
    for line in sys.stdin:
        try:
            result = answer(engine, json.loads(line))
        except Exception as e:
            result = {"error": str(e).splitlines()[0] if str(e) else repr(e)}
        print(json.dumps(result), flush=True)
