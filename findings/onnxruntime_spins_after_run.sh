#!/usr/bin/env bash
# ONNX Runtime 1.30 with two threads goes on using a core for some 45 ms after each run: its worker polls for the next one. With four threads three workers do. A server that answers
# 20 small requests a second so has no idle core, and another program that is measured after it shares one. intra_op.allow_spinning ends it.
#
# Guess: a worker polls for microseconds, as long as waking it takes, and then sleeps.
# Seen:  45 to 49 ms of processor time after a product of two matrices of 512x512 that takes 8 to 28 ms, 0.3 ms without spinning. The time depends on the processor.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ONNXRUNTIME_NODE_INSTALL=skip npm install --prefix . --ignore-scripts --no-fund --no-audit --silent onnxruntime-node@1.30.0 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END_JS'
const { onnx } = require("onnx-proto");
const ort = require("onnxruntime-node");
const n = 512;

function model() {
  const value = (name) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: [n, n].map((d) => ({ dimValue: d })) } } } });
  const graph = { name: "g", input: [value("x")], output: [value("y")], node: [{ opType: "MatMul", input: ["x", "x"], output: ["y"] }] };
  return Buffer.from(onnx.ModelProto.encode(onnx.ModelProto.fromObject({ irVersion: 8, opsetImport: [{ version: 13 }], graph })).finish());
}

// after returns the median of the processors' milliseconds in the 300 ms after a run.
async function after(options) {
  const session = await ort.InferenceSession.create(model(), { intraOpNumThreads: 2, logSeverityLevel: 3, ...options });
  const x = new ort.Tensor("float32", new Float32Array(n * n).fill(1), [n, n]), list = [];
  for (let i = 0; i < 7; i++) {
    await session.run({ x });
    const before = process.cpuUsage();
    await new Promise((done) => setTimeout(done, 300));
    const used = process.cpuUsage(before);
    list.push((used.user + used.system) / 1000);
  }
  return list.sort((a, b) => a - b)[3];
}

async function main() {
  const usual = await after({}), asleep = await after({ extra: { session: { intra_op: { allow_spinning: "0" } } } });
  console.log(`onnxruntime-node ${require("onnxruntime-node/package.json").version}, two threads`);
  console.log(`processor time in the 300 ms after a run: ${usual.toFixed(1)} ms, without spinning ${asleep.toFixed(1)} ms`);
  if (usual < 5 || asleep > 3) {
    console.log("this differs from what was seen");
    process.exit(1);
  }
}

main();
END_JS
node finding.js
