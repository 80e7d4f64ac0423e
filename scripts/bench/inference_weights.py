"""inference_weights.py PROTOTXT CAFFEMODEL FOLDER: writes weights for a net, and a random input, for inference.py."""
import json
import os
import sys

import caffe
import numpy as np

net = caffe.Net(sys.argv[1], caffe.TEST)
for name, kind in zip(net._layer_names, (layer.type for layer in net.layers)):
    if kind == "BatchNorm":
        mean, variance, factor = net.params[name]
        mean.data[...], variance.data[...], factor.data[...] = 0, 1, 1
net.save(sys.argv[2])
x = np.random.default_rng(1).standard_normal(net.blobs[net.inputs[0]].data.shape).astype(np.float32)
np.save(os.path.join(sys.argv[3], "input.npy"), x)
x.tofile(os.path.join(sys.argv[3], "input.raw"))
with open(os.path.join(sys.argv[3], "input.json"), "w") as f:
    json.dump({"dims": x.shape}, f)
