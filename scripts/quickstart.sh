#!/usr/bin/env bash
# Builds swcaffe, renders digits and trains LeNet on them; fails if the test accuracy stays under 99.0 %. Needs Go only.
set -euo pipefail
cd "$(dirname "$0")/.."
start=$SECONDS

echo "== building bin/swcaffe (static, no cgo)"
CGO_ENABLED=0 go build -o bin/swcaffe ./cmd/swcaffe
./bin/swcaffe version

if [ -f data/digits_train_lmdb/data.mdb ] && [ -f data/digits_test_lmdb/data.mdb ]; then
  echo "== digits are rendered already (data/digits_*_lmdb)"
else
  echo "== rendering 20,000 digits to train on and 4,000 to test on"
  ./bin/swcaffe dataset digits -out data -train 20000 -test 4000 -seed 1 -force
fi

echo "== training LeNet (models/lenet/solver.prototxt)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
./bin/swcaffe train -solver models/lenet/solver.prototxt 2>&1 | tee "$log" | grep --line-buffered -E 'Iteration|accuracy|Speed|[EF][0-9]{4} ' | sed -u 's/^.*\] //'

accuracy=$(sed -n 's/.*Test net output #0: accuracy = \([0-9.]*\).*/\1/p' "$log" | tail -n 1)
echo "== test accuracy ${accuracy:-none} after $((SECONDS - start)) s, build and rendering included"
awk -v a="${accuracy:-0}" 'BEGIN { exit !(a >= 0.99) }' || { echo "the accuracy is under 0.99" >&2; exit 1; }
