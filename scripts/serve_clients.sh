#!/usr/bin/env bash
# Runs all commands of docs/serve.md against a server with LeNet and a small net with a detection layer, and clients of all calls of the protocol: over HTTP with curl, Go and Node's fetch, over gRPC in Python
# (Debian's python3-grpcio, protobuf-compiler), Node (npm's @grpc/grpc-js and @grpc/proto-loader, which it installs into build/grpc) and C++ (Debian's
# protobuf-compiler-grpc, libgrpc++-dev and libprotobuf-dev; compiled into build/grpc), and grpcurl (which Go installs into build/grpc). It needs curl, and leaves out the others, saying so, where they are not installed.
# Weights are those of fillers. SWCAFFE_TEST_BINARY names a program to use in the place of one that it builds.
#
#   scripts/serve_clients.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=$(mktemp -d) clients=$PWD/scripts/serve_clients
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
if [ -n "${SWCAFFE_TEST_BINARY:-}" ]; then ln -s "$SWCAFFE_TEST_BINARY" "$dir/swcaffe"; else go build -o "$dir/swcaffe" ./cmd/swcaffe; fi
sed 's/\(convolution_param\|inner_product_param\) {/\1 { weight_filler { type: "xavier" }/' models/lenet/deploy.prototxt >"$dir/fillers.prototxt" # deploy.prototxt has none: all weights would be 0
cat >"$dir/boxes.prototxt" <<'END' # two cells, each of which finds an object
layer { name: "x" type: "Input" top: "data" input_param { shape { dim: [1, 3, 20, 40] } } transform_param { mean_value: 10 scale: 0.1 } }
layer { name: "codes" type: "InnerProduct" bottom: "data" top: "codes" inner_product_param { num_output: 8 } }
layer { name: "scores" type: "InnerProduct" bottom: "data" top: "scores" inner_product_param { num_output: 4 bias_filler { value: 0.75 } } }
layer { name: "map" type: "Pooling" bottom: "data" top: "map" pooling_param { kernel_size: 20 stride: 20 } }
layer { name: "prior" type: "PriorBox" bottom: "map" bottom: "data" top: "prior" prior_box_param { min_size: 8 } }
layer { name: "out" type: "DetectionOutput" bottom: "codes" bottom: "scores" bottom: "prior" top: "out" detection_output_param { num_classes: 2 confidence_threshold: 0.1 } }
END
# weights NET FILE writes the weights that a net's fillers give.
weights() {
  printf 'net: "%s" base_lr: 0.01 lr_policy: "fixed" max_iter: 0 snapshot_prefix: "%s/w" random_seed: 1\n' "$1" "$dir" >"$dir/solver.prototxt"
  "$dir/swcaffe" train -solver "$dir/solver.prototxt" 2>"$dir/train.log"
  mv "$dir/w_iter_0.caffemodel" "$2"
}
mkdir -p "$dir/models/lenet/1" "$dir/models/ssd/1"
cp models/lenet/deploy.prototxt "$dir/models/lenet/1/"
cp "$dir/boxes.prototxt" "$dir/models/ssd/1/deploy.prototxt"
weights "$dir/fillers.prototxt" "$dir/models/lenet/1/net.caffemodel"
weights "$dir/boxes.prototxt" "$dir/models/ssd/1/net.caffemodel"
seq -f 'digit %g' 0 9 >"$dir/models/lenet/labels.txt"

# begin FLAG... starts a server in the folder; finish ends it.
begin() {
  rm -f "$dir/serve.log"
  (cd "$dir" && exec ./swcaffe serve "$@" -http 127.0.0.1:0 2>serve.log) &
  server=$!
  until grep -qs 'the server: ' "$dir/serve.log"; do
    kill -0 "$server" || { cat "$dir/serve.log" >&2; exit 1; }
    sleep 0.1
  done
}
finish() {
  kill -TERM "$server"
  wait "$server"
  server=
}
for name in deploy A B; do cp models/lenet/deploy.prototxt "$dir/$name.prototxt"; done
for name in net A B; do cp "$dir/models/lenet/1/net.caffemodel" "$dir/$name.caffemodel"; done
cp "$dir/models/lenet/labels.txt" "$dir"
served=0
while read -ra words; do
  begin "${words[@]:2}"
  finish
  served=$((served + 1))
done < <(grep '^    swcaffe serve ' docs/serve.md)
((served == 3)) || { echo "docs/serve.md has $served commands that start a server, 3 are known" >&2; exit 1; }
echo "the page's servers: started, and ended by SIGTERM"

begin -repository models -grpc 127.0.0.1:0
url=$(sed -n 's/.*the server: \([^ ]*\).*/\1/p' "$dir/serve.log")
address=$(sed -n 's/.*for gRPC, //p' "$dir/serve.log")

# A grey PNG of 2x2, under the name that the page uses: the format is told by the bytes.
base64 -d >"$dir/cat.jpg" <<<'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR4nGNg4GRg5AIAADYAFcZLn+AAAAAASUVORK5CYII='
cp "$dir/cat.jpg" "$dir/street.jpg"

# block LANGUAGE prints the page's blocks of a language, for this server.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" docs/serve.md | grep -v '^```' | sed "s#http://127.0.0.1:8000#$url#g; s#127.0.0.1:8001#$address#g"; }

