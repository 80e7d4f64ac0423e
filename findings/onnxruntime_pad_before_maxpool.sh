#!/usr/bin/env bash
# ONNX Runtime 1.30 merges a Pad with zeros into the MaxPool that reads it, also from the graph optimisation level "basic". A MaxPool leaves out its own padding, so where all
# values of a window are negative, the result is one of them and not zero.
#
# Guess: a level of optimisation changes results by roundings at most.
# Seen:  of 2 x 2 values -1, -2, -3, -4 with a rim of zeros, windows of 2 x 2 have the maxima 0, 0, 0, 0 without optimisation, and -1, -2, -3, -4 with it; an Identity between is no
#        obstacle, a rim of -100 or of -infinity changes nothing, one of 1 is right. A rim as wide as the kernel, which alone is valid, is refused with it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ONNXRUNTIME_NODE_INSTALL=skip npm install --prefix . --ignore-scripts --no-fund --no-audit --silent onnxruntime-node@1.30.0 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END'
const { onnx } = require("onnx-proto");
const ort = require("onnxruntime-node");

function model(rim, wide, between) {
  const info = (name, dims) => ({ name, type: { tensorType: { elemType: 1, shape: dims && { dim: dims.map((d) => ({ dimValue: d })) } } } });
  const pads = [0, 0, wide, wide, 0, 0, wide, wide];
  const graph = {
    name: "g", input: [info("x", [1, 1, 2, 2])], output: [info("y")],
    initializer: [{ name: "pads", dataType: 7, dims: [8], int64Data: pads }, { name: "rim", dataType: 1, dims: [], floatData: [rim] }],
    node: [
      { opType: "Pad", name: "pad", input: ["x", "pads", "rim"], output: ["padded"] },
      ...(between ? [{ opType: between, name: "between", input: ["padded"], output: ["read"] }] : []),
      { opType: "MaxPool", name: "pool", input: [between ? "read" : "padded"], output: ["y"], attribute: [{ name: "kernel_shape", type: 7, ints: [2, 2] }, { name: "strides", type: 7, ints: [2, 2] }] },
    ],
  };
  return Buffer.from(onnx.ModelProto.encode(onnx.ModelProto.fromObject({ irVersion: 8, opsetImport: [{ version: 13 }], graph })).finish());
}

async function run(level, ...form) {
  const x = new ort.Tensor("float32", Float32Array.from([-1, -2, -3, -4]), [1, 1, 2, 2]);
  try {
    const session = await ort.InferenceSession.create(model(...form), { graphOptimizationLevel: level, logSeverityLevel: 4 });
    return [...(await session.run({ x })).y.data].map((v) => v + 0).join(" ");
  } catch (error) {
    return "refused";
  }
}

async function main() {
  const seen = {
    "0 1": ["0 0 0 0", "-1 -2 -3 -4"], "0 1 Identity": ["0 0 0 0", "-1 -2 -3 -4"], "0 1 Relu": ["0 0 0 0", "0 0 0 0"], "1 1": ["1 1 1 1", "1 1 1 1"],
    "-100 1": ["-1 -2 -3 -4", "-1 -2 -3 -4"], "-Infinity 1": ["-1 -2 -3 -4", "-1 -2 -3 -4"], "0 2": ["0 0 0 0 -1 0 0 0 0", "refused"],
  };
  let same = true;
  console.log(`onnxruntime-node ${require("onnxruntime-node/package.json").version}\nrim, width: disabled | basic | all`);
  for (const [form, [plain, merged]] of Object.entries(seen)) {
    const [rim, wide, between] = form.split(" ");
    const got = [];
    for (const level of ["disabled", "basic", "all"]) got.push(await run(level, +rim, +wide, between));
    console.log(`${form}: ${got.join(" | ")}`);
    same &&= got.join() === [plain, merged, merged].join();
  }
  if (!same) {
    console.log("this differs from what was seen");
    process.exit(1);
  }
}

main();
END
node finding.js
