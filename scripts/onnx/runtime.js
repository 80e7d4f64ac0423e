// Runs ONNX models with ONNX Runtime. Each line of standard input is a job: {"model": file, "inputs": {name: {"dims": [...], "file": raw floats}},
// "out": prefix}. Output k is written to PREFIX.k, and a line {"outputs": [{"name", "dims"}]} or {"error"} answers the job.
const fs = require("fs");
const ort = require("onnxruntime-node");

async function run(job) {
  const session = await ort.InferenceSession.create(job.model, { logSeverityLevel: 3, intraOpNumThreads: 1 });
  const feeds = {};
  for (const [name, input] of Object.entries(job.inputs)) {
    const bytes = fs.readFileSync(input.file);
    feeds[name] = new ort.Tensor("float32", new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), input.dims);
  }
  const results = await session.run(feeds);
  const outputs = session.outputNames.map((name, k) => {
    const { dims, data } = results[name];
    fs.writeFileSync(`${job.out}.${k}`, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    return { name, dims };
  });
  await session.release();
  return { outputs };
}

async function main() {
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = await run(JSON.parse(line));
    } catch (e) {
      answer = { error: String(e.message || e) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}

main();
