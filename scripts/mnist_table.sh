#!/usr/bin/env bash
# Trains LeNet with Caffe's own settings (10,000 iterations of 64 images) on MNIST and Fashion-MNIST, from several seeds, and prints the table of docs/mnist.md:
# accuracy and loss on the 10,000 test images after the last iteration. It fetches the sets as "swcaffe dataset" does, or finds them in DIR/data.
#
#   scripts/mnist_table.sh [-seeds N] [-threads N] [-caffe FILE] [-caffe_seeds N] [-sets NAME,...] [DIR]
#
#   -seeds N        trains with the seeds 1 to N (5)
#   -threads N      threads of a training; the results have the same bits
#   -caffe FILE     also trains with this program, which takes the arguments of Caffe's own, on the same databases of MNIST; scripts/bench/caffe.sh makes one
#   -caffe_seeds N  with the seeds 1 to N (1)
#   -sets NAME,...  trains on these sets (mnist,fashion_mnist)
#
# DIR (mnist_runs) gets the binary and the data when it is created, and a folder for every run. A finished run is not repeated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seeds=5 threads=0 caffe='' caffe_seeds=1 sets=mnist,fashion_mnist
while (($# > 0)); do
  case $1 in
    -seeds) seeds=$2 && shift 2 ;;
    -threads) threads=$2 && shift 2 ;;
    -caffe) caffe=$(realpath "$2") && shift 2 ;;
    -caffe_seeds) caffe_seeds=$2 && shift 2 ;;
    -sets) sets=$2 && shift 2 ;;
    -*) echo "$0: unknown flag $1; there are -seeds, -threads, -caffe, -caffe_seeds and -sets" >&2 && exit 1 ;;
    *) break ;;
  esac
done
[[ $seeds =~ ^[1-9][0-9]*$ && $caffe_seeds =~ ^[1-9][0-9]*$ ]] || { echo "$0: -seeds $seeds -caffe_seeds $caffe_seeds: must be 1 or more" >&2; exit 1; }
models=$PWD/models/lenet
out=${1:-mnist_runs}
mkdir -p "$out"
out=$(cd "$out" && pwd)
[ -e "$out/swcaffe" ] || CGO_ENABLED=0 go build -o "$out/swcaffe" ./cmd/swcaffe
cd "$out"
for set in ${sets//,/ }; do
  [ -e "data/${set}_test_lmdb" ] || ./swcaffe dataset "$set" -out data -force
done

# run SET PROGRAM SEED COMMAND... trains in SET/PROGRAM/seed_SEED. The run's file "result" has the accuracy and the loss of its last test.
run() {
  local dir=$1/$2/seed_$3
  [ ! -e "$dir/result" ] || return 0
  mkdir -p "$dir"
  sed -e "s,data/digits_,data/$1_," "$models/train_val.prototxt" >"$dir/net.prototxt"
  sed -e "s,^net:.*,net: \"$dir/net.prototxt\"," -e 's/^test_iter:.*/test_iter: 100/' -e '/^# 40 batches/d' -e 's/^max_iter:.*/max_iter: 10000/' \
    -e 's/^snapshot:.*/snapshot: 10000/' -e "s,^snapshot_prefix:.*,snapshot_prefix: \"$dir/lenet\"," -e "s/^random_seed:.*/random_seed: $3/" \
    "$models/solver.prototxt" >"$dir/solver.prototxt"
  if ! "${@:4}" train -solver "$dir/solver.prototxt" >"$dir/log" 2>&1 || ! grep -q 'Optimization Done' "$dir/log"; then
    echo "$dir: the training failed or was stopped:" && tail -n 3 "$dir/log"
    return 1
  fi >&2
  sed -n '/Iteration 10000, Testing net/,$p' "$dir/log" | sed -n 's/.*Test net output #[01]: \(accuracy\|loss\) = \([^ ]*\).*/\1 \2/p' | sort | sed 's/.* //' | paste -sd' ' >"$dir/result.partial"
  [[ $(cat "$dir/result.partial") =~ ^[0-9.e+-]+\ [0-9.e+-]+$ ]] || { echo "$dir/log has no accuracy and loss of iteration 10000" >&2; return 1; }
  mv "$dir/result.partial" "$dir/result"
  echo "$dir: accuracy and loss $(cat "$dir/result")" >&2
}

for set in ${sets//,/ }; do
  for seed in $(seq "$seeds"); do run "$set" swcaffe "$seed" ./swcaffe -threads "$threads"; done
  if [ -n "$caffe" ] && [ "$set" = mnist ]; then
    for seed in $(seq "$caffe_seeds"); do run "$set" caffe "$seed" "$caffe"; done
  fi
done

echo '| set | program | seeds | test accuracy, mean | least to greatest | test loss, mean | least to greatest |'
echo '|---|---|---|---|---|---|---|'
for set in ${sets//,/ }; do
  for program in swcaffe caffe; do
    [ -e "$set/$program/seed_1/result" ] || continue
    cat "$set/$program"/seed_*/result | awk -v head="| $set | $program" '
      { for (i = 1; i <= 2; i++) { sum[i] += $i; if (NR == 1 || $i < low[i]) low[i] = $i; if (NR == 1 || $i > high[i]) high[i] = $i } }
      END { printf "%s | %d", head, NR; for (i = 1; i <= 2; i++) printf " | %.4f | %.4f to %.4f", sum[i] / NR, low[i], high[i]; print " |" }'
  done
done
