#!/usr/bin/env bash
# Trains LeNet on rendered digits with every strategy of "swcaffe train", four workers in virtual time, and writes
# docs/time_to_accuracy_CLUSTER.md and .svg: when each reaches the accuracy asked for. Takes about an hour; logs that are
# there already are used again. With ITERATIONS=40 it takes a minute and tells the share of communication alone.
#
#   [ITERATIONS=N] scripts/time_to_accuracy.sh [CLUSTER [LOGS [STRATEGY...]]]
set -euo pipefail
cd "$(dirname "$0")/.."

cluster=${1:-infiniband_fdr}
logs=${2:-data/time_to_accuracy_$(basename "$cluster" .prototxt)}
machine=sw26010
workers=4
iterations=${ITERATIONS:-800}
target=0.988
strategies=("${@:3}")
((${#strategies[@]})) || strategies=(sync easgd async_sgd async_msgd hogwild_sgd async_easgd async_measgd hogwild_easgd sync_easgd1 sync_easgd2 sync_easgd3 decentralised_easgd)

go build -o bin/swcaffe ./cmd/swcaffe
[ -e data/digits_train_lmdb ] || bin/swcaffe dataset digits -out data
mkdir -p "$logs"

# sync splits batches of 64 over the workers; workers of the other strategies take batches of 16 of their own, so that an iteration
# is 64 images for all. Rates are those of LeNet's solver, with momentum 0.9, or ten times as much without it; a centre that
# moves by four workers' steps one after the other takes half of each.
rate() {
  case $1 in
    sync | async_measgd) echo 0.01 ;;
    async_msgd) echo 0.005 ;;
    async_sgd | hogwild_sgd) echo 0.05 ;;
    *) echo 0.1 ;;
  esac
}

for s in "${strategies[@]}"; do
  [ -e "$logs/$s.log" ] && continue
  batch=16
  [ "$s" = sync ] && batch=64
  sed "s/batch_size: 64/batch_size: $batch/" models/lenet/train_val.prototxt >"$logs/net_$batch.prototxt"
  sed -e "s|models/lenet/train_val.prototxt|$logs/net_$batch.prototxt|" -e "s|models/lenet/lenet|$logs/lenet|" \
    -e "s/base_lr: 0.01/base_lr: $(rate "$s")/" -e "s/max_iter: 2000/max_iter: $iterations/" -e "s/test_interval: 500/test_interval: 100/" \
    -e "s/snapshot: 1000/snapshot: 0 snapshot_after_train: false/" -e "s/display: 100/display: 20/" models/lenet/solver.prototxt >"$logs/$s.prototxt"
  echo "training with $s"
  bin/swcaffe train -solver "$logs/$s.prototxt" -workers $workers -strategy "$s" -transport sim -cluster "$cluster" -machine $machine \
    2>"$logs/$s.tmp"
  mv "$logs/$s.tmp" "$logs/$s.log"
done

out=docs/time_to_accuracy_$(basename "$cluster" .prototxt)
mkdir -p docs
{
  echo "| strategy | iteration | simulated s to $target | communication % | best accuracy |"
  echo "|---|---|---|---|---|"
  for s in "${strategies[@]}"; do
    awk -v s="$s" -v target=$target '
      /Testing net/ { sub(/,.*/, "", $0); n = $NF }
      /Simulated time/ { for (i = 1; i <= NF; i++) { if ($i == "time:") t = $(i + 1); if ($i == "communication") c = $(i + 1) + 0 } }
      / accuracy = / { a = $NF; if (a > best) best = a; if (a >= target && !hit) { hit = 1; at = n; when = t } }
      END { printf "%012.6f | %s | %s | %s | %.1f | %.4f |\n", hit ? when : 1e5 - best, s, hit ? at : "-", hit ? when : "-", c, best }' "$logs/$s.log"
  done | sort | sed 's/^[0-9.]* //'
} >"$out.md"
bin/swcaffe plot_log 1 "$out.svg" $(printf "$logs/%s.log " "${strategies[@]}")
cat "$out.md"
