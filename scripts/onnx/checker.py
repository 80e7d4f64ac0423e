"""Checks ONNX models with ONNX's own checker, and infers their shapes. Jobs and answers are those of runtime.js, without outputs."""

import json
import sys

import onnx

for line in sys.stdin:
    answer = {"outputs": []}
    try:
        model = json.loads(line)["model"]
        onnx.checker.check_model(model, full_check=True)
    except Exception as e:
        answer = {"error": str(e)}
    print(json.dumps(answer), flush=True)
