"""Suppression of boxes that overlap better ones, as OpenCV's NMSBoxes."""

import numpy as np


def NMSBoxes(bboxes, scores, score_threshold, nms_threshold, eta=1.0, top_k=0):
    """Return the indices of the boxes to keep, in descending order of scores: an array of int32, or () if there are none.

    bboxes are (x, y, width, height) each. Of boxes with scores above score_threshold, the best top_k if that is positive, one is kept
    if its overlap (intersection over union) with every better one kept is at most nms_threshold. With eta < 1 the threshold is multiplied
    by eta after every box kept, as long as it exceeds 0.5.

    ValueError: not as many scores as boxes, or a negative threshold. TypeError: other than four numbers a box.
    """
    boxes, scores = np.asarray(bboxes, np.float64), np.asarray(scores, np.float32)
    if boxes.size == 0:
        boxes = boxes.reshape(0, 4)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.ndim != 1:
        raise TypeError('boxes have four numbers each, x, y, width and height, and one score: the shapes are %s and %s' % (boxes.shape, scores.shape))
    if len(boxes) != len(scores):
        raise ValueError('there are %d boxes and %d scores' % (len(boxes), len(scores)))
    if not (score_threshold >= 0 and nms_threshold >= 0 and eta > 0):
        raise ValueError('score_threshold %g and nms_threshold %g must not be negative, eta %g must be positive' % (score_threshold, nms_threshold, eta))
    candidates = np.flatnonzero(scores > np.float32(score_threshold))
    candidates = candidates[np.argsort(-scores[candidates], kind='stable')]
    if top_k > 0:
        candidates = candidates[:top_k]
    threshold, kept = np.float32(nms_threshold), []
    for i in candidates:
        if kept and (_overlaps(boxes[i], boxes[kept]) > threshold).any():
            continue
        kept.append(i)
        if eta < 1 and threshold > 0.5:
            threshold *= np.float32(eta)
    return np.array(kept, np.int32) if kept else ()


def _overlaps(box, others):
    """Return intersection over union of a box with others, in float32; 1 for two boxes without area."""
    areas = box[2] * box[3] + others[:, 2] * others[:, 3]
    size = np.minimum(box[:2] + box[2:], others[:, :2] + others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.where((size > 0).all(axis=1), size[:, 0] * size[:, 1], 0)
    empty = areas <= np.finfo(np.float64).eps
    distance = 1 - shared / np.where(empty, 1, areas - shared)
    return np.float32(1) - np.where(empty, 0, distance).astype(np.float32)
