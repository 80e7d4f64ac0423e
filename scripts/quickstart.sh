#!/usr/bin/env bash
# From a fresh clone to a trained net: builds swcaffe, renders digits unless they exist, and trains LeNet on them. It fails if
# less than 99 % of the test images are classified correctly. Needs Go only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/alive.sh

wanted=0.99
log=$(mktemp)
trap 'rm -f "$log"' EXIT
step() { printf '\n== [%3d s] %s\n' "$SECONDS" "$*"; }

step "build bin/swcaffe; the first time Go compiles all packages, which takes a minute or more"
CGO_ENABLED=0 alive go build -o bin/swcaffe ./cmd/swcaffe
bin/swcaffe version

if [ -e data/digits_train_lmdb ] && [ -e data/digits_test_lmdb ]; then
  step "digits are in data/ already"
else
  step "render digits into data/"
  bin/swcaffe dataset digits -out data -train 20000 -test 4000 -force
fi

# Without a loopback interface, as in some sandboxes, the run has no page.
page=(-http 127.0.0.1:0)
if [[ "$( (: </dev/tcp/127.0.0.1/1) 2>&1)" == *unreachable* ]]; then page=(); fi
step "train models/lenet"
if [ -n "${page:-}" ]; then echo "To watch it in a browser, open the address in the line 'The run's page'."; fi
bin/swcaffe train -solver models/lenet/solver.prototxt ${page[@]+"${page[@]}"} 2>&1 | tee "$log"

# The last line of the test net's accuracy: "... Test net output #0: accuracy = 0.9945".
accuracy=$(sed -n 's/.*Test net output #[0-9]*: accuracy = \([0-9.eE+-]*\).*/\1/p' "$log" | tail -n 1)
step "done"
echo "test accuracy: ${accuracy:?no accuracy in the log}"
awk -v got="$accuracy" -v wanted="$wanted" 'BEGIN { exit !(got >= wanted) }' || {
  echo "that is less than $wanted" >&2
  exit 1
}

cat <<'END'

What next:

  bin/swcaffe test -model models/lenet/train_val.prototxt -weights models/lenet/lenet_iter_2000.caffemodel -iterations 40 -report report
                             writes report/index.html: the confusion matrix, and the misclassified digits
  bin/swcaffe dataset mnist
                             brings in MNIST, as data/mnist_train_lmdb and data/mnist_test_lmdb, through Go's modules or -from a folder;
                             scripts/mnist.py -parts lenet -seeds 1 trains LeNet on it as Caffe's example does
  bin/swcaffe init pets photos
                             prepares a training on images of your own, with a folder for each class; docs/images.md goes from there to answers
  bin/swcaffe check solver.prototxt
                             finds the faults of a solver or net that you have
  bin/swcaffe help           lists all commands
END
