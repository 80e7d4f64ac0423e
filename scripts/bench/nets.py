"""The benchmark nets, described once. "nets.py DIR" writes them as prototxts on constant data, so that input costs nothing;
torch_peer.py builds the same from the same description."""
import os
import sys


class Net:
    """Nodes in order: (name, kind, names of the nodes that it reads, parameters)."""

    def __init__(self, name, *shape):
        self.name, self.shape, self.nodes, self.channels = name, shape, [], {"data": shape[1]}

    def add(self, kind, bottoms, channels=None, **params):
        name = "%s%d" % (kind, len(self.nodes) + 1)
        self.channels[name] = channels or self.channels[bottoms[0]]
        self.nodes.append((name, kind, bottoms, params))
        return name

    def conv(self, x, out, kernel, stride=1, pad=0, group=1, bias=True):
        return self.add("conv", [x], out, out=out, kernel=kernel, stride=stride, pad=pad, group=group, bias=bias, into=self.channels[x])

    def relu(self, x):
        return self.add("relu", [x])

    def conv_relu(self, x, *args, **params):
        return self.relu(self.conv(x, *args, **params))

    def pool(self, x, kernel, stride, pad=0, average=False):
        return self.add("pool", [x], kernel=kernel, stride=stride, pad=pad, average=average)

    def norm(self, x, relu=False):
        x = self.add("norm", [x], channels=self.channels[x])
        return self.relu(x) if relu else x

    def lrn(self, x):
        return self.add("lrn", [x])

    def linear(self, x, out):
        return self.add("linear", [x], out, out=out)

    def classifier(self, x, *widths):
        for w in widths[:-1]:
            x = self.add("dropout", [self.relu(self.linear(x, w))])
        return self.linear(x, widths[-1])


def lenet():
    n = Net("lenet", 64, 1, 28, 28)
    x = n.pool(n.conv("data", 20, 5), 2, 2)
    x = n.pool(n.conv(x, 50, 5), 2, 2)
    n.linear(n.relu(n.linear(x, 500)), 10)
    return n


def cifar10_quick():
    n = Net("cifar10_quick", 100, 3, 32, 32)
    x = n.relu(n.pool(n.conv("data", 32, 5, pad=2), 3, 2))
    x = n.pool(n.conv_relu(x, 32, 5, pad=2), 3, 2, average=True)
    x = n.pool(n.conv_relu(x, 64, 5, pad=2), 3, 2, average=True)
    n.linear(n.linear(x, 64), 10)
    return n


def alexnet():
    n = Net("alexnet", 32, 3, 227, 227)
    x = n.pool(n.lrn(n.conv_relu("data", 96, 11, stride=4)), 3, 2)
    x = n.pool(n.lrn(n.conv_relu(x, 256, 5, pad=2, group=2)), 3, 2)
    x = n.conv_relu(n.conv_relu(x, 384, 3, pad=1), 384, 3, pad=1, group=2)
    n.classifier(n.pool(n.conv_relu(x, 256, 3, pad=1, group=2), 3, 2), 4096, 4096, 1000)
    return n


def googlenet():
    n = Net("googlenet", 16, 3, 224, 224)
    x = n.lrn(n.pool(n.conv_relu("data", 64, 7, stride=2, pad=3), 3, 2))
    x = n.pool(n.lrn(n.conv_relu(n.conv_relu(x, 64, 1), 192, 3, pad=1)), 3, 2)
    for widths in ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), None, (192, 96, 208, 16, 48, 64),
                   (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
                   (256, 160, 320, 32, 128, 128), None, (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)):
        if widths is None:
            x = n.pool(x, 3, 2)
            continue
        one, three_in, three, five_in, five, pooled = widths
        x = n.add("concat", [
            n.conv_relu(x, one, 1), n.conv_relu(n.conv_relu(x, three_in, 1), three, 3, pad=1),
            n.conv_relu(n.conv_relu(x, five_in, 1), five, 5, pad=2), n.conv_relu(n.pool(x, 3, 1, pad=1), pooled, 1),
        ], one + three + five + pooled)
    n.linear(n.add("dropout", [n.pool(x, 7, 1, average=True)]), 1000)
    return n


def resnet50():
    n = Net("resnet50", 8, 3, 224, 224)
    x = n.pool(n.norm(n.conv("data", 64, 7, stride=2, pad=3, bias=False), relu=True), 3, 2)
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            y = n.norm(n.conv(x, width, 1, stride=stride, bias=False), relu=True)
            y = n.norm(n.conv(y, width, 3, pad=1, bias=False), relu=True)
            y = n.norm(n.conv(y, 4 * width, 1, bias=False))
            if block == 0:
                x = n.norm(n.conv(x, 4 * width, 1, stride=stride, bias=False))
            x = n.relu(n.add("sum", [x, y]))
    n.linear(n.pool(x, 7, 1, average=True), 1000)
    return n


