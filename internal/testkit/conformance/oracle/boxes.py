"""Formulas of detection nets: regions, prior boxes, SSD's loss and detections, Faster R-CNN's proposals. Boxes are lists of x1, y1, x2, y2."""
import itertools
import math

from layers import largest, softmax
from scalar import log, total


def normalize(x, shape, factors, eps, across):
    """Divides by the norm of a pixel's channels, or of an item, and multiplies by a factor of the channel or of all."""
    n, c, h, w = shape
    area, y = h * w, []
    for i in range(n * c * area):
        item, pixel, channel = i // (c * area), i % area, i // area % c
        near = x[item * c * area:(item + 1) * c * area] if across else [x[(item * c + k) * area + pixel] for k in range(c)]
        y.append(x[i] * factors[channel % len(factors)] * (total(v * v for v in near) + eps) ** -0.5)
    return y


def nearest(v):
    """Rounded, halves up; places of regions are not negative."""
    return math.floor(v + 0.5)


def roi_pool(x, shape, rois, bins, scale):
    """Fast R-CNN: maxima of bins; corners are rounded to pixels, which belong to the region."""
    n, c, h, w = shape
    y = []
    for roi, ch, r, s in itertools.product(rois, range(c), range(bins[0]), range(bins[1])):
        x1, y1, x2, y2 = [nearest(v * scale) for v in roi[1:]]
        spans = []
        for k, count, low, high, end in (r, bins[0], y1, y2, h), (s, bins[1], x1, x2, w):
            size = max(high - low + 1, 1) / count
            spans.append(range(min(max(low + math.floor(k * size), 0), end), min(max(low + math.ceil((k + 1) * size), 0), end)))
        inside = [x[((int(roi[0]) * c + ch) * h + a) * w + b] for a in spans[0] for b in spans[1]]
        y.append(largest(inside) if inside else total([]))
    return y


def psroi_pool(x, shape, rois, outputs, group, scale):
    """R-FCN: means of bins, bin k of output o from channel o * group^2 + k."""
    n, c, h, w = shape
    y = []
    for roi, o, r, s in itertools.product(rois, range(outputs), range(group), range(group)):
        x1, y1 = [nearest(v) * scale for v in roi[1:3]]
        x2, y2 = [(nearest(v) + 1) * scale for v in roi[3:]]
        spans = []
        for k, low, high, end in (r, y1, y2, h), (s, x1, x2, w):
            size = max(high - low, 0.1) / group
            spans.append(range(min(max(math.floor(low + k * size), 0), end), min(max(math.ceil(low + (k + 1) * size), 0), end)))
        plane = int(roi[0]) * c + (o * group + r) * group + s
        inside = [x[(plane * h + a) * w + b] for a in spans[0] for b in spans[1]]
        y.append(total(inside) / max(len(inside), 1))
    return y


def interpolate(x, shape, height, width):
    """Bilinear, with the corners of both images on each other."""
    n, c, h, w = shape
    y = []
    for plane, r, s in itertools.product(range(n * c), range(height), range(width)):
        terms = []
        v, u = r * (h - 1) / (height - 1), s * (w - 1) / (width - 1)
        for a, b in itertools.product(range(h), range(w)):
            weight = max(0, 1 - abs(v - a)) * max(0, 1 - abs(u - b))
            if weight:
                terms.append(x[(plane * h + a) * w + b] * weight)
        y.append(total(terms))
    return y


def priors(cells, image, least, most, ratios, variances, clip):
    """SSD's prior boxes of a map, in units of the image, and their variances."""
    boxes = []
    for r, s in itertools.product(range(cells[0]), range(cells[1])):
        y, x = [(k + 0.5) * size / n for k, size, n in zip((r, s), image, cells)]
        sides = [(least, least), (math.sqrt(least * most),) * 2]
        for a in ratios:
            sides += [(least * math.sqrt(a), least / math.sqrt(a)), (least / math.sqrt(a), least * math.sqrt(a))]
        for w, h in sides:
            box = [(x - w / 2) / image[1], (y - h / 2) / image[0], (x + w / 2) / image[1], (y + h / 2) / image[0]]
            boxes.append([min(max(v, 0.0), 1.0) for v in box] if clip else box)
    return [v for b in boxes for v in b] + list(variances) * len(boxes)


def overlap(a, b, pixel=0):
    """The area of the intersection over that of the union; pixel is 1 if maxima are the last pixels."""
    sides = [min(a[k + 2], b[k + 2]) - max(a[k], b[k]) + pixel for k in (0, 1)]
    if min(sides) <= 0:
        return 0.0
    areas = [(v[2] - v[0] + pixel) * (v[3] - v[1] + pixel) for v in (a, b)]
    return sides[0] * sides[1] / (sum(areas) - sides[0] * sides[1])


def centre(b):
    return (b[0] + b[2]) / 2, (b[1] + b[3]) / 2, b[2] - b[0], b[3] - b[1]


def encode(prior, variance, box):
    (px, py, pw, ph), (x, y, w, h) = centre(prior), centre(box)
    return [d / v for d, v in zip(((x - px) / pw, (y - py) / ph, math.log(w / pw), math.log(h / ph)), variance)]


def decode(prior, variance, code):
    px, py, pw, ph = centre(prior)
    dx, dy, dw, dh = [c * v for c, v in zip(code, variance)]
    x, y, w, h = px + dx * pw, py + dy * ph, pw * math.exp(dw), ph * math.exp(dh)
    return [x - w / 2, y - h / 2, x + w / 2, y + h / 2]


