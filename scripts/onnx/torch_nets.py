"""Small nets in the manner of well-known ones, as PyTorch's users write them. torch_models.py exports them."""

import torch
from torch import nn
import torch.nn.functional as F


def conv_bn(into, out, kernel, activation=nn.ReLU, **options):
    return nn.Sequential(nn.Conv2d(into, out, kernel, bias=False, **options), nn.BatchNorm2d(out), activation())


class VGG(nn.Module):
    def __init__(self):
        super().__init__()
        layers, into = [], 3
        for width in (4, 6, 8):
            layers += [nn.Conv2d(into, width, 3, padding=1), nn.ReLU(True), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(True), nn.MaxPool2d(2)]
            into = width
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d((2, 2))
        self.classifier = nn.Sequential(nn.Linear(32, 10), nn.ReLU(True), nn.Dropout(), nn.Linear(10, 5))

    def forward(self, x):
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))


class Inverted(nn.Module):
    """The block of MobileNetV2, and with squeeze and excitation that of V3."""

    def __init__(self, into, out, wide, stride, activation, squeeze=False):
        super().__init__()
        self.add = stride == 1 and into == out
        self.expand = conv_bn(into, wide, 1, activation)
        self.depth = conv_bn(wide, wide, 3, activation, padding=1, stride=stride, groups=wide)
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, 4, 1), nn.ReLU(), nn.Conv2d(4, wide, 1), nn.Hardsigmoid()) if squeeze else None
        self.project = nn.Sequential(nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.depth(self.expand(x))
        if self.squeeze is not None:
            y = y * self.squeeze(y)
        y = self.project(y)
        return x + y if self.add else y


class MobileNet(nn.Module):
    def __init__(self, activation, squeeze):
        super().__init__()
        self.stem = conv_bn(3, 6, 3, activation, stride=2, padding=1)
        self.blocks = nn.Sequential(
            Inverted(6, 6, 12, 1, activation, squeeze), Inverted(6, 8, 12, 2, nn.ReLU, squeeze), Inverted(8, 8, 16, 1, activation, squeeze))
        self.head = conv_bn(8, 16, 1, activation)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(16, 5))

    def forward(self, x):
        return self.classifier(self.head(self.blocks(self.stem(x))).mean([2, 3]))


class ShuffleUnit(nn.Module):
    def __init__(self, channels, stride):
        super().__init__()
        half = channels // 2
        self.stride = stride
        self.left = nn.Sequential(
            nn.Conv2d(channels, channels, 3, stride=2, padding=1, groups=channels, bias=False), nn.BatchNorm2d(channels), conv_bn(channels, channels, 1))
        into = channels if stride == 2 else half
        self.right = nn.Sequential(
            conv_bn(into, into, 1), nn.Conv2d(into, into, 3, stride=stride, padding=1, groups=into, bias=False), nn.BatchNorm2d(into), conv_bn(into, into, 1))

    def forward(self, x):
        if self.stride == 1:
            a, b = x.chunk(2, dim=1)
            y = torch.cat((a, self.right(b)), 1)
        else:
            y = torch.cat((self.left(x), self.right(x)), 1)
        n, c, h, w = y.size()
        return y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, -1, h, w)


class ShuffleNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, 6, 3, stride=2, padding=1), nn.MaxPool2d(3, 2, 1))
        self.units = nn.Sequential(ShuffleUnit(6, 2), ShuffleUnit(12, 1), ShuffleUnit(12, 1))
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        return self.fc(self.units(self.stem(x)).mean([2, 3]))


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, 8, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1, bias=False))
            for c in (6, 10, 14))
        self.transition = nn.Sequential(nn.BatchNorm2d(18), nn.ReLU(), nn.Conv2d(18, 9, 1, bias=False), nn.AvgPool2d(2, 2))
        self.norm = nn.BatchNorm2d(9)
        self.fc = nn.Linear(9, 5)

    def forward(self, x):
        features = [self.stem(x)]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        x = F.relu(self.norm(self.transition(torch.cat(features, 1))), inplace=True)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


class Fire(nn.Module):
    def __init__(self, into, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Conv2d(into, squeeze, 1)
        self.one, self.three = nn.Conv2d(squeeze, expand, 1), nn.Conv2d(squeeze, expand, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


def squeezenet():
    return nn.Sequential(
        nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), Fire(6, 3, 4), Fire(8, 3, 5), nn.Dropout(), nn.Conv2d(10, 5, 1), nn.ReLU(),
        nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(1))


class Inception(nn.Module):
    """A block whose branches factorise kernels, one that reduces images, and pooling that counts the padding."""

    def __init__(self):
        super().__init__()
        self.stem = conv_bn(3, 6, 3)
        self.one = conv_bn(6, 4, 1)
        self.tall = nn.Sequential(conv_bn(6, 4, 1), conv_bn(4, 4, (1, 5), padding=(0, 2)), conv_bn(4, 5, (5, 1), padding=(2, 0)))
        self.pooled = conv_bn(6, 3, 1)
        self.reduce = conv_bn(12, 6, 3, stride=2)
        self.fc = nn.Linear(18, 5)

    def forward(self, x):
        x = self.stem(x)
        x = torch.cat([self.one(x), self.tall(x), self.pooled(F.avg_pool2d(x, kernel_size=3, stride=1, padding=1))], 1)
        x = torch.cat([self.reduce(x), F.max_pool2d(x, 3, stride=2)], 1)
        return F.log_softmax(self.fc(x.mean((2, 3)).view(x.size(0), -1)), dim=1)


class UNet(nn.Module):
    """up is "transposed", "nearest" or "bilinear"."""

    def __init__(self, up):
        super().__init__()
        self.first, self.second, self.deep = conv_bn(3, 4, 3, padding=1), conv_bn(4, 6, 3, padding=1), conv_bn(6, 8, 3, padding=1)
        if up == "transposed":
            self.up1, self.up2 = nn.ConvTranspose2d(8, 8, 3, stride=2, padding=1, output_padding=1), nn.ConvTranspose2d(6, 6, 2, stride=2)
        else:
            corners = {"align_corners": True} if up == "bilinear" else {}
            self.up1 = self.up2 = nn.Upsample(scale_factor=2, mode=up, **corners)
        self.merge1, self.merge2 = conv_bn(14, 6, 3, padding=1), conv_bn(10, 4, 3, padding=1)
        self.head = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.first(x)
        b = self.second(F.max_pool2d(a, 2))
        y = self.deep(F.max_pool2d(b, 2))
        y = self.merge1(torch.cat([self.up1(y), b], 1))
        y = self.merge2(torch.cat([a, self.up2(y)], 1))
        return torch.sigmoid(self.head(y))


class Sequences(nn.Module):
    """An LSTM with batches first, and the last step."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, batch_first=True)
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])
