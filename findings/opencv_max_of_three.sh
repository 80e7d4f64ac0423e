#!/usr/bin/env bash
# OpenCV 4.12 reads ONNX's Max and Sum of three values, without a word, and leaves one of the three out of most results. Of two values both
# operators are right, and so are they of three in 4.8.
#
# Guess: the operators take any number of inputs, as ONNX defines them, or are refused.
# Seen:  Max of a, b and c is the maximum of a and b alone; Sum adds c to the first place only.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --ignore-scripts --no-fund --no-audit --silent @techstark/opencv-js@4.12.0-release.1 onnx-proto@8.0.1 >/dev/null
cat >finding.js <<'END'
const { onnx } = require("onnx-proto");
const values = { a: [1, 9, 3, 7], b: [5, 2, 8, 1], c: [4, 4, 4, 9] };
const definition = { Max: (v, w) => Math.max(v, w), Sum: (v, w) => v + w };

function model(op, names) {
  const info = (name) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 1 }, { dimValue: 4 }] } } } });
  return onnx.ModelProto.encode({
    irVersion: 7,
    opsetImport: [{ domain: "", version: 13 }],
    graph: { name: "elementwise", node: [{ opType: op, name: "node", input: names, output: ["y"] }], input: names.map(info), output: [info("y")] },
  }).finish();
}

const log = console.log;
console.log = console.warn = console.error;
log("OpenCV " + require("@techstark/opencv-js/package.json").version);
const cv = require("@techstark/opencv-js");
cv.onRuntimeInitialized = () => {
  for (const op of ["Max", "Sum"]) {
    for (const names of [["a", "b"], ["a", "b", "c"]]) {
      cv.FS_createDataFile("/", "net.onnx", model(op, names), true, true, true);
      const net = cv.readNetFromONNX("/net.onnx");
      cv.FS_unlink("/net.onnx");
      for (const name of names) net.setInput(cv.matFromArray(1, 4, cv.CV_32F, values[name]), name);
      const got = Array.from(net.forward("y").data32F).join(" ");
      const want = values.a.map((_, i) => names.map((name) => values[name][i]).reduce(definition[op])).join(" ");
      log(`${op} of ${names}: ${got}; by definition ${want}: ${got === want ? "right" : "WRONG"}`);
      if ((got === want) !== (names.length === 2)) {
        log("the behaviour has changed");
        process.exitCode = 1;
      }
    }
  }
};
END
node finding.js
