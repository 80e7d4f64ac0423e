#!/usr/bin/env bash
# Measures swcaffe serve: throughput at saturation beside what `time -forward_only` gives at its best batch, latencies at 80 % of the load at saturation, and the
# answers at 4 times that load. Each request has -items images as binary FP32. The load comes from npm's autocannon, in a process of its own on the same computer, which
# takes some of the cores. Weights are those that the nets' fillers give.
#
#   scripts/bench/serve.sh [-seconds N] [-batch N] [-items N] [NET...]
#
# NET is a folder of models/ (lenet, resnet50 by default), -seconds the time of each measurement (10), -batch the most items of a run (8), -items the images of a request (1).
# The ratios: images served to direct ones, the 99th percentile to the median at 80 %, and the median of answers at 4 times the load to that at saturation.
# autocannon is installed into build/autocannon if it is not there. build/swcaffe-serve is the program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=9.0.0 seconds=10 batch=8 items=1 nets=()
while (($#)); do
  case $1 in
    -seconds) seconds=$2; shift 2 ;;
    -batch) batch=$2; shift 2 ;;
    -items) items=$2; shift 2 ;;
    -*) echo "serve.sh: no option $1; there are -seconds, -batch and -items" >&2; exit 2 ;;
    *) nets+=("$1"); shift ;;
  esac
done
((${#nets[@]})) || nets=(lenet resnet50)
if [ ! -d build/autocannon/node_modules/autocannon ]; then
  mkdir -p build/autocannon
  npm install --prefix build/autocannon --no-audit --no-fund --ignore-scripts --silent "autocannon@$version"
fi
go build -o build/swcaffe-serve ./cmd/swcaffe
swcaffe=$PWD/build/swcaffe-serve
dir=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT

# field FILE EXPRESSION prints a value of a JSON file.
field() { node -p "const r = JSON.parse(require('fs').readFileSync('$1')); $2"; }

# with_batch NET N prints a net whose input has N items.
with_batch() { sed "0,/dim: *[0-9]*/s//dim: $2/" "$1"; }

# direct NET WEIGHTS prints the images a second of time -forward_only at the best batch, and that batch.
direct() {
  local n
  for ((n = 1; n <= batch; n *= 2)); do
    with_batch "$1" "$n" >"$dir/batch.prototxt"
    "$swcaffe" time -model "$dir/batch.prototxt" -weights "$2" -phase TEST -forward_only -iterations 20 -json "$dir/time.json" >/dev/null 2>"$dir/time.log"
    echo "$(field "$dir/time.json" "r.total.images_per_s") $n"
  done | sort -g | tail -1
}

# load NAME CONNECTIONS RATE sends requests for some seconds, at a rate or (0) as fast as answers come. $dir/NAME.json has the result. autocannon's command reads
# bodies as text, so its library is called.
load() {
  NODE_PATH=build/autocannon/node_modules node -e "
    const fs = require('fs');
    require('autocannon')({
      url: '$url', method: 'POST', body: fs.readFileSync('$dir/body'), headers: {'Inference-Header-Content-Length': '$head'},
      connections: $2, duration: $seconds, ...($3 ? {overallRate: $3} : {}),
    }).then(r => fs.writeFileSync('$dir/$1.json', JSON.stringify(r)));"
}

printf '%-10s %10s %6s %10s %6s %8s %8s %6s %8s %8s %8s %8s %6s\n' net 'direct/s' batch 'served/s' ratio 'p50 80%' 'p99 80%' ratio 'x4 200s' 'x4 429s' 'x4 other' 'p50 x4' ratio
for net in "${nets[@]}"; do
  deploy=models/$net/deploy.prototxt
  sed 's/\(convolution_param\|inner_product_param\) {/\1 { weight_filler { type: "xavier" }/' "$deploy" >"$dir/fillers.prototxt"
  printf 'net: "%s/fillers.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 0 snapshot_prefix: "%s/w" random_seed: 1\n' "$dir" "$dir" >"$dir/solver.prototxt"
  "$swcaffe" train -solver "$dir/solver.prototxt" 2>"$dir/train.log"
  weights=$dir/w_iter_0.caffemodel
  read -r images best < <(direct "$deploy" "$weights")
  "$swcaffe" serve -model "$deploy" -weights "$weights" -batch "$batch" -http 127.0.0.1:0 2>"$dir/serve.log" &
  server=$!
  until grep -q 'the server: ' "$dir/serve.log"; do
    kill -0 "$server" || { cat "$dir/serve.log" >&2; exit 1; }
    sleep 0.1
  done
  url=$(sed -n 's/.*the server: //p' "$dir/serve.log")
  curl -fs "$url/v2/models/model" >"$dir/about.json"
  node -e "
    const about = JSON.parse(require('fs').readFileSync('$dir/about.json')), shape = [$items, ...about.inputs[0].shape.slice(1)];
    const values = Buffer.from(Float32Array.from({length: shape.reduce((a, b) => a * b)}, (_, i) => i % 7).buffer);
    const input = {name: about.inputs[0].name, datatype: 'FP32', shape, parameters: {binary_data_size: values.length}};
    const head = Buffer.from(JSON.stringify({inputs: [input], parameters: {binary_data_output: true}}));
    require('fs').writeFileSync('$dir/body', Buffer.concat([head, values]));
    require('fs').writeFileSync('$dir/head', String(head.length));"
  head=$(cat "$dir/head") url=$url/v2/models/model/infer
  load warm 2 0
  load full $((4 * batch)) 0
  answered=$(field "$dir/full.json" "r['2xx'] / r.duration")
  served=$(node -p "$answered * $items")
  rate=$(node -p "Math.max(1, Math.round($answered * 0.8))")
  load part $((2 * batch < rate ? 2 * batch : rate)) "$rate"
  load over $((16 * batch)) $((rate * 5))
  printf '%-10s %10.1f %6d %10.1f %6.3f %8s %8s %6.2f %8s %8s %8s %8s %6.2f\n' "$net" "$images" "$best" "$served" "$(node -p "$served / $images")" \
    "$(field "$dir/part.json" r.latency.p50)" "$(field "$dir/part.json" r.latency.p99)" "$(field "$dir/part.json" "r.latency.p99 / Math.max(r.latency.p50, 1)")" \
    "$(field "$dir/over.json" "r['2xx']")" "$(field "$dir/over.json" "(r.statusCodeStats['429'] || {count: 0}).count")" \
    "$(field "$dir/over.json" "r.non2xx - (r.statusCodeStats['429'] || {count: 0}).count + r.errors")" "$(field "$dir/over.json" r.latency.p50)" \
    "$(node -p "$(field "$dir/over.json" r.latency.p50) / Math.max($(field "$dir/full.json" r.latency.p50), 1)")"
  kill "$server"
  wait "$server"
  server=
done
