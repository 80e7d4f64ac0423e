#!/usr/bin/env bash
# ONNX Runtime 1.30's MaxPool and GlobalMaxPool of a window with one NaN give, on x86 processors, the NaN, the maximum of the others or a smaller value, as the NaN's place says.
#
# Guess: a NaN spoils the maximum, or is overlooked.
# Seen:  of the values -1 to -8 with a NaN for one of them, by its place, the maxima are -2 -1 -1 -1 -2 -1 -2 NaN. For places 4 and 6 the largest value, -1, is lost as well: a
#        vector's maximum of x and NaN is the second operand, so that a NaN first takes the place of a value, and then gives way to the next one.
set -euo pipefail
[ "$(uname -m)" = x86_64 ] || { echo "this is about x86 processors"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ONNXRUNTIME_NODE_INSTALL=skip npm install --prefix . --ignore-scripts --no-fund --no-audit --silent onnxruntime-node@1.30.0 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END'
const { onnx } = require("onnx-proto");
const ort = require("onnxruntime-node");

const dims = [1, 1, 1, 8];

function model(opType, attribute) {
  const info = (name) => ({ name, type: { tensorType: { elemType: 1, shape: name === "x" ? { dim: dims.map((d) => ({ dimValue: d })) } : undefined } } });
  const graph = { name: "g", input: [info("x")], output: [info("y")], node: [{ opType, name: "pool", input: ["x"], output: ["y"], attribute }] };
  return Buffer.from(onnx.ModelProto.encode(onnx.ModelProto.fromObject({ irVersion: 8, opsetImport: [{ version: 13 }], graph })).finish());
}

async function main() {
  let same = true;
  console.log(`onnxruntime-node ${require("onnxruntime-node/package.json").version}, maxima of -1 to -8 by the place of a NaN`);
  for (const [op, ...attribute] of [["MaxPool", { name: "kernel_shape", type: 7, ints: [1, 8] }], ["GlobalMaxPool"]]) {
    const session = await ort.InferenceSession.create(model(op, attribute));
    const maxima = [];
    for (let place = 0; place < 8; place++) {
      const x = Float32Array.from({ length: 8 }, (_, i) => (i === place ? NaN : -i - 1));
      maxima.push((await session.run({ x: new ort.Tensor("float32", x, dims) })).y.data[0]);
    }
    console.log(`${op}: ${maxima.join(" ")}`);
    same &&= maxima.join(" ") === "-2 -1 -1 -1 -2 -1 -2 NaN";
  }
  if (!same) {
    console.log("this differs from what was seen");
    process.exit(1);
  }
}

main();
END
node finding.js
