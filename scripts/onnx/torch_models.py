"""Writes small models with PyTorch's ONNX exporter, and their outputs, for the test of import_onnx.

Usage: python3 scripts/onnx/torch_models.py internal/onnx/intake/testdata  (Debian's python3-torch, 1.13)
"""

import json
import os
import sys

import torch
from torch import nn
import torch.nn.functional as F

import torch_nets as nets


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)
        self.bn2 = nn.BatchNorm2d(4)
        self.down = nn.Conv2d(3, 4, 1)
        self.fc = nn.Linear(4, 5)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)) + self.down(x))
        y = F.adaptive_avg_pool2d(y, 1)
        return F.softmax(self.fc(torch.flatten(y, 1)), dim=1)


class Views(nn.Module):
    """Reshapes with computed sizes, pools of several kinds, asymmetric padding, a fully connected layer without bias."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, stride=2)
        self.fc1 = nn.Linear(4 * 2, 6, bias=False)
        self.fc2 = nn.Linear(6, 3)

    def forward(self, x):
        x = self.conv(F.pad(x, (0, 1, 1, 2)))
        x = F.max_pool2d(F.leaky_relu(x, 0.2), 2, ceil_mode=True)
        x = F.avg_pool2d(x, 2, stride=1)
        x = x.view(x.size(0), -1)
        x = torch.tanh(self.fc1(x))
        return self.fc2(x).reshape(x.shape[0], 3, 1)


class Squeeze(nn.Module):
    """Squeeze and excitation, MobileNet's activations, a transposed convolution, means over axes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, dilation=2)
        self.depth = nn.Conv2d(6, 6, 3, groups=6)
        self.down = nn.Conv2d(6, 2, 1)
        self.up = nn.Conv2d(2, 6, 1)
        self.deconv = nn.ConvTranspose2d(6, 3, 2, stride=2)
        self.slope = nn.PReLU(3)

    def forward(self, x):
        x = F.relu6(self.depth(F.hardtanh(self.conv(x), -0.8, 0.9)))
        s = torch.sigmoid(self.up(F.elu(self.down(x.mean([2, 3], keepdim=True)))))
        x = self.slope(self.deconv(x * s))
        a, b = torch.split(x, [1, 2], dim=1)
        x = torch.cat([b * 0.5 + 1, 2 - a, torch.abs(x[:, 1:]) / 3], 1)
        return x.mean([2, 3])


def sequence():
    """Matrix products over the last axis, and the forms without names that a Sequential gives."""
    return nn.Sequential(nn.Linear(4, 6), nn.Sigmoid(), nn.Dropout(0.3), nn.Linear(6, 3), nn.LogSoftmax(dim=-1))


def write(folder, name, model, *shape, **options):
    torch.manual_seed(len(name))
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.kaiming_normal_(p)
        else:
            nn.init.uniform_(p, -0.5, 0.5)
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.weight, 0.5, 1.5)
            nn.init.uniform_(m.running_mean, -0.5, 0.5)
            nn.init.uniform_(m.running_var, 0.5, 1.5)
    model.eval()
    x = torch.randn(*shape)
    path = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    torch.onnx.export(model, x, path + ".onnx", input_names=["x"], output_names=["y"], **options)
    with torch.no_grad():
        y = model(x)
    if y.dim() > 1 and (y[0] - y[1]).abs().max() < 1e-3 * y.abs().max():
        sys.exit(name + ": its output hardly depends on the input")
    with open(path + ".json", "w") as f:
        json.dump({"Input": digits(x), "Output": digits(y)}, f)


def digits(values):
    """The shortest decimals that give the same float32."""
    return [float("%.9g" % v) for v in values.flatten().tolist()]


folder = sys.argv[1]
dynamic = {"x": {0: "batch"}, "y": {0: "batch"}}
write(folder, "residual_9", Residual(), 2, 3, 6, 5, opset_version=9)
write(folder, "residual_13", Residual(), 2, 3, 6, 5, opset_version=13, dynamic_axes=dynamic)
write(folder, "residual_bn", Residual(), 2, 3, 6, 5, opset_version=16, training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
write(folder, "views_11", Views(), 2, 2, 9, 8, opset_version=11, dynamic_axes=dynamic)
write(folder, "views_13", Views(), 2, 2, 9, 8, opset_version=13)
write(folder, "sequence_13", sequence(), 2, 3, 4, opset_version=13)
write(folder, "sequence_9", sequence(), 2, 4, opset_version=9)
write(folder, "squeeze_13", Squeeze(), 2, 3, 9, 8, opset_version=13)
write(folder, "squeeze_16", Squeeze(), 2, 3, 9, 8, opset_version=16, dynamic_axes=dynamic)
write(folder, "vgg_12", nets.VGG(), 2, 3, 16, 16, opset_version=12)
write(folder, "vgg_15", nets.VGG(), 2, 3, 16, 16, opset_version=15, dynamic_axes=dynamic)
write(folder, "mobilenet2_10", nets.MobileNet(nn.ReLU6, False), 2, 3, 17, 16, opset_version=10)
write(folder, "mobilenet2_14", nets.MobileNet(nn.ReLU6, False), 2, 3, 17, 16, opset_version=14, dynamic_axes=dynamic)
write(folder, "mobilenet3_13", nets.MobileNet(nn.Hardswish, True), 2, 3, 17, 16, opset_version=13, dynamic_axes=dynamic)
write(folder, "mobilenet3_14", nets.MobileNet(nn.Hardswish, True), 2, 3, 17, 16, opset_version=14)
write(folder, "shufflenet_9", nets.ShuffleNet(), 2, 3, 24, 24, opset_version=9)
write(folder, "shufflenet_13", nets.ShuffleNet(), 2, 3, 24, 24, opset_version=13, dynamic_axes=dynamic)
write(folder, "densenet_11", nets.DenseNet(), 2, 3, 8, 10, opset_version=11, do_constant_folding=False)
write(folder, "densenet_16", nets.DenseNet(), 2, 3, 8, 10, opset_version=16, dynamic_axes=dynamic)
write(folder, "squeezenet_9", nets.squeezenet(), 2, 3, 18, 17, opset_version=9)
write(folder, "squeezenet_12", nets.squeezenet(), 2, 3, 18, 17, opset_version=12, dynamic_axes=dynamic)
write(folder, "inception_11", nets.Inception(), 2, 3, 12, 11, opset_version=11)
write(folder, "inception_14", nets.Inception(), 2, 3, 12, 11, opset_version=14, dynamic_axes=dynamic)
write(folder, "unet_transposed_13", nets.UNet("transposed"), 2, 3, 12, 8, opset_version=13, dynamic_axes=dynamic)
write(folder, "unet_nearest_9", nets.UNet("nearest"), 2, 3, 12, 8, opset_version=9)
write(folder, "unet_nearest_13", nets.UNet("nearest"), 2, 3, 12, 8, opset_version=13, dynamic_axes=dynamic)
write(folder, "unet_bilinear_11", nets.UNet("bilinear"), 2, 3, 12, 8, opset_version=11)
write(folder, "unet_bilinear_15", nets.UNet("bilinear"), 2, 3, 12, 8, opset_version=15, dynamic_axes=dynamic)
write(folder, "lstm_13", nets.Sequences(), 2, 5, 4, opset_version=13)
