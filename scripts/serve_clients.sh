#!/usr/bin/env bash
# Runs the commands of docs/serve.md that use curl and Python against a server with LeNet, and all calls of the protocol with curl and with Node's fetch. It needs curl, and
# leaves out Python or Node, saying so, where they are not installed. Weights are those that the net's fillers give.
#
#   scripts/serve_clients.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
go build -o "$dir/swcaffe" ./cmd/swcaffe
printf 'net: "models/lenet/deploy.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 0 snapshot_prefix: "%s/w" random_seed: 1\n' "$dir" >"$dir/solver.prototxt"
"$dir/swcaffe" train -solver "$dir/solver.prototxt" 2>"$dir/train.log"
mkdir -p "$dir/models/lenet/1"
cp models/lenet/deploy.prototxt "$dir/models/lenet/1/"
cp "$dir/w_iter_0.caffemodel" "$dir/models/lenet/1/net.caffemodel"
seq -f 'digit %g' 0 9 >"$dir/models/lenet/labels.txt"
"$dir/swcaffe" serve -repository "$dir/models" -http 127.0.0.1:0 2>"$dir/serve.log" &
server=$!
until grep -q 'the server: ' "$dir/serve.log"; do
  kill -0 "$server" || { cat "$dir/serve.log" >&2; exit 1; }
  sleep 0.1
done
url=$(sed -n 's/.*the server: //p' "$dir/serve.log")

# A grey PNG of 2x2, under the name that the page uses: the format is told by the bytes.
base64 -d >"$dir/cat.jpg" <<<'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR4nGNg4GRg5AIAADYAFcZLn+AAAAAASUVORK5CYII='

# block LANGUAGE prints the page's blocks of a language, for this server.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" docs/serve.md | grep -v '^```' | sed "s#http://127.0.0.1:8000#$url#g"; }

# The nets with boxes are not here: their line is left out.
block sh | grep -v /ssd/ | sed 's/^curl /curl -fsS /' >"$dir/page.sh"
(cd "$dir" && bash -euo pipefail page.sh >page.out)
grep -c '"label":"digit ' "$dir/page.out" | grep -qx 3 || { cat "$dir/page.out"; exit 1; }
grep -q '"shape":\[1,10\]' "$dir/page.out" || { cat "$dir/page.out"; exit 1; }
echo "curl: the page's commands"

for call in 'GET /v2' 'GET /v2/health/live' 'GET /v2/health/ready' 'GET /v2/models/lenet' 'GET /v2/models/lenet/ready' 'GET /v2/models/lenet/versions/1' \
  'GET /v2/models/lenet/versions/1/ready' 'POST /v2/repository/index' 'POST /v2/repository/models/lenet/load' 'POST /v2/repository/models/lenet/unload' \
  'POST /v2/repository/models/lenet/load' 'GET /metrics'; do
  curl -fsS -X "${call% *}" "$url${call#* }" >"$dir/answer"
done
echo "curl: the other calls"

if command -v python3 >/dev/null; then
  block python >"$dir/page.py"
  python3 "$dir/page.py" | grep -q "'shape': \[1, 10\]"
  echo "Python: binary tensors"
else
  echo "Python is not installed: left out"
fi

if command -v node >/dev/null; then
  node -e "
    const check = (ok, what) => { if (!ok) throw new Error(what); };
    const ask = async (name, array) => {
      const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
      const input = {name: 'data', datatype: name, shape: [1, 1, 28, 28], parameters: {binary_data_size: bytes.length}};
      const head = Buffer.from(JSON.stringify({inputs: [input], parameters: {binary_data_output: true}}));
      const r = await fetch('$url/v2/models/lenet/infer', {method: 'POST', body: Buffer.concat([head, bytes]), headers: {'Inference-Header-Content-Length': String(head.length)}});
      check(r.status === 200, name + ': status ' + r.status);
      const body = Buffer.from(await r.arrayBuffer()), n = Number(r.headers.get('Inference-Header-Content-Length'));
      return Array.from({length: 10}, (_, i) => body.readFloatLE(n + 4 * i));
    };
    (async () => {
      const x = Array.from({length: 784}, (_, i) => i % 100), big = x.map(BigInt), want = await ask('FP32', Float32Array.from(x));
      for (const [name, a] of [['FP64', Float64Array.from(x)], ['INT64', BigInt64Array.from(big)], ['UINT64', BigUint64Array.from(big)], ['UINT8', Uint8Array.from(x)],
          ['INT8', Int8Array.from(x)], ['INT32', Int32Array.from(x)], ['UINT16', Uint16Array.from(x)]])
        check(String(await ask(name, a)) === String(want), name + ' has other results than FP32');
      const bad = await fetch('$url/v2/models/lenet/infer', {method: 'POST', body: '{}'});
      check(bad.status === 400 && (await bad.json()).error, 'a bad request has status ' + bad.status);
    })().catch(e => { console.error(e.message); process.exit(1); });"
  echo "Node: datatypes and an error"
else
  echo "Node is not installed: left out"
fi

kill -TERM "$server"
wait "$server"
server=
echo "SIGTERM: exit status 0"
