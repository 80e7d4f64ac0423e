#!/usr/bin/env bash
# Trains LeNet on rendered digits with every strategy of "swcaffe train", with four workers in virtual time. Prints the time at
# which each reaches the target accuracy, and plots the times into docs/time_to_accuracy_CLUSTER.svg. Takes 15 to 60 minutes.
# Existing logs are used again. With ITERATIONS=40 it takes a minute and measures only the time of an iteration.
#
# RATE replaces the learning rate of each strategy.
#
#   [ITERATIONS=N] [RATE=R] scripts/time_to_accuracy.sh [CLUSTER [LOGS [STRATEGY...]]]
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

# sync splits batches of 64 over the workers. With the other strategies each worker has batches of 16, so that an iteration is 64
# images in all cases. The rates are those of LeNet's solver with momentum 0.9, and ten times as large without momentum.
# Strategies whose centre moves by the steps of four workers in turn use half of these.
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
    -e "s/base_lr: 0.01/base_lr: ${RATE:-$(rate "$s")}/" -e "s/max_iter: 2000/max_iter: $iterations/" -e "s/test_interval: 500/test_interval: 50/" \
    -e "s/snapshot: 1000/snapshot: 0 snapshot_after_train: false/" -e "s/display: 100/display: 20/" models/lenet/solver.prototxt >"$logs/$s.prototxt"
  echo "training with $s"
  bin/swcaffe train -solver "$logs/$s.prototxt" -workers $workers -workers_strategy "$s" -transport sim -cluster "$cluster" -machine $machine \
    2>"$logs/$s.tmp"
  mv "$logs/$s.tmp" "$logs/$s.log"
done

echo "| strategy | ms an iteration | communication % | iterations to $target | simulated s | best accuracy |"
echo "|---|---|---|---|---|---|"
for s in "${strategies[@]}"; do
  # A test's lines precede the line with its time; a loss follows it.
  awk -v s="$s" -v target=$target '
    function seen(kind, n) { if (!(kind in first)) { first[kind] = n; since[kind] = t } last[kind] = n; until[kind] = t }
    /, Testing net/ { test = 1; n = $6 + 0 }
    /Simulated time/ { t = $7; for (i = 8; i < NF; i++) if ($i == "communication") share = $(i + 1) + 0; if (test) seen("test", n); test = 0 }
    /\] Iteration [0-9]+ \(/ { seen("loss", $6) }
    / accuracy = / { if ($NF > best) best = $NF; if ($NF >= target && !hit) { hit = 1; at = n; when = t } }
    END {
      kind = last["loss"] > first["loss"] ? "loss" : "test"
      each = 1000 * (until[kind] - since[kind]) / (last[kind] - first[kind])
      printf "%012.6f | %s | %.2f | %.1f | %s | %s | %.4f |\n", hit ? when : 1e4 + each, s, each, share, hit ? at : "-", hit ? when : "-", best
    }' "$logs/$s.log"
done | sort -s -k1,1 | sed 's/^[0-9.]* //'

if ((iterations >= 100)); then
  bin/swcaffe plot_log 1 "docs/time_to_accuracy_$(basename "$cluster" .prototxt).svg" $(printf "$logs/%s.log " "${strategies[@]}")
fi
