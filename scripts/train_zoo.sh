#!/usr/bin/env bash
# Trains the models that need no photographs, from generated data to the last iteration, one after the other, and prints
# what each net's last test said. The figures in models/*/README.md are from it.
#
#   scripts/train_zoo.sh [DIR [SOLVER...]]
#
# DIR (zoo_runs) takes binary, data, logs and snapshots; a run that was stopped goes on from its last snapshot, which gives
# the same weights. SOLVER names some of the runs, as models/lenet/solver_adam.prototxt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-zoo_runs}
shift $(($# > 0))
runs=(
  models/hdf5_classification/solver.prototxt
  models/hdf5_classification/nonlinear_solver.prototxt
  models/lenet/solver{,_nesterov,_adagrad,_rmsprop,_adadelta,_adam}.prototxt
  models/mnist_siamese/solver.prototxt
  models/char_rnn/solver.prototxt
  models/mnist_autoencoder/solver.prototxt
  models/cifar10_quick/solver.prototxt
  models/cifar10_full/solver.prototxt
  models/fcn/solver.prototxt
  models/cifar10_full_sigmoid/solver.prototxt
  models/cifar10_full_sigmoid_bn/solver.prototxt
  models/cifar10_resnet8/solver.prototxt
)
(($# == 0)) || runs=("$@")

mkdir -p "$out"
[ -e "$out/swcaffe" ] || go build -o "$out/swcaffe" ./cmd/swcaffe
[ -e "$out/models" ] || cp -r models "$out/models"
cd "$out"

# dataset FILE KIND ARGS... makes a set unless its last file is there.
dataset() {
  [ -e "$1" ] || ./swcaffe dataset "${@:2}" -out data -force
}
dataset data/digits_test_lmdb digits -train 20000 -test 4000
dataset data/shapes_test_lmdb shapes -train 20000 -test 4000
dataset data/pairs_test_lmdb pairs -train 20000 -test 4000
dataset data/scenes_test_classes_lmdb scenes -train 4000 -test 500
dataset data/points_test.txt points -train 20000 -test 4000
dataset data/text_test.txt text -train 224257 -test 24577

field() { sed -n "s/^$2: *\"\{0,1\}\([^\"]*\)\"\{0,1\}.*/\1/p" "$1"; }

for solver in "${runs[@]}"; do
  name=$(dirname "$solver" | xargs basename)_$(basename "$solver" .prototxt)
  prefix=$(field "$solver" snapshot_prefix) last=$(field "$solver" max_iter)
  if [ ! -e "${prefix}_iter_$last.caffemodel" ]; then
    from=()
    state=$(find "$(dirname "$prefix")" -name "$(basename "$prefix")_iter_*.solverstate" | sort -V | tail -n 1)
    [ -z "$state" ] || from=(-snapshot "$state")
    ./swcaffe train -solver "$solver" "${from[@]}" >>"$name.log" 2>&1
  fi
  echo "$solver, $last iterations"
  # The lines behind the last test of every test net.
  awk '/Testing net/ { split($0, a, "Testing net"); n = a[2]; got[n] = "" }
       /Test net output/ { sub(/.*Test net output/, "  test net" n " output"); got[n] = got[n] $0 "\n" }
       END { for (k = 0; k < 9; k++) printf "%s", got[" (#" k ")"] }' "$name.log"
done
