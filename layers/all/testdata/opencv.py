# Prints what OpenCV 4.6 computes for layers of forks: /usr/bin/python3 opencv.py > opencv.txt (Debian: python3-opencv).
# Weights are missing there, so that Normalize does not scale.
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
