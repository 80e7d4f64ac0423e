#!/usr/bin/env bash
# Trains LeNet, CIFAR-10 quick and a small residual net with and without Winograd's convolution and prints the test accuracies;
# docs/PERFORMANCE.md has those of a run.
# It needs bin/swcaffe and, in data/, the sets of "swcaffe dataset digits" and "swcaffe dataset shapes".
set -euo pipefail
cd "${ROOT:-$(dirname "${BASH_SOURCE[0]}")/..}"

swcaffe=${SWCAFFE:-bin/swcaffe}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# train NAME NET ITERATIONS RATE STRATEGY: prints the test accuracy.
train() {
  cat > "$work/solver.prototxt" <<EOF
net: "$2" base_lr: $4 lr_policy: "fixed" momentum: 0.9 weight_decay: 0.0005 max_iter: $3 random_seed: 1
test_iter: 20 test_interval: $3 test_initialization: false snapshot_after_train: false
EOF
  "$swcaffe" train -solver "$work/solver.prototxt" -conv_strategy "$5" 2>&1 | sed -n 's/.*accuracy = \([0-9.]*\).*/\1/p' | tail -n 1
}

printf '%-16s %10s %9s %11s %11s\n' net iterations implicit winograd2 winograd4
while read -r name net iterations rate; do
  printf '%-16s %10d' "$name" "$iterations"
  for strategy in implicit winograd2 winograd4; do
    printf ' %10s' "$(train "$name" "$net" "$iterations" "$rate" "$strategy")"
  done
  echo
done <<EOF
lenet models/lenet/train_val.prototxt 500 0.01
cifar10_quick models/cifar10_quick/train_val.prototxt 400 0.001
cifar10_resnet8 models/cifar10_resnet8/train_val.prototxt 300 0.05
EOF
