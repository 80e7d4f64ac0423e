#!/usr/bin/env bash
# Compares ONNX models with other programs: every deploy net of models/ and every layer type as exported, in ONNX Runtime and in ONNX's own
# checker and in OpenCV; models by PyTorch's exporter and the nets that they become, in ONNX Runtime. Values must agree to
# 1e-5 of the largest one.
#
#   scripts/onnx_oracles.sh [-quick] [-install] [FOLDER]
#
# -quick compares only nets for small images, with batches of 1, and every layer type in two opsets. -install only installs: npm's
# onnxruntime-node into FOLDER (build/onnxruntime; the package contains the library, so that none of its scripts needs to run), and
# Debian's python3-opencv, python3-numpy, python3-onnx and libonnx-testdata (ONNX's own tests, which TestConformance imports), with nodejs and npm if there is no npm.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/alive.sh"
version=1.30.0
quick=() install= folder=$root/build/onnxruntime
for arg in "$@"; do
  case $arg in
    -quick) quick=(-short) ;;
    -install) install=yes ;;
    -*) echo "onnx_oracles.sh: no option $arg; there are -quick and -install" >&2; exit 2 ;;
    *) folder=$arg ;;
  esac
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

missing=()
/usr/bin/python3 -c 'from importlib.util import find_spec
exit(not all(map(find_spec, ("cv2", "numpy", "onnx"))))' 2>/dev/null || missing=(python3-opencv python3-numpy python3-onnx)
[ -d /usr/share/libonnx-testdata/data ] || missing+=(libonnx-testdata)
{ command -v node && command -v npm; } >/dev/null || missing+=(nodejs npm)
if ((${#missing[@]})); then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  [ "$(id -u)" = 0 ] || as_root=(sudo "${as_root[@]}")
  echo "installing: ${missing[*]}"
  alive "${as_root[@]}" apt-get update -qq
  alive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

has_runtime() { grep -qs "\"version\": \"$version\"" "$folder/node_modules/onnxruntime-node/package.json"; }
if ! has_runtime; then
  echo "installing: onnxruntime-node $version in $folder"
  (cd "$folder" && ONNXRUNTIME_NODE_INSTALL=skip alive npm install --prefix . --ignore-scripts --no-fund --no-audit --prefer-offline "onnxruntime-node@$version") >"$folder/npm.log" 2>&1 || true
  if ! has_runtime; then
    cat "$folder/npm.log" >&2
    echo "onnx_oracles.sh: npm could not install onnxruntime-node $version, see above. Exported models are compared with ONNX Runtime," >&2
    echo "so that the registry (npm config get registry) must be reachable, or $folder must have the package from an earlier run." >&2
    exit 1
  fi
fi
[ -z "$install" ] || exit 0

# ONNX Runtime's telemetry leaves files in the temporary folder.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$root"
# Each test starts its oracle from one of these and is skipped without it; -count: no result of a run without oracles.
TMPDIR=$scratch NODE_PATH=$folder/node_modules \
  SWCAFFE_ONNX_RUNTIME="node $root/scripts/onnx/runtime.js" \
  SWCAFFE_ONNX_CHECKER="/usr/bin/python3 $root/scripts/onnx/checker.py" \
  SWCAFFE_ONNX_OPENCV="/usr/bin/python3 $root/scripts/onnx/opencv.py" \
  go test -count 1 -timeout 60m -run 'Runtime|Checker|OpenCV|Conformance' "${quick[@]}" ./internal/onnx/export ./internal/onnx/intake
