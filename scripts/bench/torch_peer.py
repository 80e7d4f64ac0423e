"""PyTorch's times, in milliseconds, median of the iterations behind two warm-ups.

torch_peer.py net NAME THREADS ITERATIONS [bf16] [nhwc] [forward] [batch=N]: forward and backward of a benchmark net. bf16: in bfloat16, with autocast in training and weights in bfloat16 in inference; nhwc: with
  channels last; forward: the forward pass alone, in inference mode; batch: N images in place of the net's number.
torch_peer.py conv SHAPE THREADS ITERATIONS: forward and both gradients of a convolution, as in run.py's sweep.
torch_peer.py version"""
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import nets


def module(kind, p, channels, image):
    """The PyTorch module of a node with weights, None for the others. image is the shape that a node reads."""
    if kind == "conv":
        return nn.Conv2d(p["into"], p["out"], p["kernel"], p["stride"], p["pad"], groups=p["group"], bias=p["bias"])
    if kind == "norm":
        return nn.BatchNorm2d(channels)
    if kind == "linear":
        return nn.Linear(image[1:].numel(), p["out"])
    return None


def apply(kind, p, layer, xs):
    """Computes a node as Caffe does: pooling rounds up."""
    x = xs[0]
    if kind == "linear":
        return layer(x.flatten(1))
    if layer is not None:
        return layer(x)
    if kind == "pool" and p["average"]:
        return F.avg_pool2d(x, p["kernel"], p["stride"], p["pad"], ceil_mode=True)
    if kind == "pool":
        return F.max_pool2d(x, p["kernel"], p["stride"], p["pad"], ceil_mode=True)
    return {
        "relu": lambda: F.relu(x, inplace=True), "dropout": lambda: F.dropout(x, training=torch.is_grad_enabled()), "sum": lambda: x + xs[1], "concat": lambda: torch.cat(xs, 1),
        "lrn": lambda: F.local_response_norm(x, 5),
    }[kind]()


def forward(net, layers, x):
    values = {"data": x}
    for name, kind, bottoms, p in net.nodes:
        xs = [values[b] for b in bottoms]
        if name not in layers:
            layers[name] = module(kind, p, net.channels[name], xs[0].shape)
        values[name] = apply(kind, p, layers[name], xs)
    return values[net.nodes[-1][0]]


def time_net(name, iterations, *how):
    net, layers = nets.NETS[name](), {}
    shape = [int(([h[6:] for h in how if h.startswith("batch=")] or [net.shape[0]])[0]), *net.shape[1:]]
    x, label = torch.full(shape, 0.5), torch.ones(shape[0], dtype=torch.long)
    forward(net, layers, x)  # makes the layers
    if "nhwc" in how:
        x = x.to(memory_format=torch.channels_last)
        for layer in layers.values():
            if layer is not None:
                layer.to(memory_format=torch.channels_last)
    if "forward" not in how:
        with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in how):
            return median(lambda: train(net, layers, x, label), iterations)
    for layer in layers.values():
        if layer is not None:
            layer.eval()
            if "bf16" in how:  # once: autocast would round the weights in every run
                layer.to(torch.bfloat16)
    if "bf16" in how:
        x = x.to(torch.bfloat16)
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled="bf16" in how):  # which knows what has no form in bfloat16
        return median(lambda: forward(net, layers, x), iterations)


def train(net, layers, x, label):
    for layer in layers.values():
        if layer is not None:
            layer.zero_grad()
    F.cross_entropy(forward(net, layers, x), label).backward()


def time_conv(shape, iterations):
    n, c, size, out, kernel, stride, pad, group = map(int, shape.split(","))
    x = torch.randn(n, c, size, size, requires_grad=True)
    conv = nn.Conv2d(c, out, kernel, stride, pad, groups=group, bias=False)
    y = torch.randn_like(conv(x))

    def run():
        x.grad = conv.weight.grad = None
        conv(x).backward(y)

    return median(run, iterations)


def median(run, iterations):
    times = []
    for _ in range(2 + iterations):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[2:])


if __name__ == "__main__":
    if sys.argv[1] == "version":
        print("PyTorch %s, oneDNN %s" % (torch.__version__, "on" if torch.backends.mkldnn.is_available() else "off"))
        sys.exit()
    torch.set_num_threads(int(sys.argv[3]))
    measure = {"net": time_net, "conv": time_conv}[sys.argv[1]]
    print("%.4f" % measure(sys.argv[2], int(sys.argv[4]), *sys.argv[5:]))
