#!/usr/bin/env bash
# ONNX Runtime 1.30 computes a convolution between QuantizeLinear and DequantizeLinear, with weights of 127 as int8 and inputs of 255, to half of what it is, on x86
# processors without VNNI: it adds two products in 16 bits, where 2*255*127 becomes 32767. The same weights as uint8, with a zero point of 128, give the right value, and
# so do signed ones without the optimisations of the graph.
#
# Guess: whether weights have a sign, and what the optimiser merges, is seen in the last digit at most.
# Seen:  101 steps, 200 and 200. With VNNI 200 steps in all three.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ONNXRUNTIME_NODE_INSTALL=skip npm install --prefix . --ignore-scripts --no-fund --no-audit --silent onnxruntime-node@1.30.0 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END_JS'
const { onnx } = require("onnx-proto");
const ort = require("onnxruntime-node");
const channels = 16, largest = channels * 255 * 127;

function model(unsigned) {
  const value = (name, dims) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: dims.map((d) => ({ dimValue: d })) } } } });
  const number = (name, v) => ({ name, dataType: 1, dims: [], floatData: [v] });
  const bytes = (name, dims, v, type) => ({ name, dataType: type, dims, int32Data: v });
  const node = (opType, input, output) => ({ opType, name: output, input, output: [output] });
  const of = unsigned ? 2 : 3, zero = unsigned ? 128 : 0;
  const graph = {
    name: "g", input: [value("x", [1, channels, 2, 2])], output: [value("y", [1, 1, 2, 2])],
    initializer: [number("one", 1), number("step", largest / 200), bytes("zero", [], [0], 2), bytes("weights", [1, channels, 1, 1], Array(channels).fill(127 + zero), of),
      bytes("zero of weights", [], [zero], of)],
    node: [
      node("QuantizeLinear", ["x", "one", "zero"], "a"), node("DequantizeLinear", ["a", "one", "zero"], "b"),
      node("DequantizeLinear", ["weights", "one", "zero of weights"], "w"), node("Conv", ["b", "w"], "c"),
      node("QuantizeLinear", ["c", "step", "zero"], "d"), node("DequantizeLinear", ["d", "step", "zero"], "y"),
    ],
  };
  return Buffer.from(onnx.ModelProto.encode(onnx.ModelProto.fromObject({ irVersion: 8, opsetImport: [{ version: 13 }], graph })).finish());
}

async function steps(unsigned, graphOptimizationLevel) {
  const session = await ort.InferenceSession.create(model(unsigned), { logSeverityLevel: 3, graphOptimizationLevel });
  const x = new ort.Tensor("float32", new Float32Array(4 * channels).fill(255), [1, channels, 2, 2]);
  return Math.round((await session.run({ x })).y.data[0] / (largest / 200));
}

async function main() {
  const vnni = /avx512_vnni|avx_vnni/.test(require("fs").readFileSync("/proc/cpuinfo", "latin1"));
  const got = [await steps(false, "all"), await steps(true, "all"), await steps(false, "disabled")];
  console.log(`onnxruntime-node ${require("onnxruntime-node/package.json").version}, processor ${vnni ? "with" : "without"} VNNI`);
  console.log(`a sum of 200 steps: ${got[0]} with signed weights, ${got[1]} with unsigned ones, ${got[2]} with signed ones and no optimisations`);
  if (got.join() !== (vnni ? "200,200,200" : "101,200,200")) {
    console.log("this differs from what was seen");
    process.exit(1);
  }
}

main();
END_JS
node finding.js
