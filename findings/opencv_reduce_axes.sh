#!/usr/bin/env bash
# OpenCV 4.12 reads ONNX's ReduceMean over axes 1, 2 and 3 without a word and computes other values. Over axes 2 and 3, and over 0, 2 and 3,
# the same operator is right.
#
# Guess: the mean of each item, as ONNX defines it.
# Seen:  other values, although the shape of the result is right.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --ignore-scripts --no-fund --no-audit --silent @techstark/opencv-js@4.12.0-release.1 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END'
const { onnx } = require("onnx-proto");
const shape = [2, 3, 2, 2];
const x = Float32Array.from({ length: 24 }, (_, i) => i * i);

// The graph gives its input, one row, the shape [2, 3, 2, 2], since OpenCV's JavaScript makes matrices alone.
function model(axes) {
  const info = (name, dims) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: dims.map((d) => ({ dimValue: d })) } } } });
  const kept = shape.map((d, a) => (axes.includes(a) ? 1 : d));
  return onnx.ModelProto.encode({
    irVersion: 7,
    opsetImport: [{ domain: "", version: 13 }],
    graph: {
      name: "mean",
      node: [
        { opType: "Reshape", name: "reshape", input: ["row", "shape"], output: ["x"] },
        { opType: "ReduceMean", name: "mean", input: ["x"], output: ["y"], attribute: [{ name: "axes", type: 7, ints: axes }] },
      ],
      initializer: [{ name: "shape", dataType: 7, dims: [4], int64Data: shape }],
      input: [info("row", [1, 24])],
      output: [info("y", kept)],
    },
  }).finish();
}

// mean is the definition.
function mean(axes) {
  const sums = new Map();
  x.forEach((v, i) => {
    const at = [Math.floor(i / 12), Math.floor(i / 4) % 3, Math.floor(i / 2) % 2, i % 2].filter((_, a) => !axes.includes(a)).join();
    sums.set(at, (sums.get(at) || 0) + v);
  });
  return [...sums.values()].map((s) => (s * sums.size) / 24);
}

function main() {
  const log = console.log;
  console.log = console.warn = console.error;
  log("OpenCV " + require("@techstark/opencv-js/package.json").version);
  const expected = { "2,3": true, "0,2,3": true, "1,2,3": false };
  for (const [list, right] of Object.entries(expected)) {
    const axes = list.split(",").map(Number);
    cv.FS_createDataFile("/", "net.onnx", model(axes), true, true, true);
    const net = cv.readNetFromONNX("/net.onnx");
    cv.FS_unlink("/net.onnx");
    net.setInput(cv.matFromArray(1, 24, cv.CV_32F, x), "row");
    const got = Array.from(net.forward("y").data32F);
    const want = mean(axes);
    const same = got.length === want.length && got.every((v, i) => Math.abs(v - want[i]) < 1e-3);
    log(`ReduceMean over ${list}: ${got.map((v) => v.toFixed(2)).join(" ")}; by definition ${want.map((v) => v.toFixed(2)).join(" ")}: ${same ? "right" : "WRONG"}`);
    if (same !== right) {
      log("the behaviour has changed");
      process.exitCode = 1;
    }
  }
}
const cv = require("@techstark/opencv-js");
cv.onRuntimeInitialized = main;
END
node finding.js
