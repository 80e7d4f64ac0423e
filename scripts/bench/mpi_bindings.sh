#!/usr/bin/env bash
# Compares the all-reduce by the two bindings of MPI over one library, Open MPI 6: swcaffe-mpi, which opens the library with the standard ABI while it runs
# (topology/mpiabi), and a build with -tags mpi, which is compiled for Open MPI (topology/empi). Pairs of runs in turns; prints the ratio of times, abi / cgo,
# and fails if its median is more than LIMIT.
#
#   scripts/bench/mpi_bindings.sh [PAIRS] [BYTES] [RANKS] [ALGORITHM]
#   LIMIT=1.05 scripts/bench/mpi_bindings.sh 21 67108864 2 ring
#
# scripts/mpi/libraries.sh unpacks Open MPI 6; libopenmpi-dev, pkgconf and gcc make the build with the tag. Nothing else should run on the computer.
set -euo pipefail
cd "$(dirname "$0")/../.."
pairs=${1:-21} bytes=${2:-67108864} ranks=${3:-2} algorithm=${4:-ring} limit=${LIMIT:-1.05}
export GOFLAGS="${GOFLAGS:-} -trimpath"
[ -x build/mpi/run ] || { echo "scripts/mpi/libraries.sh unpacks the libraries first" >&2; exit 1; }
run=$PWD/build/mpi/run
mkdir -p build/mpi-bin
CGO_ENABLED=0 go build -o build/mpi-bin/swcaffe-mpi ./cmd/swcaffe-mpi
CGO_CFLAGS="-O2 -g $(pkg-config --cflags ompi)" CGO_ENABLED=1 go build -tags mpi -o build/mpi-bin/swcaffe-openmpi ./cmd/swcaffe
bin=$PWD/build/mpi-bin
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# seconds PROGRAM prints the median time of an all-reduce.
seconds() {
  "$run" mpirun.openmpi --map-by :oversubscribe -np "$ranks" "$bin/$1" allreduce -bytes "$bytes" -algorithm "$algorithm" -iterations 15 -json "$dir/report" >"$dir/log" 2>&1 ||
    { cat "$dir/log" >&2; exit 1; }
  sed -n 's/^ *"seconds": \([0-9.e-]*\),$/\1/p' "$dir/report"
}
for n in $(seq "$pairs"); do
  if [ $((n % 2)) = 0 ]; then
    abi=$(seconds swcaffe-mpi) cgo=$(seconds swcaffe-openmpi)
  else
    cgo=$(seconds swcaffe-openmpi) abi=$(seconds swcaffe-mpi)
  fi
  awk -v a="$abi" -v c="$cgo" 'BEGIN { printf "%.4f %.6f %.6f\n", a / c, a, c }'
done | sort -n >"$dir/pairs"
"$run" ompi_info --version | head -n 1
awk -v limit="$limit" -v what="$algorithm of $bytes bytes over $ranks ranks" '
  { ratio[NR] = $1; abi[NR] = $2; cgo[NR] = $3 }
  END {
    median = ratio[int((NR + 1) / 2)]
    printf "%s, %d pairs: abi / cgo %.3f in the median (quartiles %.3f to %.3f, range %.3f to %.3f)\n", what, NR, median,
      ratio[int((NR + 3) / 4)], ratio[int((3 * NR + 3) / 4)], ratio[1], ratio[NR]
    exit !(NR > 0 && median <= limit)
  }' "$dir/pairs"
