#!/usr/bin/env bash
# Kills or stops a random worker of an elastic training, again and again, and compares the end with that of an undisturbed training.
#
#   scripts/elastic.sh [TIMES] [SEED] [STRATEGY]
#
# One fault in five is SIGSTOP, which is noticed after 5 s, the others are SIGKILL. STRATEGY is a -workers_strategy, by default sync, whose last loss must be
# that of the undisturbed training to four digits. EASGD's depends on the number of workers: there the training must only end.
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-20} RANDOM=${2:-1} strategy=${3:-sync}
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
CGO_ENABLED=0 go build -o "$dir/swcaffe" ./cmd/swcaffe
cd "$dir"
cat >solver.prototxt <<'END'
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 12 dim: 40 } data_filler { type: "gaussian" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 40 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
}
base_lr: 0.001 lr_policy: "fixed" momentum: 0.9 max_iter: ITERATIONS display: 1000 average_loss: 1 snapshot_prefix: "s" random_seed: 1
END
iterations=$((times * 8000))
sed -i "s/ITERATIONS/$iterations/" solver.prototxt
last() { sed -n "s/.*Iteration $iterations, loss = //p" "$1"; }

if [ "$strategy" = sync ]; then
  ./swcaffe train -solver solver.prototxt -threads 1 >alone.log 2>&1
  rm -f s_iter_*
fi
./swcaffe train -solver solver.prototxt -elastic 1:4 -workers_strategy "$strategy" -threads 1 >log 2>&1 &
command=$!
for n in $(seq "$times"); do
  # Some worker that has the state must be left: faults wait until three take part.
  until sleep 0.$((RANDOM % 900 + 100)) && [ "$(sed -n 's/.*Workers: \([0-9]*\); training.*/\1/p' log | tail -1)0" -ge 30 ]; do
    kill -0 $command 2>/dev/null || { tail -20 log; echo "the training has ended after $((n - 1)) faults" >&2; exit 1; }
  done
  mapfile -t workers < <(pgrep -P $command)
  [ ${#workers[@]} -gt 0 ] || { tail -20 log; echo "the training has ended after $((n - 1)) faults" >&2; exit 1; }
  worker=${workers[RANDOM % ${#workers[@]}]}
  if [ $((RANDOM % 5)) = 0 ]; then
    kill -STOP "$worker" 2>/dev/null || true
    sleep 6
  else
    kill -KILL "$worker" 2>/dev/null || true
  fi
done
wait $command || { tail -30 log; echo "exit code $?" >&2; exit 1; }
[ -e s_iter_$iterations.solverstate ] || { echo "there is no last snapshot" >&2; exit 1; }
lost=$(grep -c 'Lost rank' log)
echo "$times faults: $lost workers were lost in epochs, $(grep -c 'Workers: [0-9]*; training' log) epochs, last loss $(last log)"
if [ "$strategy" = sync ]; then
  echo "undisturbed: last loss $(last alone.log)"
  awk -v a="$(last log)" -v b="$(last alone.log)" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && b != "" && d <= 1e-4 * b) }' || { echo "the losses differ" >&2; exit 1; }
fi
