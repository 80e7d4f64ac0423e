#!/usr/bin/env bash
# ONNX Runtime 1.30 resizes 14 values to 8 with mode nearest, asymmetric coordinates and nearest_mode floor: output 4 lies at place 4 / (8/14), which is 7.
# ONNX Runtime computes the place in single precision, where it is just below 7, and reads value 6.
#
# Guess: a place that is a whole number reads that value.
# Seen:  5 outputs of all resizings of up to 20 values to up to 20 read the value before it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ONNXRUNTIME_NODE_INSTALL=skip npm install --prefix . --ignore-scripts --no-fund --no-audit --silent onnxruntime-node@1.30.0 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END'
const { onnx } = require("onnx-proto");
const ort = require("onnxruntime-node");

function model(from, to) {
  const info = (name, dims) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: dims.map((d) => ({ dimValue: d })) } } } });
  const text = (name, s) => ({ name, type: 3, s: Buffer.from(s) });
  const graph = {
    name: "g", input: [info("x", [1, 1, from, 1])], output: [info("y", [1, 1, to, 1])],
    initializer: [{ name: "empty", dataType: 1, dims: [0], floatData: [] }, { name: "sizes", dataType: 7, dims: [4], int64Data: [1, 1, to, 1] }],
    node: [{
      opType: "Resize", name: "resize", input: ["x", "empty", "empty", "sizes"], output: ["y"],
      attribute: [text("mode", "nearest"), text("coordinate_transformation_mode", "asymmetric"), text("nearest_mode", "floor")],
    }],
  };
  return onnx.ModelProto.encode(onnx.ModelProto.fromObject({ irVersion: 7, opsetImport: [{ version: 13 }], graph })).finish();
}

async function main() {
  const other = [];
  for (let from = 1; from <= 20; from++) {
    for (let to = 1; to <= 20; to++) {
      const session = await ort.InferenceSession.create(Buffer.from(model(from, to)), { logSeverityLevel: 3 });
      const x = new ort.Tensor("float32", Float32Array.from({ length: from }, (_, i) => i), [1, 1, from, 1]);
      const { y } = await session.run({ x });
      y.data.forEach((got, o) => {
        if (got !== Math.floor((o * from) / to)) other.push(`${from} to ${to}: output ${o} reads ${got}, by whole numbers ${Math.floor((o * from) / to)}`);
      });
    }
  }
  console.log(`onnxruntime-node ${require("onnxruntime-node/package.json").version}\n${other.join("\n")}`);
  const seen = ["14 to 2: output 1 reads 6, by whole numbers 7", "14 to 4: output 2 reads 6, by whole numbers 7", "14 to 8: output 4 reads 6, by whole numbers 7",
    "14 to 16: output 8 reads 6, by whole numbers 7", "20 to 12: output 9 reads 14, by whole numbers 15"];
  if (JSON.stringify(other) !== JSON.stringify(seen)) {
    console.log("this differs from what was seen");
    process.exit(1);
  }
}

main();
END
node finding.js
