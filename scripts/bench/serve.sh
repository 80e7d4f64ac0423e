#!/usr/bin/env bash
# Measures swcaffe serve: milliseconds from the start of the process until it is ready; throughput at saturation beside what `time -forward_only` gives at its best batch, latencies at
# 80 % of the load at saturation, and the answers at 4 times that load; then each two nets together, on one server; and beside each, ONNX Runtime behind a server of Node's. A table at
# the end has each figure with what is asked of it. With -seconds 4 it takes about eight minutes. Each request has images as binary FP32. The load comes from a process of its own on
# the same computer, which takes some of the cores: npm's autocannon, and for latencies vegeta, whose requests are evenly apart (autocannon sends those of a second at its beginning); the
# load at saturation of which it sends 80 % is vegeta's own. Latencies are measured five times; the middle one counts. So the seconds that the processors spend on an image are printed too, in the server with its kernel's part, and in the
# direct run: their ratio holds also where the load takes cores, but not where other programs run. The ratios of the second kind are to the direct images times the part of the cores' time
# that the load has not taken. Weights are those that the nets' fillers give.
#
#   scripts/bench/serve.sh [-seconds N] [-batch N] [-iterations N] [-no_peer] [NET[:ITEMS]...]
#
# NET is a folder of models/, or mobilenet, ITEMS the images of a request (1); lenet:256, mobilenet and resnet50 by default, since a digit costs less than a request. -seconds is
# the time of each measurement (10), -batch the most items of a run (8; of a net whose requests have more, as many), -iterations those of the runs that find the best batch (20).
# -no_peer leaves out ONNX Runtime. The ratios: images served to direct ones at that batch, which are the mean of a run before the load and one after it, as long as the load, since a computer's
# speed changes meanwhile; the 99th percentile to the median at 80 %; and the median of answers at 4 times the load to that at saturation. The queue is
# as long as the load at saturation; at 4 times the load it is shorter by the requests of a run, so that those which are accepted wait for as many others as at saturation.
# autocannon, vegeta and onnxruntime-node are installed into build/ if they are not there. build/swcaffe-serve is the program.
set -eEuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cannon=9.0.0 vegeta=v12.12.0 runtime=1.30.0 seconds=10 batch=8 iterations=20 peer=1 windows=5 nets=()
while (($#)); do
  case $1 in
    -seconds) seconds=$2; shift 2 ;;
    -batch) batch=$2; shift 2 ;;
    -iterations) iterations=$2; shift 2 ;;
    -no_peer) peer=; shift ;;
    -*) echo "serve.sh: no option $1; there are -seconds, -batch, -iterations and -no_peer" >&2; exit 2 ;;
    *) nets+=("$1"); shift ;;
  esac
