#!/usr/bin/env bash
# Compares the losses of LeNet's training with Caffe's, for every solver: those of swcaffe by default, with -strategy implicit and with
# -engine mpe, and Caffe's own with OpenBLAS's kernels for another processor. All runs start from the same weights. Prints the largest
# relative difference of the loss in the first 5, 10 and 50 iterations. Needs bin/swcaffe and the digits in data/ (quickstart.sh makes
# both), and the Caffe of caffe.sh.
#
#   scripts/bench/losses.sh [CAFFE]    CAFFE is build/bench/caffe/caffe by default
set -euo pipefail
cd "$(dirname "$0")/../.."

caffe=$(realpath "${1:-build/bench/caffe/caffe}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export GLOG_logtostderr=1

# losses prints the iterations and losses of a training log.
losses() { sed -n 's/.*Iteration \([0-9]*\) (.*), loss = \(.*\)/\1 \2/p' "$1"; }

# short writes a solver of 50 iterations, without tests, from one of models/lenet.
short() {
  grep -vE '^(max_iter|display|test_interval|test_iter|test_initialization|snapshot|snapshot_prefix|snapshot_after_train|solver_mode)\b' "models/lenet/$1.prototxt"
  printf 'max_iter: %d display: 1 snapshot_prefix: "%s/s" snapshot_after_train: %s\n' "$2" "$dir" "$3"
}

short solver 0 true >"$dir/start.prototxt"
bin/swcaffe train -solver "$dir/start.prototxt" -seed 1 2>"$dir/start.log"
weights=$dir/s_iter_0.caffemodel

printf '%-16s %-32s %9s %9s %9s\n' solver 'compared with Caffe' '5' '10' '50'
for solver in solver solver_adam solver_rmsprop; do
  short $solver 50 false >"$dir/$solver.prototxt"
  run() { "$@" train -solver "$dir/$solver.prototxt" -weights "$weights"; }
  run "$caffe" 2>"$dir/caffe.log"
  OPENBLAS_CORETYPE=Nehalem OPENBLAS_NUM_THREADS=1 run "$caffe" 2>"$dir/Caffe, kernels for Nehalem.log"
  run bin/swcaffe 2>"$dir/swcaffe.log"
  run bin/swcaffe -strategy implicit 2>"$dir/swcaffe -strategy implicit.log"
  run bin/swcaffe -engine mpe 2>"$dir/swcaffe -engine mpe.log"
  for who in 'Caffe, kernels for Nehalem' swcaffe 'swcaffe -strategy implicit' 'swcaffe -engine mpe'; do
    paste -d ' ' <(losses "$dir/caffe.log") <(losses "$dir/$who.log") | awk -v solver=$solver -v who="$who" '
      $1 != $3 { print "iterations differ: " $0; exit 1 }
      { d = ($4 - $2) / $2; if (d < 0) d = -d; if (d > most) most = d; at[NR] = most }
      END { if (NR < 50) { print who " has " NR " iterations"; exit 1 }; printf "%-16s %-32s %9.1e %9.1e %9.1e\n", solver, who, at[5], at[10], at[50] }'
  done
done
