#!/usr/bin/env bash
# Kills or stops a random worker of an elastic training, again and again, and compares the end with that of an undisturbed training.
#
#   scripts/elastic.sh [TIMES] [SEED] [STRATEGY]
#
# One fault in ten is SIGSTOP, which is noticed after 5 s, the others are SIGKILL. After the last one the training is stopped, and one worker trains
# as many iterations undisturbed. STRATEGY is a -workers_strategy, by default sync, whose next loss must be that of the undisturbed training to four
# digits. That of other strategies depends on the number of workers, and must be below a tenth of the first.
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-20} RANDOM=${2:-1} strategy=${3:-sync}
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
CGO_ENABLED=0 go build -o "$dir/swcaffe" ./cmd/swcaffe
cd "$dir"
# Without momentum steps are ten times as long.
case $strategy in sync | *_m*) rate=0.00002 ;; *) rate=0.0002 ;; esac
# solver ITERATIONS DISPLAY NAME writes a solver's file. The input is the target, so that the loss falls to 0, slowly.
solver() {
  cat >"$3.prototxt" <<END
net_param {
  layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 12 dim: 40 } data_filler { type: "gaussian" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 40 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "x" top: "l" }
}
base_lr: $rate lr_policy: "fixed" momentum: 0.9 max_iter: $1 display: $2 average_loss: 1 snapshot_prefix: "$3" random_seed: 1
END
}
# loss LOG ITERATION prints the loss of an iteration.
loss() { sed -n "s/.*Iteration $2 .*, loss = //p" "$1" | head -n 1; }
ended() { tail -30 log; echo "the training has ended after $1 faults" >&2; exit 1; }

solver 1000000000 10000 disturbed
./swcaffe train -solver disturbed.prototxt -elastic 1:4 -workers_strategy "$strategy" -threads 1 >log 2>&1 &
command=$!
for n in $(seq "$times"); do
  # Some worker that has the state must be left: faults wait until three take part.
  until sleep 0.$((RANDOM % 900 + 100)) && [ "$(sed -n 's/.*Workers: \([0-9]*\); training.*/\1/p' log | tail -1)0" -ge 30 ]; do
    kill -0 $command 2>/dev/null || ended $((n - 1))
  done
  mapfile -t workers < <(pgrep -P $command)
  [ ${#workers[@]} -gt 0 ] || ended $((n - 1))
  worker=${workers[RANDOM % ${#workers[@]}]}
  if [ $((RANDOM % 10)) = 0 ]; then
    kill -STOP "$worker" 2>/dev/null || true
    sleep 6
  else
    kill -KILL "$worker" 2>/dev/null || true
  fi
done
sleep 3
kill -TERM $command
wait $command || { tail -30 log; echo "exit code $?" >&2; exit 1; }
at=$(ls | sed -n 's/^disturbed_iter_\([0-9]*\)\.solverstate$/\1/p')
[ -n "$at" ] || { tail -30 log; echo "there is no last snapshot" >&2; exit 1; }
echo "$times faults: $(grep -c 'Lost rank' log) workers were lost in epochs, $(grep -c 'Workers: [0-9]*; training' log) epochs, iteration $at"
# Where workers do not wait for one another, the worker with the latest state may be at an earlier iteration than another one was.
case $strategy in async* | hogwild*) ordered=cat ;; *) ordered="sort -n -c" ;; esac
grep 'training from iteration' log | sed 's/.*from iteration //' | $ordered >/dev/null || { echo "an epoch began before the one before it" >&2; exit 1; }

solver $((at + 1)) 1 next
./swcaffe train -solver next.prototxt -snapshot "disturbed_iter_$at.solverstate" >next.log 2>&1
disturbed=$(loss next.log "$at")
if [ "$strategy" = sync ]; then
  solver "$at" 0 alone
  ./swcaffe train -solver alone.prototxt -threads 1 >alone.log 2>&1
  ./swcaffe train -solver next.prototxt -snapshot "alone_iter_$at.solverstate" >next.log 2>&1
  alone=$(loss next.log "$at")
  echo "loss $disturbed, undisturbed $alone"
  awk -v a="$disturbed" -v b="$alone" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && b != "" && d <= 1e-4 * b) }' || { echo "the losses differ" >&2; exit 1; }
else
  first=$(loss log 0)
  echo "loss $disturbed, at first $first"
  awk -v a="$disturbed" -v b="$first" 'BEGIN { exit !(a != "" && b != "" && a < b / 10) }' || { echo "the loss has not fallen" >&2; exit 1; }
fi
