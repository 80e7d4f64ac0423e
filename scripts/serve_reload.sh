#!/usr/bin/env bash
# Exchanges a model of swcaffe serve under load: every answer must be that of the weights which the server has, no request may fail, and the server's memory and its
# open files must not grow. It needs Node. Weights are those that fillers give LeNet, of two seeds.
#
#   scripts/serve_reload.sh [-reloads N] [-seconds N] [-clients N] [-rate N] [-every N]
#
# -reloads is the number of exchanges (1000), -clients that of clients, each with a request at a time (4). -seconds N asks for N seconds instead, with an exchange every
# two, or -every N: a soak. -rate is the number of requests a second after the first minute (0: as many as there are answers).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
reloads=1000 seconds=0 clients=4 rate=0 every=2
while (($#)); do
  case $1 in
    -reloads) reloads=$2; shift 2 ;;
    -seconds) seconds=$2; shift 2 ;;
    -clients) clients=$2; shift 2 ;;
    -rate) rate=$2; shift 2 ;;
    -every) every=$2; shift 2 ;;
    *) echo "serve_reload.sh: no option $1; there are -reloads, -seconds, -clients, -rate and -every" >&2; exit 2 ;;
  esac
done
command -v node >/dev/null || { echo "serve_reload.sh: Node is not installed" >&2; exit 2; }
dir=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
if [ -n "${SWCAFFE_TEST_BINARY:-}" ]; then ln -s "$SWCAFFE_TEST_BINARY" "$dir/swcaffe"; else go build -o "$dir/swcaffe" ./cmd/swcaffe; fi
sed 's/\(convolution_param\|inner_product_param\) {/\1 { weight_filler { type: "xavier" }/' models/lenet/deploy.prototxt >"$dir/fillers.prototxt" # deploy.prototxt has none: all weights would be 0
for seed in 1 2; do
  printf 'net: "%s/fillers.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 0 snapshot_prefix: "%s/w%d" random_seed: %d\n' "$dir" "$dir" $seed $seed >"$dir/solver.prototxt"
  "$dir/swcaffe" train -solver "$dir/solver.prototxt" 2>"$dir/train.log"
done
mkdir -p "$dir/models/lenet/1"
cp models/lenet/deploy.prototxt "$dir/models/lenet/1/"
cp "$dir/w1_iter_0.caffemodel" "$dir/models/lenet/1/net.caffemodel"
"$dir/swcaffe" serve -repository "$dir/models" -http 127.0.0.1:0 2>"$dir/serve.log" &
server=$!
until grep -qs 'the server: ' "$dir/serve.log"; do
  kill -0 "$server" || { cat "$dir/serve.log" >&2; exit 1; }
  sleep 0.1
done
node scripts/serve_clients/reload.js "$(sed -n 's/.*the server: \([^ ]*\).*/\1/p' "$dir/serve.log")" "$dir" "$server" "$reloads" "$seconds" "$clients" "$rate" "$every"
kill -TERM "$server"
wait "$server"
server=
