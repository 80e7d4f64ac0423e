#!/usr/bin/env bash
# Compares exported ONNX models with other programs: every deploy net of models/ and every layer type, in ONNX Runtime and in ONNX's own
# checker; the deploy nets also in OpenCV. Installs them: onnxruntime-node from npm (the CPU library is in the package) in a folder that is
# given or made anew, and Debian's python3-opencv, python3-numpy and python3-onnx.
# Usage: scripts/onnx_oracles.sh [FOLDER]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-}
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
if [ ! -d "$folder/node_modules/onnxruntime-node" ]; then
  (cd "$folder" && ONNXRUNTIME_NODE_INSTALL=skip npm install --ignore-scripts --no-fund --no-audit onnxruntime-node)
fi
if ! /usr/bin/python3 -c 'import cv2, numpy, onnx' 2>/dev/null; then
  apt-get update
  apt-get install -y --no-install-recommends python3-opencv python3-numpy python3-onnx
fi
cd "$root"
NODE_PATH=$folder/node_modules \
  SWCAFFE_ONNX_RUNTIME="node $root/scripts/onnx/runtime.js" \
  SWCAFFE_ONNX_CHECKER="/usr/bin/python3 $root/scripts/onnx/checker.py" \
  SWCAFFE_ONNX_OPENCV="/usr/bin/python3 $root/scripts/onnx/opencv.py" \
  go test ./internal/onnx/... -count 1 -timeout 60m
