# Prints what OpenCV 4.6 computes for layers of forks: /usr/bin/python3 opencv.py > opencv.txt (Debian: python3-opencv).
# Weights are missing there, so that Normalize does not scale.
# OpenCV orders an image's detections by score alone and fills up with rows of zeros; here they are in SSD's order, without these rows.
import cv2, numpy as np, sys
def values(n, lo, hi, seed):
    r = np.random.RandomState(seed)
    return np.round(r.uniform(lo, hi, n), 2).astype(np.float32)
def show(a): return " ".join("%.7g" % v for v in a.flatten())
def run(kind, param, inputs, weights=None):
    text = ""
    for i, x in enumerate(inputs):
        text += 'layer { name: "in%d" type: "Input" top: "x%d" input_param { shape { %s } } }\n' % (i, i, " ".join("dim: %d" % d for d in x.shape))
    text += 'layer { name: "l" type: "%s" %s top: "y" %s }\n' % (kind, " ".join('bottom: "x%d"' % i for i in range(len(inputs))), param)
    open("/tmp/net.prototxt", "w").write(text)
    try:
        net = cv2.dnn.readNetFromCaffe("/tmp/net.prototxt")
        for i, x in enumerate(inputs): net.setInput(x, "x%d" % i)
        y = net.forward("l")
    except cv2.error as e:
        sys.stderr.write("%s %s: %s\n" % (kind, param, str(e).splitlines()[0][:200])); return
    if kind == "DetectionOutput":
        rows = sorted((v for v in y.reshape(-1, 7) if v[1] > 0), key=lambda v: (v[0], v[1], -v[2]))
        y = np.array(rows).reshape(1, 1, -1, 7)
    print("layer", kind, param)
    for x in inputs: print("in", ",".join(map(str, x.shape)), show(x))
    print("out", ",".join(map(str, y.shape)), show(y))
x = values(48, -9, 9, 1).reshape(2, 3, 4, 2)
for kind in ["ReLU6", "Mish", "HardSwish", "Swish", "HardSigmoid"]: run(kind, "", [x])
run("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }", [x])
run("Permute", "permute_param { order: 0 order: 3 order: 1 order: 2 }", [x])
run("Normalize", "norm_param { across_spatial: false }", [x])
run("Normalize", "norm_param { across_spatial: true eps: 0.5 }", [x])
f = values(2 * 6 * 7, -5, 5, 3).reshape(1, 2, 6, 7)
rois = np.array([[0, 0, 0, 13, 11], [0, 3.4, 2, 9, 7.6], [0, 5, 5, 5, 5], [0, 2, 1, 20, 18]], np.float32)
run("ROIPooling", "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }", [f, rois])
g = values(8 * 6 * 7, -5, 5, 6).reshape(1, 8, 6, 7)
run("PSROIPooling", "psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 }", [g, rois])
m, image = values(2 * 3 * 2, -1, 1, 7).reshape(1, 2, 3, 2), values(3 * 30 * 40, 0, 1, 8).reshape(1, 3, 30, 40)
for p in ["min_size: 12 clip: false variance: 0.1", "min_size: 12 max_size: 20 aspect_ratio: [2, 3] flip: true clip: true variance: [0.1, 0.1, 0.2, 0.2]",
          "min_size: 9 aspect_ratio: [1, 2] flip: false step: 8 offset: 0.25 variance: 0.3 clip: false"]: run("PriorBox", "prior_box_param { %s }" % p, [m, image])
r = np.random.RandomState(9)
def boxes(n):
    corner, side = r.uniform(0, 0.6, (n, 2)), r.uniform(0.2, 0.4, (n, 2))
    return np.round(np.concatenate([corner, corner + side], 1), 2)
n = 14
prior = np.stack([boxes(n).flatten(), np.tile([0.1, 0.1, 0.2, 0.2], n)])[None].astype(np.float32)
scores = np.round(r.permutation(2 * n * 3) / (2. * n * 3), 4).astype(np.float32).reshape(2, n * 3)
for p in ["share_location: true code_type: CENTER_SIZE confidence_threshold: 0.3 keep_top_k: 5 nms_param { nms_threshold: 0.3 top_k: 8 }", "share_location: true code_type: CORNER nms_param { nms_threshold: 0.45 top_k: 10 } keep_top_k: 100 confidence_threshold: 0.1",
          "code_type: CENTER_SIZE share_location: false keep_top_k: 6 confidence_threshold: 0.2 nms_param { nms_threshold: 0.5 top_k: 20 }",
          "share_location: true code_type: CENTER_SIZE clip: 1 confidence_threshold: 0.1 keep_top_k: 30 nms_param { nms_threshold: 0.45 top_k: 30 }"]:
    codes = values(2 * n * 4 * (3 if "false" in p else 1), -1, 1, 10) * (9 if "clip" in p else 1)
    run("DetectionOutput", "detection_output_param { num_classes: 3 background_label_id: 0 %s }" % p, [codes.reshape(2, -1, 1, 1), scores.reshape(2, -1, 1, 1), prior[..., None]])
p = (np.random.RandomState(7).permutation(240) / 250 + 0.01).astype(np.float32).reshape(1, 12, 5, 4)
d = values(4 * 6 * 5 * 4, -0.3, 0.3, 8).reshape(1, 24, 5, 4)
info = np.array([[77, 61, 1]], np.float32)
run("Proposal", "proposal_param { feat_stride: 16 base_size: 16 min_size: 1 ratio: 0.5 ratio: 1 ratio: 2 scale: 1 scale: 2.5 pre_nms_topn: 60 post_nms_topn: 20 nms_thresh: 0.4 }", [p, d, info])
run("Proposal", "proposal_param { feat_stride: 8 base_size: 12 min_size: 1 ratio: 0.4 ratio: 1.3 ratio: 3 scale: 2 scale: 4 pre_nms_topn: 500 post_nms_topn: 12 nms_thresh: 0.6 }", [p, d, info])
