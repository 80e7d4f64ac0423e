#!/usr/bin/env bash
# OpenCV 4.12's readNetFromCaffe passes over parameters of Caffe's layers, or has other defaults for them, and computes other values without a word.
#
# Guess: a net that is read without an error gives Caffe's values.
# Seen:  Log has no base, LRN no k and another alpha, MVN adds eps elsewhere, InnerProduct never transposes, Concat knows no concat_dim, a convolution
#        no pad_w alone, a Deconvolution no dilation, and PriorBox clips unless told not to.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --ignore-scripts --no-fund --no-audit --silent @techstark/opencv-js@4.12.0-release.1 >/dev/null
cat >finding.js <<'END'
const log = console.log;
console.log = console.warn = console.error;
log("OpenCV " + require("@techstark/opencv-js/package.json").version);
const cv = require("@techstark/opencv-js");

// A caffemodel of one layer with one blob.
const varint = (n) => (n > 127 ? [(n & 127) | 128, ...varint(n >> 7)] : [n]);
const field = (number, data) => Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(data.length)]), data]);
const caffemodel = (type, dims, values) =>
  field(100, Buffer.concat([field(1, Buffer.from("y")), field(2, Buffer.from(type)),
    field(7, Buffer.concat([field(7, field(1, Buffer.from(dims.flatMap(varint)))), field(5, Buffer.from(new Float32Array(values).buffer))]))]));

function forward(type, param, inputs, blob) {
  const dims = (d) => `shape { ${d.map((n) => "dim: " + n).join(" ")} }`;
  let text = "";
  inputs.forEach(([d, v], i) => {
    text += `layer { name: "v${i}" type: "Input" top: "v${i}" input_param { ${dims([1, v.length])} } }
layer { name: "x${i}" type: "Reshape" bottom: "v${i}" top: "x${i}" reshape_param { ${dims(d)} } }\n`;
  });
  text += `layer { name: "y" type: "${type}" ${inputs.map((_, i) => `bottom: "x${i}"`).join(" ")} top: "y" ${param} }`;
  cv.FS_createDataFile("/", "net.prototxt", Buffer.from(text), true, true, true);
  cv.FS_createDataFile("/", "net.caffemodel", blob ? caffemodel(type, ...blob) : field(1, Buffer.from("n")), true, true, true);
  const net = cv.readNetFromCaffe("/net.prototxt", "/net.caffemodel");
  cv.FS_unlink("/net.prototxt");
  cv.FS_unlink("/net.caffemodel");
  inputs.forEach(([, v], i) => net.setInput(cv.matFromArray(1, v.length, cv.CV_32F, v), "v" + i));
  return Array.from(net.forward("y").data32F).map((v) => +v.toFixed(4)).join(" ");
}

const pair = [[1, 1, 1, 2], [1, 2]];
const variance = "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2";
const cases = [ // type, parameters, inputs, weights, Caffe's values, OpenCV's
  ["Log", "log_param { base: 10 }", [[[1, 1, 1, 2], [10, 100]]], null, "1 2", "2.3026 4.6052"],
  ["LRN", "lrn_param { local_size: 1 alpha: 1 beta: 1 k: 2 }", [pair], null, "0.3333 0.3333", "0.5 0.4"],
  ["LRN", "lrn_param { local_size: 1 beta: 1 }", [pair], null, "0.5 0.4", "0.9999 1.9992"],
  ["MVN", "mvn_param { eps: 1 }", [[[1, 1, 1, 2], [1, 3]]], null, "-0.5 0.5", "-0.7071 0.7071"],
  ["InnerProduct", "inner_product_param { num_output: 2 bias_term: false transpose: true }", [[[1, 2], [1, 10]]], [[2, 2], [1, 2, 3, 4]], "31 42", "21 43"],
  ["Concat", "concat_param { concat_dim: 2 }", [[[1, 2, 1, 1], [1, 2]], [[1, 2, 1, 1], [3, 4]]], null, "1 3 2 4", "1 2 3 4"],
  ["Convolution", "convolution_param { num_output: 1 bias_term: false kernel_h: 1 kernel_w: 3 pad_w: 1 }", [[[1, 1, 1, 3], [1, 2, 3]]], [[1, 1, 1, 3], [1, 1, 1]], "3 6 5", "6"],
  ["Deconvolution", "convolution_param { num_output: 1 bias_term: false kernel_size: 2 dilation: 2 }", [[[1, 1, 1, 1], [1]]], [[1, 1, 2, 2], [1, 2, 3, 4]], "1 0 2 0 0 0 3 0 4", "1 2 3 4"],
  ["PriorBox", `prior_box_param { min_size: 20 ${variance} }`, [[[1, 1, 1, 1], [1]], [[1, 1, 10, 10], Array(100).fill(0)]], null,
    "-0.5 -0.5 1.5 1.5 0.1 0.1 0.2 0.2", "0 0 1 1 0.1 0.1 0.2 0.2"],
];
cv.onRuntimeInitialized = () => {
  for (const [type, param, inputs, blob, caffe, opencv] of cases) {
    const got = forward(type, param, inputs, blob);
    log(`${type} ${param}: ${got}; by Caffe ${caffe}`);
    if (got !== opencv) {
      log("the behaviour has changed");
      process.exitCode = 1;
    }
  }
};
END
node finding.js
