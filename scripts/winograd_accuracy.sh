#!/usr/bin/env bash
# Trains LeNet, CIFAR-10 quick and a small residual net with and without Winograd convolution, and prints the test accuracies.
# docs/PERFORMANCE.md shows those of one run. SEED is the solver's random seed, 1 by default. It needs bin/swcaffe and, in data/,
# the sets of "swcaffe dataset digits -out data" and "swcaffe dataset shapes -out data".
set -euo pipefail
cd "${ROOT:-$(dirname "${BASH_SOURCE[0]}")/..}"

swcaffe=${SWCAFFE:-bin/swcaffe}
seed=${SEED:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# train NET ITERATIONS RATE STRATEGY prints the test accuracy. The last fifth of the iterations has a tenth of the rate, so that
# the accuracy does not depend on the last few iterations.
train() {
  cat > "$work/solver.prototxt" <<END
net: "$1" base_lr: $3 lr_policy: "step" stepsize: $(($2 * 4 / 5)) gamma: 0.1 momentum: 0.9 weight_decay: 0.0005
max_iter: $2 random_seed: $seed
test_iter: 20 test_interval: $2 test_initialization: false snapshot_after_train: false
END
  "$swcaffe" train -solver "$work/solver.prototxt" -strategy "$4" > "$work/log" 2>&1 || { tail -n 3 "$work/log" >&2; return 1; }
  sed -n 's/.*accuracy = \([0-9.]*\).*/\1/p' "$work/log" | tail -n 1
}

strategies=(implicit winograd2 winograd4 winograd5)
printf '%-16s %10s' net iterations
printf ' %9s' "${strategies[@]}"
echo
# kernels is the kernel size of the net's convolutions. For 5x5 there is only one Winograd algorithm, F(4x4,5x5).
while read -r name kernels iterations rate; do
  printf '%-16s %10d' "$name" "$iterations"
  for strategy in "${strategies[@]}"; do
    case $kernels-$strategy in
      5x5-winograd2 | 5x5-winograd5) accuracy=- ;;
      *) accuracy=$(train "models/$name/train_val.prototxt" "$iterations" "$rate" "$strategy") ;;
    esac
    printf ' %9s' "$accuracy"
  done
  echo
done <<END
lenet 5x5 500 0.01
cifar10_quick 5x5 400 0.001
cifar10_resnet8 3x3 500 0.05
END
