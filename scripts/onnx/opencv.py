"""Runs ONNX models with OpenCV's dnn module. Jobs and answers are those of runtime.js."""

import json
import sys

import cv2
import numpy as np


def run(job):
    net = cv2.dnn.readNetFromONNX(job["model"])
    for name, spec in job["inputs"].items():
        values = np.fromfile(spec["file"], dtype=np.float32).reshape(spec["dims"])
        net.setInput(values, name)
    names = job["outputs"]
    outputs = []
    for k, value in enumerate(net.forward(names)):
        np.ascontiguousarray(value, dtype=np.float32).tofile(f"{job['out']}.{k}")
        outputs.append({"name": names[k], "dims": list(value.shape)})
    return {"outputs": outputs}


for line in sys.stdin:
    try:
        answer = run(json.loads(line))
    except Exception as e:
        answer = {"error": str(e)}
    print(json.dumps(answer), flush=True)