done
((${#nets[@]})) || nets=(lenet:256 mobilenet resnet50)
declare -A images_of # of a request
for ((i = 0; i < ${#nets[@]}; i++)); do
  name=${nets[i]%:*}
  images_of[$name]=1
  [ "$name" = "${nets[i]}" ] || images_of[$name]=${nets[i]#*:}
  nets[i]=$name
done

# package FOLDER NAME VERSION installs one of npm's into build/FOLDER.
package() {
  [ -d "build/$1/node_modules/$2" ] && return
  mkdir -p "build/$1"
  npm install --prefix "build/$1" --no-audit --no-fund --ignore-scripts --silent "$2@$3"
}
package autocannon autocannon "$cannon"
[ -x build/vegeta/vegeta ] || GOBIN=$PWD/build/vegeta go install "github.com/tsenart/vegeta/v12@$vegeta"
[ -z "$peer" ] || package onnxruntime onnxruntime-node "$runtime"
go build -o build/swcaffe-serve ./cmd/swcaffe
swcaffe=$PWD/build/swcaffe-serve
dir=$(mktemp -d)
server=
stop() {
  [ -n "$server" ] || return 0
  kill "$server" 2>/dev/null || true
  wait "$server" || true
  server=
}
# failed says which command ended the script, and what the programs have written to their logs: their standard error is not seen otherwise.
failed() {
  trap - ERR
  echo "serve.sh: line $2: status $1: $3" >&2
  tail -n 5 "$dir"/*.log "$dir"/*.errors >&2 2>/dev/null
  uptime >&2
}
trap 'failed $? $LINENO "$BASH_COMMAND"' ERR
trap 'stop; rm -rf "$dir"' EXIT

# field FILE EXPRESSION prints a value of a JSON file.
field() { node -p "const r = JSON.parse(require('fs').readFileSync('$1')); $2"; }

# prepare NET writes NET.prototxt, NET.caffemodel and, for the peer, NET.onnx.
prepare() {
  local of=$dir/$1
  if [ "$1" = mobilenet ]; then
    (cd scripts/bench && python3 -c 'import nets; print(nets.deploy(nets.mobilenet()))') >"$of.prototxt"
    cp "$of.prototxt" "$of.fillers"
  else
    cp "models/$1/deploy.prototxt" "$of.prototxt"
    sed 's/\(convolution_param\|inner_product_param\) {/\1 { weight_filler { type: "xavier" }/' "$of.prototxt" >"$of.fillers"
  fi
  printf 'net: "%s" base_lr: 0.01 lr_policy: "fixed" max_iter: 0 snapshot_prefix: "%s" random_seed: 1\n' "$of.fillers" "$of" >"$dir/solver.prototxt"
  "$swcaffe" train -solver "$dir/solver.prototxt" 2>"$dir/train.log"
  mv "${of}_iter_0.caffemodel" "$of.caffemodel"
  [ -z "$peer" ] || "$swcaffe" export_onnx -model "$of.prototxt" -weights "$of.caffemodel" -batch "${images_of[$1]}" -fold -o "$of.onnx" >/dev/null 2>"$dir/export.log"
}

# run_direct NET N ITERATIONS prints the images a second of time -forward_only for batches of N, and the processors' seconds for the whole command.
run_direct() {
  sed "0,/dim: *[0-9]*/s//dim: $2/" "$dir/$1.prototxt" >"$dir/batch.prototxt"
  TIMEFORMAT='%U %S'
  { time "$swcaffe" time -model "$dir/batch.prototxt" -weights "$dir/$1.caffemodel" -phase TEST -forward_only -iterations "$3" -json "$dir/time.json" >/dev/null 2>"$dir/time.log"; } 2>"$dir/times"
  echo "$(field "$dir/time.json" r.total.images_per_s) $(awk '{print $1 + $2}' "$dir/times")"
}

# most NET... prints the most items of a run: of one net with large requests, as many as these have.
most() { if (($# == 1 && ${images_of[$1]} > batch)); then echo "${images_of[$1]}"; else echo "$batch"; fi; }

# direct NET finds a net's best batch and how many iterations take as long as a measurement, and measures their speed, as again does; cost becomes the processors' milliseconds an image:
# that of these iterations without what the command does before them.
direct() {
  local speed few many
  read -r speed few best[$1] < <(for ((n = 1; n <= $(most "$1"); n *= 2)); do echo "$(run_direct "$1" "$n" "$iterations") $n"; done | sort -g | tail -1)
  long[$1]=$(node -p "$iterations + Math.ceil($seconds * $speed / ${best[$1]})")
  read -r now[$1] many < <(run_direct "$1" "${best[$1]}" "${long[$1]}")
  cost=$(node -p "(1000 * ($many - $few) / ((${long[$1]} - $iterations) * ${best[$1]})).toFixed(3)")
}

# again NET measures a net's direct speed again: speed becomes the mean of the images a second before and now.
again() {
  local before=${now[$1]}
  read -r now[$1] _ < <(run_direct "$1" "${best[$1]}" "${long[$1]}")
  speed[$1]=$(node -p "(($before + ${now[$1]}) / 2).toFixed(1)")
}

# alone NET prints by window, the middle one first, the 99th percentile over the median that requests at 80 % of the load would have in a server that takes no time but the net's: runs of
# one request each, as long as those of time -forward_only, one after the other. That much of a tail is the computer's own.
alone() {
  local items=${images_of[$1]} speed
  read -r speed _ < <(run_direct "$1" "$items" "$iterations")
  run_direct "$1" "$items" "$(node -p "Math.ceil($windows * ($seconds / 2 + 1) * 0.8 * $speed / $items)")" >/dev/null
  node -p "
    const times = [...require('fs').readFileSync('$dir/time.log', 'utf8').matchAll(/Iteration: \\d+ forward time: (\\S+) ms/g)].map(m => +m[1]);
    const gap = times.reduce((a, b) => a + b) / times.length / 0.8, many = Math.floor(times.length / $windows);
    let free = 0;
    const waits = times.map((t, i) => (free = Math.max(free, i * gap) + t) - i * gap);
    const tails = [...Array($windows).keys()].map(k => waits.slice(k * many, (k + 1) * many).sort((a, b) => a - b)).map(w => (w[Math.floor(0.99 * many)] / w[many >> 1]).toFixed(2));
    tails.sort((a, b) => a - b);
    tails[$windows >> 1] + ' (' + tails.join(' ') + ')'"
}

# body NET writes a request for a net, whose server is at url.
body() {
  curl -fsS "$url/v2/models/$1" >"$dir/about.json"
  node -e "
    const about = JSON.parse(require('fs').readFileSync('$dir/about.json')), shape = [${images_of[$1]}, ...about.inputs[0].shape.slice(1)];
    const values = Buffer.from(Float32Array.from({length: shape.reduce((a, b) => a * b)}, (_, i) => i % 7).buffer);
    const input = {name: about.inputs[0].name, datatype: 'FP32', shape, parameters: {binary_data_size: values.length}};
    const head = Buffer.from(JSON.stringify({inputs: [input], parameters: {binary_data_output: true}}));
    require('fs').writeFileSync('$dir/$1.body', Buffer.concat([head, values]));
    require('fs').writeFileSync('$dir/$1.body.head', String(head.length));"
}

# await LOG waits for a server's address in its log, and puts it into url.
await() {
  until grep -qs 'the server: ' "$1"; do
    kill -0 "$server" || { cat "$1" >&2; exit 1; }
    sleep 0.1
  done
  url=$(sed -n 's/.*the server: //p' "$1")
}

# serve NET... starts a server with nets.
serve() {
  local models=() net
  for net in "$@"; do models+=(-model "$dir/$net.prototxt" -weights "$dir/$net.caffemodel" -name "$net"); done
  : >"$dir/serve.log" # await must not read that of the server before
  "$swcaffe" serve "${models[@]}" -batch "$(most "$@")" -queue "$queue" -http 127.0.0.1:0 2>"$dir/serve.log" &
  server=$!
  await "$dir/serve.log"
  settle
}

# ticks prints the processors' time of the server.
ticks() { awk '{print $14 + $15}' "/proc/$server/stat"; }

# settle waits until the server has made its plans: it computes nothing then, for two looks in a row, since on a busy computer it may get no processor for one.
settle() {
  local before=-9 quiet=0
  while ((quiet < 2)); do
    if (($(ticks) - before < 3)); then quiet=$((quiet + 1)); else quiet=0; fi
    before=$(ticks)
    sleep 0.5
  done
}

# starts NET prints the median and the least of the milliseconds from the start of the server's process until it says that it is ready, 11 times.
starts() { node scripts/bench/serve_start.js "$swcaffe" serve -model "$dir/$1.prototxt" -weights "$dir/$1.caffemodel" -http 127.0.0.1:0; }

# serve_peer NET... starts ONNX Runtime's server.
serve_peer() {
  local models=() net
  for net in "$@"; do models+=("$net=$dir/$net.onnx"); done
  : >"$dir/peer.log"
  NODE_PATH=build/onnxruntime/node_modules TMPDIR=$dir node scripts/bench/serve_peer.js "${models[@]}" >"$dir/peer.log" 2>"$dir/peer.errors" &
  server=$!
  await "$dir/peer.log"
}

# load NAME CONNECTIONS RATE NET... sends requests for nets. $dir/NAME.json has the results; cpu has the processors' seconds of the server, left the part of the cores' time that
# the load has left to others while it went on.
load() {
  local name=$1 connections=$2 rate=$3 net targets=() before
  shift 3
  for net in "$@"; do targets+=("$url/v2/models/$net/infer" "$dir/$net.body"); done
  before=$(ticks)
  NODE_PATH=build/autocannon/node_modules node scripts/bench/serve_load.js "$dir/$name.json" "$connections" "$seconds" "$rate" "${targets[@]}" 2>"$dir/$name.errors"
  left=$(field "$dir/$name.json" "1 - r[0].cpu / ($(nproc) * r[0].duration)")
  cpu=$(node -p "($(ticks) - $before) / $(getconf CLK_TCK)")
}

# even NAME RATE NET sends requests for a net, evenly apart, or (0) as fast as answers come to as many clients as autocannon has. $dir/NAME.json has the results.
even() {
  local rate=(-rate "$2/1s")
  [ "$2" != 0 ] || rate=(-rate 0 -max-workers "$connections")
  printf 'POST %s/v2/models/%s/infer\nInference-Header-Content-Length: %s\n@%s\n' "$url" "$3" "$(cat "$dir/$3.body.head")" "$dir/$3.body" >"$dir/targets"
  build/vegeta/vegeta attack -targets "$dir/targets" "${rate[@]}" -duration "$((seconds / 2 + 1))s" | build/vegeta/vegeta report -type json >"$dir/$1.json"
}

# middle writes part.json: the window whose 99th percentile over the median is in the middle of those of part0.json and so on, with all windows' requests without a 200.
middle() {
  node -e "
    const fs = require('fs'), all = [...Array($windows).keys()].map(i => JSON.parse(fs.readFileSync('$dir/part' + i + '.json')));
    const tail = r => r.latencies['99th'] / r.latencies['50th'], failed = r => r.requests - (r.status_codes['200'] || 0);
    all.sort((a, b) => tail(a) - tail(b));
    fs.writeFileSync('$dir/part.json', JSON.stringify({...all[all.length >> 1], failed: all.reduce((n, r) => n + failed(r), 0), tails: all.map(r => tail(r).toFixed(2)).join(' ')}));"
}

# resident prints the server's memory in MB.
resident() { awk '/VmRSS/ {printf "%d", $2 / 1000}' "/proc/$server/status"; }

# asked WHAT VALUE OPERATOR LIMIT adds a line to the table at the end.
verdicts=()
asked() { verdicts+=("$(node -p "'$1'.padEnd(60) + ' ' + (+($2)).toFixed(3).padStart(10) + '  asked $3 ' + (+($4)).toFixed(3).padEnd(10) + (($2) $3 ($4) ? '' : '  MISSED')")"); }

# served NAME I ITEMS prints the images a second of the results' entry I, of requests with ITEMS images.
served() { field "$dir/$1.json" "(r[${2:-0}]['2xx'] * $3 / r[${2:-0}].duration).toFixed(1)"; }

connections=$((4 * batch)) queue=$connections
too='(r[0].statusCodeStats["429"] || {count: 0}).count'
printf '%-10s %9s %6s %9s %9s %6s %9s %8s %8s %6s %8s %8s %8s %8s %6s %9s\n' net direct/s batch 'cpu ms' served/s ratio 'cpu ms' 'p50 80%' 'p99 80%' ratio 'x4 200s' 'x4 429s' 'x4 other' 'p50 x4' ratio ORT/s
declare -A best long now speed starting held tails own
for net in "${nets[@]}"; do
  prepare "$net"
  items=${images_of[$net]}
  starting[$net]=$(starts "$net")
  direct "$net"
  own[$net]=$(alone "$net")
  serve "$net"
  held[$net]=$(resident)
  body "$net"
  seconds=3 load warm 2 0 "$net"
  load full "$connections" 0 "$net"
  rest=$left
  spent=$(node -p "(1000 * $cpu / ($(field "$dir/full.json" "r[0]['2xx']") * $items)).toFixed(3)")
  answered=$(field "$dir/full.json" "r[0]['2xx'] / r[0].duration")
  again "$net"
  even all 0 "$net"
  for ((i = 0; i < windows; i++)); do even "part$i" "$(field "$dir/all.json" 'Math.max(1, Math.round(r.throughput * 0.8))')" "$net"; done
  middle
  stop
  queue=$((connections - (batch > items ? batch / items : 1))) serve "$net"
  body "$net"
  seconds=2 load over $((4 * connections)) "$(node -p "Math.ceil(4 * $answered)")" "$net" # memory for as many requests at a time
  before=$(resident)
  load over $((4 * connections)) "$(node -p "Math.ceil(4 * $answered)")" "$net"
  after=$(resident)
  stop
  other=-
  if [ -n "$peer" ]; then
    serve_peer "$net"
    seconds=3 load peerwarm 2 0 "$net"
    load peer "$connections" 0 "$net"
    [ "$(field "$dir/peer.json" 'r[0].non2xx')" = 0 ] || { echo "ONNX Runtime's server fails for $net" >&2; cat "$dir/peer.errors" >&2; exit 1; }
    other=$(served peer 0 "$items")
    stop
  fi
  ratio=$(node -p "$(served full 0 "$items") / ${speed[$net]}") slower=$(field "$dir/over.json" "r[0].answered.p50 / $(field "$dir/full.json" 'r[0].answered.p50')")
  wrong=$(field "$dir/over.json" "r[0].non2xx - $too + r[0].errors") tail=$(field "$dir/part.json" 'r.latencies["99th"] / r.latencies["50th"]')
  printf '%-10s %9.1f %6d %9s %9s %6.3f %9s %8.2f %8.2f %6.2f %8s %8s %8s %8.2f %6.2f %9s\n' "$net" "${speed[$net]}" "${best[$net]}" "$cost" "$(served full 0 "$items")" "$ratio" "$spent" \
    "$(field "$dir/part.json" 'r.latencies["50th"] / 1e6')" "$(field "$dir/part.json" 'r.latencies["99th"] / 1e6')" "$tail" \
    "$(field "$dir/over.json" 'r[0]["2xx"]')" "$(field "$dir/over.json" "$too")" "$wrong" "$(field "$dir/over.json" 'r[0].answered.p50')" "$slower" "$other"
  asked "$net: milliseconds until it is ready" "${starting[$net]%% *}" '<=' 100
  asked "$net: images a second, of the direct ones" "$ratio" '>=' 0.9
  asked "$net: the same, on the cores that the load leaves" "$ratio / $rest" '>=' 0.9
  asked "$net: 99th percentile to median at 80 %" "$tail" '<=' 3
  tails[$net]=$(field "$dir/part.json" r.tails)
  asked "$net: 80 %: requests that were not answered 200" "$(field "$dir/part.json" r.failed)" '<=' 0
  asked "$net: 4 times the load: answers but 200 and 429" "$wrong" '<=' 0
  asked "$net: 4 times the load: median to that at saturation" "$slower" '<=' 1.3
  asked "$net: 4 times the load: memory after to before" "$after / $before" '<=' 1.1
  [ -z "$peer" ] || asked "$net: images a second, of ONNX Runtime" "$(served full 0 "$items") / $other" '>=' 1
done
# together NET... measures nets on one server: what each has of its direct speed, and all together.
together() {
  local net part i items all=0 others=0 rest
  for net in "$@"; do again "$net"; done
  serve "$@"
  for net in "$@"; do body "$net"; done
  seconds=3 load warm 2 0 "$@"
  load together "$connections" 0 "$@"
  rest=$left
  stop
  for net in "$@"; do again "$net"; done
  if [ -n "$peer" ]; then
    serve_peer "$@"
    seconds=3 load peerwarm 2 0 "$@"
    load peer "$connections" 0 "$@"
    stop
  fi
  for ((i = 0; i < $#; i++)); do
    net=${*:i+1:1} items=${images_of[${*:i+1:1}]}
    part=$(node -p "$(served together $i "$items") / ${speed[$net]}")
    all=$(node -p "$all + $part")
    [ -z "$peer" ] || others=$(node -p "$others + $(served peer $i "$items") / ${speed[$net]}")
    printf '%-10s %9s %6.3f   ORT %9s\n' "$net" "$(served together $i "$items")" "$part" "$([ -z "$peer" ] && echo - || served peer $i "$items")"
    asked "$net of $*: its part of its direct speed" "$part" '>=' "0.9 / $#"
  done
  printf '%-10s %9s %6.3f\n' sum '' "$all"
  asked "$*: the parts together" "$all" '>=' 0.9
  asked "$*: the same, on the cores that the load leaves" "$all / $rest" '>=' 0.9
  [ -z "$peer" ] || asked "$*: the parts together, of ONNX Runtime" "$all / $others" '>=' 1
}

if ((${#nets[@]} > 1)); then
  echo
  echo "two on one server, images a second and their part of the direct speed:"
  for ((a = 0; a < ${#nets[@]}; a++)); do
    for ((b = a + 1; b < ${#nets[@]}; b++)); do together "${nets[a]}" "${nets[b]}"; done
  done
fi
echo
for net in "${nets[@]}"; do echo "$net: ready after ${starting[$net]}; ${held[$net]} MB with all plans; at 80 %, the 99th percentile over the median by window: ${tails[$net]}; in a server that takes no time of its own ${own[$net]}"; done
if command -v cc >/dev/null; then
  cc -O2 -pthread -o "$dir/read" scripts/bench/read.c
  for net in "${nets[@]}"; do "$dir/read" "$dir/$net.caffemodel"; done
fi
uptime
printf '%s\n' "${verdicts[@]}"
printf '%s\n' "$SECONDS seconds"
