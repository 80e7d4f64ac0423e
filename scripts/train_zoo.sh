#!/usr/bin/env bash
# Trains the models that need no photographs on generated data, to the last iteration, and prints the results of their tests as
# the tables of models/*/README.md.
#
#   scripts/train_zoo.sh [-seeds N] [-jobs N] [-write] [DIR [SOLVER...]]
#
#   -seeds N  also trains with the seeds 1 to N; the tables then show the range over these and the solver's own seed
#   -jobs N   trains with N seeds at a time, which share the cores; the results have the same bits
#   -write    writes the tables into models/*/README.md, as far as all runs with the solvers' own seeds are in DIR
#
# DIR (zoo_runs) gets a copy of the binary, the models and the data when it is created. Every run has a folder there, with its
# solver, log and snapshots. A stopped run continues from its last snapshot and ends with the same weights. A finished run is
# not repeated. scripts/mnist.py does the same on MNIST. SOLVER is a solver such as models/lenet/solver_adam.prototxt. Without it, the script trains all solvers, from the
# shortest run to the longest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seeds=0 jobs=1 write=()
while (($# > 0)); do
  case $1 in
    -seeds) seeds=$2 && shift 2 ;;
    -jobs) jobs=$2 && shift 2 ;;
    -write) write=(-write) && shift ;;
    -*) echo "$0: unknown flag $1; there are -seeds, -jobs and -write" >&2 && exit 1 ;;
    *) break ;;
  esac
done
[[ $seeds =~ ^[0-9]+$ && $jobs =~ ^[1-9][0-9]*$ ]] || { echo "$0: -seeds $seeds -jobs $jobs: must be numbers" >&2; exit 1; }
out=${1:-zoo_runs}
shift $(($# > 0))

mkdir -p "$out"
out=$(cd "$out" && pwd)
[ -e "$out/swcaffe" ] || go build -o "$out/swcaffe" ./cmd/swcaffe
[ -e "$out/models" ] || cp -r models "$out/models"
go build -o "$out/modelfigures" ./internal/app/modelfigures
known=$("$out/modelfigures" -solvers)
(($# > 0)) || set -- $known
for solver; do
  grep -qxF "$solver" <<<"$known" || { echo "$0: no solver $solver; there are:" && echo "$known"; exit 1; } >&2
done

# dataset FILE KIND ARGS... generates a data set unless FILE, its last file, exists.
dataset() {
  [ -e "$out/$1" ] || "$out/swcaffe" dataset "${@:2}" -out "$out/data" -force
}
dataset data/digits_test_lmdb digits -train 20000 -test 4000
dataset data/shapes_test_lmdb shapes -train 20000 -test 4000
dataset data/pairs_test_lmdb pairs -train 20000 -test 4000
dataset data/scenes_test_classes_lmdb scenes -train 4000 -test 500
dataset data/objects_labelmap.prototxt objects -train 8000 -test 500 -size 96
dataset data/points_test.txt points -train 20000 -test 4000
dataset data/text_test.txt text -train 224257 -test 24577

field() { sed -n "s/^$2: *\"\{0,1\}\([^\"]*\)\"\{0,1\}.*/\1/p" "$1"; }

# processor prints the hardware properties on which the figures depend.
processor() {
  local name
  if command -v lscpu >/dev/null; then
    name=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p')
  else
    name=$(sysctl -n machdep.cpu.brand_string)
  fi
  echo "$name, $(./swcaffe device_query | sed -n 's/^SIMD: *//p')"
}

# train SOLVER SEED, in DIR, runs or continues one training. The run's file "processor" marks it as finished, and names the
# hardware.
train() {
  local run=runs/${1%.prototxt}/seed_$2 from=() last state on
  [ ! -e "$run/processor" ] || return 0
  mkdir -p "$run"
  sed -e "s/^random_seed:.*/random_seed: $2/" -e "s,^snapshot_prefix:.*,snapshot_prefix: \"$run/snapshot\"," "$1" >"$run/solver.prototxt"
  last=$(field "$1" max_iter)
  state=$(find "$run" -name 'snapshot_iter_*.solverstate' | sort -V | tail -n 1)
  [ -z "$state" ] || from=(-snapshot "$state")
  if ! ./swcaffe train -solver "$run/solver.prototxt" -threads "$threads" "${from[@]}" >>"$run/log" 2>&1; then
    echo "$run: the training failed:" && tail -n 3 "$run/log"
    return 1
  fi >&2
  # A run stopped by a signal also exits with 0, after a snapshot. If it was stopped in its last test, it even prints
  # "Optimization Done".
  if tail -n 2 "$run/log" | grep -q 'Test interrupted' || ! tail -n 1 "$run/log" | grep -q 'Optimization Done'; then
    echo "$run: stopped; the same command goes on" >&2
    return 1
  fi
  find "$run" -name 'snapshot_iter_*' ! -name "snapshot_iter_$last.caffemodel" -delete
  on=$(processor)
  echo "$on" >"$run/processor"
}

threads=$(($(getconf _NPROCESSORS_ONLN) / jobs))
((threads > 0)) || threads=1
export threads
export -f train field processor

for solver; do
  {
    field "$solver" random_seed
    seq "$seeds"
  } | awk '!seen[$0]++' | (cd "$out" && xargs -P "$jobs" -I SEED bash -euo pipefail -c 'train "$@"' train "$solver" SEED)
  "$out/modelfigures" -runs "$out/runs" "${write[@]}" "$solver"
done
