#!/usr/bin/env bash
# Trains LeNet, CIFAR-10 quick and a small residual net with and without Winograd's convolution and prints the test accuracies.
# It needs bin/swcaffe and, in data/, the sets of "swcaffe dataset digits" and "swcaffe dataset shapes".
set -euo pipefail
cd "${ROOT:-$(dirname "${BASH_SOURCE[0]}")/..}"

swcaffe=${SWCAFFE:-bin/swcaffe}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# block NAME BOTTOM: a residual block of 32 maps.
block() {
  cat <<EOF
layer { name: "$1a" type: "Convolution" bottom: "$2" top: "$1a" convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "$1a_bn" type: "BatchNorm" bottom: "$1a" top: "$1a" batch_norm_param { moving_average_fraction: 0.9 } }
layer { name: "$1a_scale" type: "Scale" bottom: "$1a" top: "$1a" scale_param { bias_term: true } }
layer { name: "$1a_relu" type: "ReLU" bottom: "$1a" top: "$1a" }
layer { name: "$1b" type: "Convolution" bottom: "$1a" top: "$1b" convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "$1b_bn" type: "BatchNorm" bottom: "$1b" top: "$1b" batch_norm_param { moving_average_fraction: 0.9 } }
layer { name: "$1b_scale" type: "Scale" bottom: "$1b" top: "$1b" scale_param { bias_term: true } }
layer { name: "$1" type: "Eltwise" bottom: "$2" bottom: "$1b" top: "$1" }
layer { name: "$1_relu" type: "ReLU" bottom: "$1" top: "$1" }
EOF
}

{
  awk '/^layer/ { n++ } n < 3' models/cifar10_quick/train_val.prototxt
  cat <<'EOF'
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "conv_bn" type: "BatchNorm" bottom: "conv" top: "conv" batch_norm_param { moving_average_fraction: 0.9 } }
layer { name: "conv_scale" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "conv_relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
EOF
  block one pool
  block two one
  cat <<'EOF'
layer { name: "mean" type: "Pooling" bottom: "two" top: "mean" pooling_param { pool: AVE global_pooling: true } }
layer { name: "fc" type: "InnerProduct" bottom: "mean" top: "fc" inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "fc" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
EOF
} > "$work/residual.prototxt"

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
residual $work/residual.prototxt 100 0.05
EOF
