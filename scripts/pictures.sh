#!/usr/bin/env bash
# Reads pictures of all formats, depths, orientations and kinds of damage with the real Caffe and with swcaffe, and prints how many agree to the bit, by kind.
#
#   scripts/pictures.sh [-seed N] [-layers] [-only KIND] [-values ZIP]
#
# -seed N     other pictures (default 1)
# -layers     also through ImageData, Data and WindowData, which takes some minutes
# -only KIND  the kinds that begin so: png, bmp, tiff, webp, jpeg, pnm
# -values ZIP writes two pictures of each kind and what Caffe read: data/imageio/testdata/pictures.zip is made so
#
# Kinds that may differ stand in scripts/pictures/known.txt, with the reason. It needs scripts/bench/caffe.sh and the Debian packages imagemagick,
# libjpeg-turbo-progs, libtiff-tools, lmdb-utils, python3-numpy, python3-pil and webp. Pictures are kept in build/pictures.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=1
if [ "${1:-}" = -seed ]; then seed=$2; shift 2; fi
dir=build/pictures caffe=build/bench/caffe
mkdir -p "$dir"
for tool in cjpeg convert cwebp tiffcp mdb_dump; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
[ -x "$caffe/caffe" ] || { echo "$caffe/caffe is missing: run scripts/bench/caffe.sh" >&2; exit 1; }
CGO_ENABLED=0 go build -trimpath -o "$dir/swcaffe" ./cmd/swcaffe
[ -d "$dir/$seed" ] || /usr/bin/python3 scripts/pictures/make.py "$dir/$seed" "$seed"
exec /usr/bin/python3 scripts/pictures/compare.py "$dir/$seed" "$caffe" "$dir/swcaffe" -known scripts/pictures/known.txt "$@"
