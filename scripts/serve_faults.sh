#!/usr/bin/env bash
# Starts swcaffe serve where something is wrong, and damages things under it: each fault must have a clear error, and the other models go on. It needs curl; where it may mount a file
# system of 64 KB, that one becomes full, else /dev/full is the full disk.
#
#   scripts/serve_faults.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=$(mktemp -d)
server='' mounted=''
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$mounted" ] || umount "$mounted" || true
  rm -rf "$dir"
}
trap cleanup EXIT
if [ -n "${SWCAFFE_TEST_BINARY:-}" ]; then ln -s "$SWCAFFE_TEST_BINARY" "$dir/swcaffe"; else go build -o "$dir/swcaffe" ./cmd/swcaffe; fi
sed 's/\(convolution_param\|inner_product_param\) {/\1 { weight_filler { type: "xavier" }/' models/lenet/deploy.prototxt >"$dir/fillers.prototxt" # deploy.prototxt has none: all weights would be 0
printf 'net: "%s/fillers.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 0 snapshot_prefix: "%s/w" random_seed: 1\n' "$dir" "$dir" >"$dir/solver.prototxt"
"$dir/swcaffe" train -solver "$dir/solver.prototxt" 2>"$dir/train.log"
weights=$dir/w_iter_0.caffemodel
add() { # NAME
  mkdir -p "$dir/models/$1/1"
  cp models/lenet/deploy.prototxt "$dir/models/$1/1/"
  cp "$weights" "$dir/models/$1/1/net.caffemodel"
}
fail() {
  echo "serve_faults.sh: $1" >&2
  tail -n 20 "$dir"/*.log >&2
  exit 1
}
begin() { # FLAG...
  rm -f "$dir/serve.log" # that of the server before would be read until the shell empties it
  "$dir/swcaffe" serve -repository "$dir/models" -http 127.0.0.1:0 "$@" 2>"$dir/serve.log" &
  server=$!
  until grep -qs 'the server: ' "$dir/serve.log"; do
    kill -0 "$server" 2>/dev/null || fail 'the server does not start'
    sleep 0.1
  done
  url=$(sed -n 's/.*the server: \([^ ]*\).*/\1/p' "$dir/serve.log")
}
stop() {
  kill -TERM "$server"
  wait "$server" || fail "the server ends with status $?"
  server=
}
body='{"inputs": [{"name": "data", "datatype": "FP32", "shape": [1, 1, 28, 28], "data": ['$(seq -s, 784)']}]}'
infer() { curl -fsS -d "$body" "$url/v2/models/$1/infer" | grep -q '"shape":\[1,10\]' || fail "model $1 does not answer"; } # NAME

add good
add damaged
head -c 100000 "$weights" >"$dir/models/damaged/1/net.caffemodel"
mkdir -p "$dir/models/empty/1"
begin
infer good
curl -fsS -X POST "$url/v2/repository/index" >"$dir/index"
for model in damaged empty; do
  grep -q "\"name\":\"$model\",\"version\":\"1\",\"state\":\"UNAVAILABLE\",\"reason\":\"[^\"]" "$dir/index" || fail "the index does not say why model $model is not served: $(cat "$dir/index")"
  grep -q "$model" "$dir/serve.log" || fail "the log does not name model $model"
done
echo "a damaged model and an empty one: named in the log and in the index, the other one answers"

head -c 200000 "$weights" >"$dir/models/good/1/net.caffemodel"
status=$(curl -s -o "$dir/answer" -w '%{http_code}' -X POST "$url/v2/repository/models/good/load")
[ "$status" = 400 ] && grep -q 'net.caffemodel' "$dir/answer" || fail "loading a damaged file: status $status, $(cat "$dir/answer")"
infer good
cp "$weights" "$dir/models/good/1/net.caffemodel"
cp "$weights" "$dir/models/damaged/1/net.caffemodel"
curl -fsS -X POST "$url/v2/repository/models/damaged/load" >/dev/null
infer damaged
rm -r "$dir/models/damaged"
infer damaged
echo "a model that is damaged while it is served: the call load says what is wrong, the old version goes on; mended files are taken in; files that vanish are not missed"

port=${url##*:}
if "$dir/swcaffe" serve -repository "$dir/models" -http "127.0.0.1:$port" 2>"$dir/second.log"; then fail 'two servers have one port'; fi
grep -q "127.0.0.1:$port: another program uses this port" "$dir/second.log" || fail 'the error does not name the port that is taken'
infer good
echo "a port that is taken: exit status 1, an error that names it; the first server goes on"
kill -KILL "$server"
wait "$server" 2>/dev/null || true
begin -grpc "127.0.0.1:$port"
infer good
stop
echo "killed: the next server has the port at once"

full=/dev/full
if [ "$(id -u)" = 0 ] && mkdir "$dir/small" && mount -t tmpfs -o size=64k tmpfs "$dir/small" 2>/dev/null; then
  mounted=$dir/small full=$dir/small/requests.json
  dd if=/dev/zero of="$dir/small/filler" bs=1k count=60 status=none
fi
begin -log_requests "$full" -trace "${full%requests.json}$([ "$full" = /dev/full ] || echo trace.json)"
for ((i = 0; i < 60; i++)); do infer good; done
grep -q 'a request is not logged: .*no space left on device' "$dir/serve.log" || fail 'the log does not say that the disk is full'
[ "$(grep -c 'a request is not logged' "$dir/serve.log")" = 1 ] || fail 'the log says the same for each request'
if [ -n "$mounted" ]; then rm "$dir/small/filler"; infer good; tail -n 1 "$full" | grep -q '"status":200' || fail 'requests are not logged when there is room again'; fi
stop
echo "a full disk ($([ -n "$mounted" ] && echo 'tmpfs of 64 KB' || echo /dev/full)): one warning, requests are answered${mounted:+, and logged again when there is room}"