block sh | sed 's/^curl /curl -fsS /' >"$dir/page.sh"
(cd "$dir" && bash -euo pipefail page.sh >page.out)
grep -c '"label":"digit ' "$dir/page.out" | grep -qx 3 || { cat "$dir/page.out"; exit 1; }
grep -q '"objects":\[{.*"xmin":' "$dir/page.out" || { cat "$dir/page.out"; exit 1; }
grep -q '"shape":\[1,10\]' "$dir/page.out" || { cat "$dir/page.out"; exit 1; }
echo "curl: the page's commands"

for call in 'GET /v2' 'GET /v2/health/live' 'GET /v2/health/ready' 'GET /v2/models/lenet' 'GET /v2/models/lenet/ready' 'GET /v2/models/lenet/versions/1' \
  'GET /v2/models/lenet/versions/1/ready' 'POST /v2/repository/index' 'POST /v2/repository/models/lenet/load' 'POST /v2/repository/models/lenet/unload' \
  'POST /v2/repository/models/lenet/load' 'GET /metrics' 'GET /models' 'GET /openapi.json' 'GET /'; do
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

if command -v go >/dev/null; then
  block go >"$dir/page.go"
  gofmt -l "$dir/page.go" | (! grep .)
  go run "$dir/page.go" | grep -q '^prob \[1 10\] \['
  echo "Go: the page's client"
  [ -x build/grpc/grpcurl ] || GOBIN=$PWD/build/grpc go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3
  sed -n 's/^    \(grpcurl .*\)/\1/p' docs/serve.md | sed "s#127.0.0.1:8001#$address#; s#^#build/grpc/#" >"$dir/grpcurl.sh"
  bash -euo pipefail "$dir/grpcurl.sh" | grep -qx inference.GRPCInferenceService
  echo "grpcurl: the page's command"
else
  echo "Go is not installed: its client and grpcurl are left out"
fi

if command -v node >/dev/null; then
  block javascript >"$dir/page.mjs"
  node "$dir/page.mjs" | grep -q '^prob \[ 1, 10 \]'
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
      const x = Array.from({length: 784}, (_, i) => i % 3), big = x.map(BigInt), want = await ask('FP32', Float32Array.from(x));
      check(new Set(want).size > 1, 'all values are equal: ' + want);
      for (const [name, a] of [['FP64', Float64Array.from(x)], ['INT64', BigInt64Array.from(big)], ['UINT64', BigUint64Array.from(big)], ['UINT8', Uint8Array.from(x)],
          ['INT8', Int8Array.from(x)], ['INT32', Int32Array.from(x)], ['UINT16', Uint16Array.from(x)]])
        check(String(await ask(name, a)) === String(want), name + ' has other results than FP32');
      const bad = await fetch('$url/v2/models/lenet/infer', {method: 'POST', body: '{}'});
      check(bad.status === 400 && (await bad.json()).error, 'a bad request has status ' + bad.status);
    })().catch(e => { console.error(e.message); process.exit(1); });"
  echo "Node: the page's client, datatypes and an error"
else
  echo "Node is not installed: left out"
fi

python= # python3 may be another than the one that Debian's packages are for
for p in python3 /usr/bin/python3; do
  if "$p" -c 'import grpc, google.protobuf' 2>/dev/null; then python=$p; fi
done
if [ -n "$python" ] && command -v protoc >/dev/null; then
  protoc -I proto --python_out="$dir" inference.proto health.proto
  (cd "$dir" && "$python" - "$address" <"$clients/client.py")
  echo "Python, gRPC: all calls and datatypes, BYTES, errors"
else
  echo "Python's grpc (python3-grpcio) or protoc is not installed: left out"
fi

if command -v npm >/dev/null; then
  if [ ! -d build/grpc/node_modules/@grpc/proto-loader ]; then
    mkdir -p build/grpc
    npm install --prefix build/grpc --no-audit --no-fund --ignore-scripts --silent @grpc/grpc-js@1.14.7 @grpc/proto-loader@0.8.1
  fi
  block js >"$dir/page.js"
  NODE_PATH=build/grpc/node_modules node "$dir/page.js" | grep -q 'prob \[ 1, 10 \]'
  NODE_PATH=build/grpc/node_modules node "$clients/client.js" "$address" proto/inference.proto
  echo "Node, gRPC: all calls, datatypes, errors"
else
  echo "npm is not installed: Node's client of gRPC is left out"
fi

if command -v grpc_cpp_plugin >/dev/null && pkg-config --exists grpc++ protobuf 2>/dev/null; then
  if [ ! build/grpc/client -nt proto/inference.proto ] || [ ! build/grpc/client -nt "$clients/client.cc" ]; then
    mkdir -p build/grpc
    protoc -I proto --cpp_out="$dir" --grpc_out="$dir" --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" inference.proto
    # shellcheck disable=SC2046
    g++ -std=c++17 -O0 -I "$dir" -o build/grpc/client "$clients/client.cc" "$dir"/inference.pb.cc "$dir"/inference.grpc.pb.cc $(pkg-config --cflags --libs grpc++ protobuf)
  fi
  build/grpc/client "$address"
  echo "C++, gRPC: calls, datatypes, errors"
else
  echo "protobuf-compiler-grpc, libgrpc++-dev or libprotobuf-dev is not installed: the client in C++ is left out"
fi

finish
echo "SIGTERM: exit status 0"
