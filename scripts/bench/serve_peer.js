// ONNX Runtime behind a server of Node's, for serve.sh: serve_peer.js NAME=FILE.onnx... It answers POST /v2/models/NAME/infer with one binary FP32 input as swcaffe serve
// does, prints its address, and has all cores for each run.
const http = require('http'), os = require('os'), ort = require('onnxruntime-node');

// answer runs a request's body.
async function answer(session, name, body, length) {
  const { inputs: [input] } = JSON.parse(body.subarray(0, length));
  const values = new Float32Array(input.parameters.binary_data_size / 4); // a request's bytes may stand at any offset
  body.copy(Buffer.from(values.buffer), 0, length);
  const out = (await session.run({ [input.name]: new ort.Tensor('float32', values, input.shape) }))[session.outputNames[0]];
  const data = Buffer.from(out.data.buffer, out.data.byteOffset, out.data.byteLength);
  const head = Buffer.from(JSON.stringify({ model_name: name, outputs: [{ name: session.outputNames[0], datatype: 'FP32', shape: out.dims, parameters: { binary_data_size: data.length } }] }));
  return [head, data];
}

(async () => {
  const sessions = {};
  for (const model of process.argv.slice(2)) {
    const [name, file] = model.split('=');
    sessions[name] = await ort.InferenceSession.create(file, { logSeverityLevel: 3, intraOpNumThreads: os.cpus().length, interOpNumThreads: 1 });
  }
  const server = http.createServer((r, w) => {
    const name = /^\/v2\/models\/([^/]+)\/infer$/.exec(r.url)?.[1], parts = [];
    r.on('data', (b) => parts.push(b)).on('end', () => {
      answer(sessions[name], name, Buffer.concat(parts), Number(r.headers['inference-header-content-length']))
        .then(([head, data]) => w.writeHead(200, { 'Inference-Header-Content-Length': head.length, 'Content-Length': head.length + data.length }).end(Buffer.concat([head, data])))
        .catch((e) => w.writeHead(400).end(JSON.stringify({ error: e.message })));
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`the server: http://127.0.0.1:${server.address().port}`));
})();