def resnet18():
    n = Net("resnet18", 8, 3, 224, 224)
    x = n.pool(n.norm(n.conv("data", 64, 7, stride=2, pad=3, bias=False), relu=True), 3, 2)
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if block == 0 and stage > 0 else 1
            y = n.norm(n.conv(x, width, 3, stride=stride, pad=1, bias=False), relu=True)
            y = n.norm(n.conv(y, width, 3, pad=1, bias=False))
            if block == 0 and stage > 0:
                x = n.norm(n.conv(x, width, 1, stride=stride, bias=False))
            x = n.relu(n.add("sum", [x, y]))
    n.linear(n.pool(x, 7, 1, average=True), 1000)
    return n


def vgg16():
    n, x = Net("vgg16", 8, 3, 224, 224), "data"
    for width, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x = n.conv_relu(x, width, 3, pad=1)
        x = n.pool(x, 2, 2)
    n.classifier(x, 4096, 4096, 1000)
    return n


def mobilenet():
    n = Net("mobilenet", 8, 3, 224, 224)
    x = n.norm(n.conv("data", 32, 3, stride=2, pad=1, bias=False), relu=True)
    for out, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)) + 5 * ((512, 1),) + ((1024, 2), (1024, 1)):
        channels = n.channels[x]
        x = n.norm(n.conv(x, channels, 3, stride=stride, pad=1, group=channels, bias=False), relu=True)
        x = n.norm(n.conv(x, out, 1, bias=False), relu=True)
    n.linear(n.pool(x, 7, 1, average=True), 1000)
    return n


NETS = {build.__name__: build for build in (lenet, cifar10_quick, alexnet, googlenet, resnet18, resnet50, vgg16, mobilenet)}

FILLER = 'weight_filler { type: "msra" }'


def body(kind, p):
    """A layer's type and parameters."""
    if kind == "conv":
        return ('"Convolution"', "convolution_param { num_output: %(out)d kernel_size: %(kernel)d stride: %(stride)d pad: %(pad)d group: %(group)d " % p
                + "bias_term: %s %s }" % (str(p["bias"]).lower(), FILLER))
    if kind == "pool":
        method = "AVE" if p["average"] else "MAX"
        return '"Pooling"', "pooling_param { pool: %s kernel_size: %d stride: %d pad: %d }" % (method, p["kernel"], p["stride"], p["pad"])
    if kind == "linear":
        return '"InnerProduct"', "inner_product_param { num_output: %d %s }" % (p["out"], FILLER)
    return {
        "relu": ('"ReLU"', ""), "norm": ('"BatchNorm"', ""), "sum": ('"Eltwise"', ""), "concat": ('"Concat"', ""), "dropout": ('"Dropout"', ""),
        "lrn": ('"LRN"', "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"),
    }[kind]


def prototxt(net):
    """The net as a training net."""
    shape = " ".join("dim: %d" % d for d in net.shape)
    lines = ['name: "%s"' % net.name,
             'layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param { shape { %s } shape { dim: %d }' % (shape, net.shape[0])
             + ' data_filler { type: "constant" value: 0.5 } data_filler { type: "constant" value: 1 } } }']
    inner, last = layers(net)
    lines += inner + ['layer { name: "loss" type: "SoftmaxWithLoss" bottom: "%s" bottom: "label" top: "loss" }' % last]
    return "\n".join(lines) + "\n"


def deploy(net):
    """The net for inference."""
    shape = " ".join("dim: %d" % d for d in net.shape)
    inner, last = layers(net)
    return "\n".join(['name: "%s"' % net.name, 'layer { name: "data" type: "Input" top: "data" input_param { shape { %s } } }' % shape] + inner
                     + ['layer { name: "prob" type: "Softmax" bottom: "%s" top: "prob" }' % last]) + "\n"


def layers(net):
    """The lines of all layers with weights and between them, and the last blob; ReLU, dropout and what follows a batch norm work in place."""
    lines, blob = [], {"data": "data"}
    layer = 'layer { name: "%s" type: %s %s top: "%s" %s }'
    for name, kind, bottoms, params in net.nodes:
        reads = " ".join('bottom: "%s"' % blob[b] for b in bottoms)
        blob[name] = blob[bottoms[0]] if kind in ("relu", "dropout") else name
        lines.append(layer % ((name,) + (body(kind, params)[0], reads, blob[name], body(kind, params)[1])))
        if kind == "norm":
            lines.append(layer % (name + "_scale", '"Scale"', 'bottom: "%s"' % name, name, "scale_param { bias_term: true }"))
    return lines, blob[net.nodes[-1][0]]


if __name__ == "__main__":
    for name, build in NETS.items():
        with open(os.path.join(sys.argv[1], name + ".prototxt"), "w") as f:
            f.write(prototxt(build()))
