#!/usr/bin/env bash
# Compares swcaffe with OpenBLAS, PyTorch and Caffe on this machine: six nets, matrix products and convolutions. The programs run
# alternately, and the script reports medians. It writes build/bench/results.csv and, with -write, the tables of docs/PERFORMANCE.md.
# Programs that are not installed are left out.
#
#   scripts/bench.sh [-quick] [-write] [-nets lenet,vgg16] [-rounds N] [-threads N] [-no_avx2] [-no_sweeps]
#
#   scripts/bench.sh -inference [-int8] [-write] [-nets lenet,mobilenet|all] [-batches 1,4,16] [-rounds N] [-seconds N] [-round_trip NS] [-threads N]
#
# -inference compares the latency of forward passes of ten nets, or with -nets of any deploy net of the zoo, with ONNX Runtime, OpenCV,
# PyTorch and Caffe, in about a quarter of an hour; with -int8 of quantized nets, with ONNX Runtime. scripts/onnx_oracles.sh -install fetches the first two.
# On a virtual machine whose processors move between caches, -round_trip 100 keeps what was measured while they shared one.
#
# -quick measures few iterations, in less than ten minutes. With AVX-512, the nets are also measured with AVX2 alone. Run it on an
# otherwise idle machine. The other programs come from Debian (apt-get install gcc libopenblas0 python3-torch), and Caffe from
# scripts/bench/caffe.sh, since Debian no longer installs it. Another caffe on the PATH also works.
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/bench
mkdir -p "$out/nets"
python=/usr/bin/python3 # Debian's, for which apt installs PyTorch
[ -x "$python" ] || python=$(command -v python3) || { echo "bench.sh: needs python3: apt-get install python3" >&2; exit 1; }

go build -o "$out/swcaffe" ./cmd/swcaffe
if [ "${1:-}" = -inference ]; then
  command="scripts/bench.sh $*"
  shift
  CGO_ENABLED=1 go build -buildmode=c-shared -o "$out/libswcaffe.so" ./cmd/libswcaffe
  gcc -O2 -pthread -o "$out/distance" scripts/bench/distance.c
  command=$command exec "$python" scripts/bench/inference.py "$PWD/$out" "$@"
fi
go test -c -o "$out/kernel.test" ./cpe/kernel/conv/plan
rm -f "$out/peak" "$out/peak_avx2" "$out/bandwidth"
if command -v gcc >/dev/null; then
  gcc -O2 -o "$out/bandwidth" scripts/bench/bandwidth.c
  gcc -O2 -march=native -o "$out/peak" scripts/bench/peak.c || echo "no peak: this processor has no AVX2" >&2
  if grep -q avx512f /proc/cpuinfo; then gcc -O2 -march=native -mno-avx512f -o "$out/peak_avx2" scripts/bench/peak.c; fi
fi
"$python" scripts/bench/nets.py "$out/nets"
command="scripts/bench.sh $*" "$python" scripts/bench/run.py "$out" "$@"
