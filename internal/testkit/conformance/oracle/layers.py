"""Formulas of layers on flat lists of scalars, in plain loops. Shapes are (number, channels, height, width) where images are meant."""
import itertools
import math

from scalar import Scalar, exp, log, sigmoid, tanh, total


def euclidean(y, t, n):
    return total((a - b) * (a - b) for a, b in zip(y, t)) / (2 * n)


def largest(values):
    best = values[0]
    for v in values:
        best = v if v > best else best
    return best


def conv(x, w, b, shape, out, kernel, stride=1, pad=0, dilation=1, group=1):
    n, c, h, wd = shape
    oh, ow = [(e + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for e in (h, wd)]
    cg, y = c // group, []
    for i in range(n):
        for o in range(out):
            first = o // (out // group) * cg
            for r in range(oh):
                for s in range(ow):
                    terms = [b[o]] if b else []
                    for k in range(cg):
                        for p in range(kernel):
                            for q in range(kernel):
                                yy, xx = r * stride - pad + p * dilation, s * stride - pad + q * dilation
                                if 0 <= yy < h and 0 <= xx < wd:
                                    terms.append(x[((i * c + first + k) * h + yy) * wd + xx] * w[((o * cg + k) * kernel + p) * kernel + q])
                    y.append(total(terms))
    return y


def deconv(x, w, b, shape, out, kernel, stride, pad):
    """Every input adds its copy of the kernel to the output."""
    n, c, h, wd = shape
    oh, ow = [stride * (e - 1) + kernel - 2 * pad for e in (h, wd)]
    terms = [[b[i // (oh * ow) % out]] for i in range(n * out * oh * ow)]
    for i in range(n):
        for k in range(c):
            for r in range(h):
                for s in range(wd):
                    for o in range(out):
                        for p in range(kernel):
                            for q in range(kernel):
                                yy, xx = r * stride - pad + p, s * stride - pad + q
                                if 0 <= yy < oh and 0 <= xx < ow:
                                    terms[((i * out + o) * oh + yy) * ow + xx].append(x[((i * c + k) * h + r) * wd + s] * w[((k * out + o) * kernel + p) * kernel + q])
    return [total(t) for t in terms]


def windows(shape, kernel, stride, pad):
    """Caffe's windows: as many as begin in the image or its padding in front, the last one cut."""
    n, c, h, w = shape
    ends = []
    for e in (h, w):
        o = -(-(e + 2 * pad - kernel) // stride) + 1
        ends.append(o - 1 if pad and (o - 1) * stride >= e + pad else o)
    for plane in range(n * c):
        for r in range(ends[0]):
            for s in range(ends[1]):
                top, left = r * stride - pad, s * stride - pad
                size = (min(top + kernel, h + pad) - top) * (min(left + kernel, w + pad) - left)
                yield [(plane * h + y) * w + x for y in range(max(top, 0), min(top + kernel, h)) for x in range(max(left, 0), min(left + kernel, w))], size


def max_pool(x, shape, kernel, stride, pad):
    return [largest([x[i] for i in places]) for places, _ in windows(shape, kernel, stride, pad)]


def ave_pool(x, shape, kernel, stride, pad):
    return [total(x[i] for i in places) / size for places, size in windows(shape, kernel, stride, pad)]


def lrn_across(x, shape, size, alpha, beta, k):
    n, c, h, w = shape
    area, y = h * w, []
    for i in range(n * c * area):
        ch = i // area % c
        near = [x[i + (j - ch) * area] for j in range(max(0, ch - size // 2), min(c, ch + size // 2 + 1))]
        y.append(x[i] * (total(v * v for v in near) * (alpha / size) + k) ** -beta)
    return y


def lrn_within(x, shape, size, alpha, beta):
    means = ave_pool([v * v for v in x], shape, size, 1, size // 2)
    return [v * (m * alpha + 1) ** -beta for v, m in zip(x, means)]


def channels(x, shape):
    """The values of each channel, over all images."""
    c, area = shape[1], len(x) // (shape[0] * shape[1])
    return [[x[i] for i in range(len(x)) if i // area % c == k] for k in range(c)], area


def moments(values):
    mean = total(values) / len(values)
    return mean, total((v - mean) * (v - mean) for v in values) / len(values)


def batch_norm(x, shape, eps, statistics=None):
    """Normalises channels; statistics are Caffe's three blobs: sums of means and of variances, faded by 0.999, and their weight."""
    per, area = channels(x, shape)
    found = [moments(v) for v in per]
    if statistics:
        mean, var, weight = statistics
        m = len(per[0])
        for k, (a, b) in enumerate(found):
            mean[k].value = 0.999 * mean[k].value + a.value
            var[k].value = 0.999 * var[k].value + m / (m - 1) * b.value
        weight[0].value = 0.999 * weight[0].value + 1
    return [(v - found[i // area % shape[1]][0]) * (found[i // area % shape[1]][1] + eps) ** -0.5 for i, v in enumerate(x)]


def scaled_batch_norm(x, shape, eps, fraction, mean, var, weight, gamma, beta):
    """NVCaffe's: running averages that begin with the first batch's, and a factor and a summand for each channel."""
    per, area = channels(x, shape)
    m, old = len(per[0]), fraction if weight[0].value else 0
    for k, (a, b) in enumerate(moments(v) for v in per):
        mean[k].value = old * mean[k].value + (1 - old) * a.value
        var[k].value = old * var[k].value + (1 - old) * m / (m - 1) * b.value
    weight[0].value = 1.0
    return [v * gamma[i // area % shape[1]] + beta[i // area % shape[1]] for i, v in enumerate(batch_norm(x, shape, eps))]


def unit_product(x, w, b, rows):
    """An InnerProduct whose weights are first divided by the lengths of their rows; the derivatives are of what is then there."""
    size = len(x) // rows
    for row in range(0, len(w), size):
        length = math.sqrt(sum(v.value ** 2 for v in w[row:row + size]) + 1e-6)
        for v in w[row:row + size]:
            v.value /= length
    return product(x, w, b, rows)


def mvn(x, shape, eps):
    area, y = shape[2] * shape[3], []
    for first in range(0, len(x), area):
        mean, var = moments(x[first:first + area])
        y += [(v - mean) / (var ** 0.5 + eps) for v in x[first:first + area]]
    return y


def product(x, w, b, rows, transposed=False):
    """An InnerProduct of rows inputs; w lies by outputs, transposed by inputs."""
    size = len(x) // rows
    out = len(w) // size
    return [total([x[r * size + k] * w[k * out + o if transposed else o * size + k] for k in range(size)] + ([b[o]] if b else []))
            for r in range(rows) for o in range(out)]


def softmax(x, classes):
    y = []
    for r in range(0, len(x), classes):
        e = [exp(v - largest(x[r:r + classes]).value) for v in x[r:r + classes]]
        y += [v / total(e) for v in e]
    return y


def softmax_loss(x, labels, classes, ignore=None, weights=None):
    """The mean over the labels that count, of log p."""
    p = softmax(x, classes)
    terms = [-log(p[r * classes + int(t.value)]) for r, t in enumerate(labels) if t.value != ignore]
    return total(terms) / max(len(terms), 1)


def focal_loss(x, labels, classes, alpha, gamma):
    p = softmax(x, classes)
    own = [p[r * classes + int(label.value)] for r, label in enumerate(labels)]
    return total((1 - v) ** gamma * log(v) * -alpha for v in own) / len(own)


def smooth_l1(a, b, items):
    """Half the square of a difference below 1, otherwise the magnitude less a half."""
    differences = [u - v for u, v in zip(a, b)]
    return total(0.5 * d * d if -1 < d.value < 1 else (d if d.value > 0 else -d) - 0.5 for d in differences) / items


def ctc(x, steps, classes, blank, labels):
    """-log of the sum over all paths of one item that stand for its labels."""
    p = softmax(x, classes)
    terms = []
    for path in itertools.product(range(classes), repeat=steps):
        short = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
        if [c for c in short if c != blank] == labels:
            term = p[path[0]]
            for t in range(1, steps):
                term = term * p[t * classes + path[t]]
            terms.append(term)
    return -log(total(terms))


def hinge(x, labels, classes, norm):
    margins = [m if m > 0 else Scalar(0.0) for m in (1 - v if i % classes == int(labels[i // classes].value) else 1 + v for i, v in enumerate(x))]
    return total(m * m if norm == 2 else m for m in margins) / len(labels)


def sigmoid_cross_entropy(x, t, n):
    return total(-(b * log(sigmoid(a)) + (1 - b) * log(1 - sigmoid(a))) for a, b in zip(x, t)) / n


def contrastive(a, b, same, margin):
    size, terms = len(a) // len(same), []
    for r, s in enumerate(same):
        d2 = total((a[i] - b[i]) * (a[i] - b[i]) for i in range(r * size, (r + 1) * size))
        gap = margin - d2 ** 0.5
        terms.append(d2 if s.value else gap * gap if gap > 0 else Scalar(0.0))
    return total(terms) / (2 * len(same))


def lstm(x, cont, wx, b, wh, steps, n):
    """Caffe's: gates in the order input, forget, output, candidate; cont 0 forgets what was before."""
    size = len(b) // 4
    h, c, y = [Scalar(0.0)] * (n * size), [Scalar(0.0)] * (n * size), []
    for t in range(steps):
        keep = [cont[t * n + i // size] for i in range(n * size)]
        a = product(x[t * len(x) // steps:(t + 1) * len(x) // steps], wx, b, n)
        r = product([v * k for v, k in zip(h, keep)], wh, None, n)
        gates = [p + q for p, q in zip(a, r)]
        for i in range(n):
            for j in range(size):
                g = gates[i * 4 * size + j::size][:4]
                k = i * size + j
                c = c[:k] + [keep[k] * sigmoid(g[1]) * c[k] + sigmoid(g[0]) * tanh(g[3])] + c[k + 1:]
                h = h[:k] + [sigmoid(g[2]) * tanh(c[k])] + h[k + 1:]
        y += h
    return y


def rnn(x, cont, wx, b, wh, wo, bo, steps, n):
    size = len(b)
    h, y = [Scalar(0.0)] * (n * size), []
    for t in range(steps):
        a = product(x[t * len(x) // steps:(t + 1) * len(x) // steps], wx, b, n)
        r = product([v * cont[t * n + i // size] for i, v in enumerate(h)], wh, None, n)
        h = [tanh(p + q) for p, q in zip(a, r)]
        y += [tanh(v) for v in product(h, wo, bo, n)]
    return y
