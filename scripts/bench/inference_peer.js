// Runs nets for inference.py with ONNX Runtime: inference_peer.js THREADS. Jobs and answers are those of inference_peer.py; the input is
// FOLDER/input.json ({"dims": [...]}) and FOLDER/input.raw, the output FOLDER/OnnxRuntime.raw.
const fs = require("fs");
const path = require("path");
const ort = require("onnxruntime-node");
const threads = Number(process.argv[2]);
let session, feeds;

async function load(folder) {
  if (session) await session.release();
  session = await ort.InferenceSession.create(path.join(folder, "net.onnx"), { logSeverityLevel: 3, intraOpNumThreads: threads, interOpNumThreads: 1 });
  const bytes = fs.readFileSync(path.join(folder, "input.raw"));
  const { dims } = JSON.parse(fs.readFileSync(path.join(folder, "input.json")));
  feeds = { [session.inputNames[0]]: new ort.Tensor("float32", new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), dims) };
  const { data } = (await session.run(feeds))[session.outputNames[0]];
  const output = path.join(folder, "OnnxRuntime.raw");
  fs.writeFileSync(output, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  await session.run(feeds);
  return { output };
}

async function run(seconds) {
  const ms = [], end = performance.now() + 1e3 * seconds;
  while (!ms.length || performance.now() < end) {
    const start = performance.now();
    await session.run(feeds);
    ms.push(performance.now() - start);
  }
  return { ms };
}

async function main() {
  const { version } = JSON.parse(fs.readFileSync(require.resolve("onnxruntime-node").replace(/onnxruntime-node.*/, "onnxruntime-node/package.json")));
  console.log(JSON.stringify({ version: `ONNX Runtime ${version}` }));
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    let answer;
    try {
      answer = job.load ? await load(job.load) : await run(job.run);
    } catch (e) {
      answer = { error: String(e.message || e) };
    }
    console.log(JSON.stringify(answer));
  }
}

main();