def rows(values, size):
    return [values[i:i + size] for i in range(0, len(values), size)]


def suppress(found, threshold, pixel=0):
    """found has pairs of score and box."""
    kept = []
    for score, box in sorted(found, key=lambda f: -f[0]):
        if all(overlap(box, other, pixel) <= threshold for _, other in kept):
            kept.append((score, box))
    return kept


def detections(codes, scores, prior, classes, images, threshold, nms, top, keep):
    """SSD's DetectionOutput for a background of class 0."""
    boxes, variances = [rows(half, 4) for half in rows(prior, len(prior) // 2)]
    out = []
    for i in range(images):
        code, score = rows(rows(codes, len(codes) // images)[i], 4), rows(rows(scores, len(scores) // images)[i], classes)
        decoded = [decode(*three) for three in zip(boxes, variances, code)]
        found = []
        for k in range(1, classes):
            candidates = sorted(((s[k], b) for s, b in zip(score, decoded) if s[k] > threshold), key=lambda f: -f[0])[:top]
            found += [(s, k, b) for s, b in suppress(candidates, nms)]
        found = sorted(found, key=lambda f: -f[0])[:keep]
        out += [[i, k, s] + b for s, k, b in sorted(found, key=lambda f: (f[1], -f[0]))]
    return [float(v) for row in out for v in row]


def multibox(codes, scores, prior, objects, classes, images, ratio):
    """SSD's loss: priors belong to the object that they overlap by more than half, and to each object at least its best prior; the hardest
    negatives, ratio times as many, count too."""
    boxes, variances = [rows([v.value for v in half], 4) for half in rows(prior, len(prior) // 2)]
    terms, pairs = [], 0
    for i in range(images):
        code, score = rows(rows(codes, len(codes) // images)[i], 4), rows(rows(scores, len(scores) // images)[i], classes)
        own = [[v.value for v in o] for o in rows(objects, 8) if o[0].value == i]
        overlaps = [[overlap(b, o[3:7]) for o in own] for b in boxes]
        match, left = {}, set(range(len(own)))
        while left:
            best = max((overlaps[p][o], p, o) for p in range(len(boxes)) if p not in match for o in left)
            if best[0] <= 0:
                break
            match[best[1]] = best[2]
            left.remove(best[2])
        for p, values in enumerate(overlaps):
            if p not in match and values and max(values) > 0.5:
                match[p] = values.index(max(values))
        pairs += len(match)
        losses = []
        for p, s in enumerate(score):
            label = int(own[match[p]][1]) if p in match else 0
            losses.append(-log(softmax(s, classes)[label]))
            if p in match:
                target = encode(boxes[p], variances[p], own[match[p]][3:7])
                for d in (a - t for a, t in zip(code[p], target)):
                    terms.append(0.5 * d * d if -1 < d.value < 1 else (d if d.value > 0 else -d) - 0.5)
        negatives = sorted((p for p in range(len(boxes)) if p not in match and max(overlaps[p], default=0) < 0.5), key=lambda p: -losses[p].value)
        terms += [losses[p] for p in match] + [losses[p] for p in negatives[:int(ratio * len(match))]]
    return total(terms) / max(pairs, 1)


def anchors(base, ratios, scales):
    """Faster R-CNN's anchors around the square of base pixels; sides are rounded, halves to even."""
    out, middle = [], (base - 1) / 2
    for r in ratios:
        w = round(math.sqrt(base * base / r))
        h = round(w * r)
        out += [[middle - (w * s - 1) / 2, middle - (h * s - 1) / 2, middle + (w * s - 1) / 2, middle + (h * s - 1) / 2] for s in scales]
    return out


def proposals(scores, steps, info, shape, shapes, stride, least, before, after, threshold):
    """Faster R-CNN's proposals of maps of height and width: rows of image and box, and their scores."""
    images, h, w = shape
    a, area = len(shapes), h * w
    found, kept = [], []
    for i in range(images):
        height, width, scale = info[i * 3:i * 3 + 3]
        found = []
        for k, r, s in itertools.product(range(a), range(h), range(w)):
            at = r * w + s
            x1, y1, x2, y2 = [v + stride * (s if e % 2 == 0 else r) for e, v in enumerate(shapes[k])]
            dx, dy, dw, dh = [steps[(i * 4 * a + 4 * k + e) * area + at] for e in range(4)]
            bw, bh = x2 - x1 + 1, y2 - y1 + 1
            x, y = x1 + bw / 2 + dx * bw, y1 + bh / 2 + dy * bh
            bw, bh = bw * math.exp(dw), bh * math.exp(dh)
            box = [min(max(v, 0), (width if e % 2 == 0 else height) - 1) for e, v in enumerate((x - bw / 2, y - bh / 2, x + bw / 2, y + bh / 2))]
            if min(box[2] - box[0], box[3] - box[1]) + 1 >= least * scale:
                found.append((scores[(i * 2 * a + a + k) * area + at], box))
        found = sorted(found, key=lambda f: -f[0])[:before]
        kept += [(i, s, b) for s, b in suppress(found, threshold, 1)[:after]]
    return [float(v) for i, _, b in kept for v in [i] + b], [s for _, s, _ in kept]
