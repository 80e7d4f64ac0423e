// Runs ONNX models with OpenCV's dnn module as npm's package @techstark/opencv-js has it (NODE_PATH finds the package). Jobs and answers are
// those of runtime.js.
const fs = require("fs");

// Messages of OpenCV must not mix with the answers.
console.log = console.error;
console.warn = console.error;

// varint, field and message write protobuf's wire format.
function varint(n) {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return [...out, n];
}
const field = (number, bytes) => [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
const text = (number, s) => field(number, [...Buffer.from(s)]);
const whole = (number, n) => [...varint(number * 8), ...varint(n)];

// reshaping is an ONNX model that gives a row of values other extents.
function reshaping(count, dims) {
  const info = (name, dims) => [...text(1, name), ...field(2, field(1, [...whole(1, 1), ...field(2, dims.flatMap((d) => field(1, whole(1, d))))]))];
  const raw = Buffer.alloc(8 * dims.length);
  dims.forEach((d, i) => raw.writeUInt32LE(d, 8 * i));
  const node = [...text(1, "row"), ...text(1, "shape"), ...text(2, "array"), ...text(3, "reshape"), ...text(4, "Reshape")];
  const shape = [...whole(1, dims.length), ...whole(2, 7), ...text(8, "shape"), ...field(9, [...raw])];
  const graph = [...field(1, node), ...text(2, "reshaping"), ...field(5, shape), ...field(11, info("row", [1, count])), ...field(12, info("array", dims))];
  return [...whole(1, 7), ...field(7, graph), ...field(8, [...text(1, ""), ...whole(2, 13)])];
}

// load reads a net from bytes.
function load(cv, bytes) {
  const name = "net.onnx";
  cv.FS_createDataFile("/", name, bytes, true, true, true);
  try {
    return cv.readNetFromONNX("/" + name);
  } finally {
    cv.FS_unlink("/" + name);
  }
}

// array makes a Mat of any number of axes. The JavaScript interface makes them of two axes alone, and a net's results have more.
function array(cv, values, dims) {
  const row = cv.matFromArray(1, values.length, cv.CV_32F, values);
  if (dims.length < 2 || (dims.length === 2 && dims[0] === 1)) return row;
  const net = load(cv, new Uint8Array(reshaping(values.length, dims)));
  net.setInput(row, "row");
  const out = net.forward("array");
  if (out.matSize.join() !== dims.join()) throw new Error(`the input has extents ${out.matSize}, not ${dims}`);
  return [out, net, row]; // the net owns the values
}

function run(cv, job) {
  const net = load(cv, fs.readFileSync(job.model));
  const alive = [net];
  try {
    for (const [name, input] of Object.entries(job.inputs)) {
      const bytes = fs.readFileSync(input.file);
      const made = [array(cv, new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), input.dims)].flat();
      alive.push(...made);
      net.setInput(made[0], name);
    }
    const outputs = job.outputs.map((name, k) => {
      const value = net.forward(name);
      alive.push(value);
      const dims = Array.from(value.matSize);
      if (value.type() !== cv.CV_32F) throw new Error(`output ${name} has type ${value.type()}`);
      const data = value.data32F;
      fs.writeFileSync(`${job.out}.${k}`, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
      return { name, dims };
    });
    return { outputs };
  } finally {
    alive.forEach((v) => v.delete());
  }
}

// start loads OpenCV anew. The module goes back in an object, since older ones have a method "then", which an async function would call.
async function start() {
  const name = require.resolve("@techstark/opencv-js");
  delete require.cache[name];
  let cv = require(name);
  if (cv instanceof Promise) cv = await cv;
  else if (!cv.Mat) await new Promise((ready) => (cv.onRuntimeInitialized = ready));
  return { cv };
}

// message is the text of an error, which C++ throws as an address.
function message(cv, e) {
  return typeof e === "number" ? cv.exceptionFromPtr(e).msg : String(e.message || e.msg || e);
}

async function main() {
  let { cv } = await start();
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = run(cv, JSON.parse(line));
    } catch (e) {
      answer = { error: message(cv, e) };
      if (e instanceof WebAssembly.RuntimeError) ({ cv } = await start()); // after an abort no call works
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}

main();
