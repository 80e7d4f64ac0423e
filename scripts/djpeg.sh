#!/usr/bin/env bash
# Compares package jpeg with djpeg on mutated JPEGs: the same files must be read, to the same pixels. Prints how many were read, repaired and refused, and keeps
# each file that differs in the folder for temporary files. 20,000 files take some minutes.
#
#   scripts/djpeg.sh [-seed N] [-files N]
#
# -seed N    other files (default: the time, which is printed)
# -files N   how many mutated files (default 20000); beside every two of them, the whole file is compared too
#
# It needs cjpeg and djpeg (Debian package libjpeg-turbo-progs), and scripts/bench/caffe.sh for libjpeg-turbo 2.0.6, which Caffe has.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=$(date +%s) files=20000
while [ $# -gt 0 ]; do
  case $1 in
    -seed) seed=$2 ;;
    -files) files=$2 ;;
    *) sed -n '2,/^set /{s/^# \?//p}' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
for tool in cjpeg djpeg; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
[ -x build/bench/caffe/caffe ] || { echo "build/bench/caffe/caffe is missing: run scripts/bench/caffe.sh" >&2; exit 1; }
echo "seed $seed"
SWCAFFE_SEED=$seed SWCAFFE_JPEGS=$(((files + 1) / 2)) exec go test ./data/imageio/jpeg -run '^TestAgainstLibjpeg$' -count 1 -timeout 3h -v
