#!/usr/bin/env bash
# OpenCV 4.12 reads a ConvTranspose of two groups with a BatchNormalization behind it, without a word, and computes other values. Each of the
# two is right alone, and so are both with one group.
#
# Guess: joining the normalization with the weights changes no value but by rounding.
# Seen:  with two groups the first channel's factor scales the second channel too.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --ignore-scripts --no-fund --no-audit --silent @techstark/opencv-js@4.12.0-release.1 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END'
const { onnx } = require("onnx-proto");
const x = [1, 2, 3, 4, 10, 20, 30, 40]; // [1, 2, 2, 2]; the result has [1, 2, 4, 4]
const scale = [2, -3];
const four = (v) => [v, v, v, v];

// One group: kernels of 0 between different channels. Two groups: a kernel for each channel. Both repeat each pixel 2x2 times, times 5 and 7 by channel.
function model(group, normalized) {
  const info = (name, dims) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: dims.map((d) => ({ dimValue: d })) } } } });
  const floats = (name, dims, floatData) => ({ name, dataType: 1, dims, floatData });
  const node = [
    { opType: "Reshape", name: "reshape", input: ["row", "shape"], output: ["x"] },
    {
      opType: "ConvTranspose", name: "deconvolution", input: ["x", "w"], output: [normalized ? "z" : "y"],
      attribute: [{ name: "group", type: 2, i: group }, ...["kernel_shape", "strides"].map((name) => ({ name, type: 7, ints: [2, 2] }))],
    },
  ];
  const initializer = [
    { name: "shape", dataType: 7, dims: [4], int64Data: [1, 2, 2, 2] },
    group === 1 ? floats("w", [2, 2, 2, 2], [...four(5), ...four(0), ...four(0), ...four(7)]) : floats("w", [2, 1, 2, 2], [...four(5), ...four(7)]),
  ];
  if (normalized) {
    node.push({ opType: "BatchNormalization", name: "norm", input: ["z", "scale", "zero", "zero", "one"], output: ["y"], attribute: [{ name: "epsilon", type: 1, f: 1e-9 }] });
    initializer.push(floats("scale", [2], scale), floats("zero", [2], [0, 0]), floats("one", [2], [1, 1]));
  }
  return onnx.ModelProto.encode({
    irVersion: 7,
    opsetImport: [{ domain: "", version: 13 }],
    graph: { name: "deconvolution", node, initializer, input: [info("row", [1, 8])], output: [info("y", [1, 2, 4, 4])] },
  }).finish();
}

// ends shows the first row of each channel.
const ends = (v) => [...v.slice(0, 4), "|", ...v.slice(16, 20)].map((f) => (typeof f === "number" ? +f.toFixed(3) : f)).join(" ");
const log = console.log;
console.log = console.warn = console.error;
log("OpenCV " + require("@techstark/opencv-js/package.json").version);
const cv = require("@techstark/opencv-js");
cv.onRuntimeInitialized = () => {
  for (const group of [1, 2]) {
    for (const normalized of [false, true]) {
      cv.FS_createDataFile("/", "net.onnx", model(group, normalized), true, true, true);
      const net = cv.readNetFromONNX("/net.onnx");
      cv.FS_unlink("/net.onnx");
      net.setInput(cv.matFromArray(1, 8, cv.CV_32F, x), "row");
      const got = Array.from(net.forward("y").data32F);
      const want = Array.from({ length: 32 }, (_, i) => {
        const c = i >> 4, v = x[4 * c + 2 * ((i >> 3) & 1) + ((i >> 1) & 1)];
        return v * [5, 7][c] * (normalized ? scale[c] : 1);
      });
      const right = want.every((v, i) => Math.abs(v - got[i]) < 1e-3);
      log(`${group} group(s)${normalized ? ", BatchNormalization" : ""}: ${ends(got)}; by definition ${ends(want)}: ${right ? "right" : "WRONG"}`);
      if (right !== !(group === 2 && normalized)) {
        log("the behaviour has changed");
        process.exitCode = 1;
      }
    }
  }
};
END
node finding.js
