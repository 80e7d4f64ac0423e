// The load of scripts/serve_reload.sh: reload.js URL FOLDER PID RELOADS SECONDS CLIENTS RATE EVERY. FOLDER has w1_ and w2_iter_0.caffemodel and the repository models, PID is the server.
const fs = require('fs'), http = require('http');
const [url, dir, pid, reloads, seconds, clients, rate, every] = process.argv.slice(2).map((a, i) => (i < 2 ? a : Number(a)));
const agent = new http.Agent({ keepAlive: true });
const ask = (path, body, headers) => new Promise((done, fail) => {
  const r = http.request(url + path, { method: 'POST', agent, headers }, (w) => {
    const parts = [];
    w.on('data', (b) => parts.push(b)).on('error', fail).on('end', () => {
      const b = Buffer.concat(parts);
      w.statusCode === 200 ? done([b, w.headers]) : fail(new Error(`${path}: status ${w.statusCode}: ${b}`));
    });
  });
  r.on('error', fail).end(body);
});
const values = Buffer.from(Float32Array.from({ length: 784 }, (_, i) => (i % 7) / 100).buffer);
const head = Buffer.from(JSON.stringify({
  inputs: [{ name: 'data', datatype: 'FP32', shape: [1, 1, 28, 28], parameters: { binary_data_size: values.length } }], parameters: { binary_data_output: true },
}));
const body = Buffer.concat([head, values]);
const infer = async () => {
  const [b, h] = await ask('/v2/models/lenet/infer', body, { 'Inference-Header-Content-Length': head.length });
  return Array.from({ length: 10 }, (_, i) => b.readFloatLE(Number(h['inference-header-content-length']) + 4 * i));
};
const load = async (i) => {
  fs.copyFileSync(`${dir}/w${1 + (i % 2)}_iter_0.caffemodel`, `${dir}/copy`);
  fs.renameSync(`${dir}/copy`, `${dir}/models/lenet/1/net.caffemodel`);
  await ask('/v2/repository/models/lenet/load', '{}');
};
const near = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 1e-5); // roundings differ with what shares a run
const memory = () => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
const files = () => fs.readdirSync(`/proc/${pid}/fd`).length;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

(async () => {
  await load(0);
  const answers = [await infer()];
  await load(1);
  answers.push(await infer());
  if (near(answers[0], answers[1])) throw new Error('both weights give the same answer');
  let now = 1, exchanging = false, exchanges = 0, ended = false, requests = 0, strict = 0;
  const times = [];
  const start = Date.now(), client = async () => {
    while (!ended) {
      if (rate && Date.now() - start > 60000) await sleep((1000 * clients) / rate);
      const begin = process.hrtime.bigint(), calm = !exchanging, count = exchanges, of = answers[now];
      const got = await infer();
      times[requests++ % 100000] = Number(process.hrtime.bigint() - begin) / 1e6;
      if (calm && !exchanging && count === exchanges) {
        strict++;
        if (!near(got, of)) throw new Error(`after ${exchanges} exchanges an answer is not that of the weights which were loaded`);
      } else if (!answers.some((a) => near(got, a))) throw new Error('an answer is that of no weights');
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  all.catch(() => (ended = true));
  const begin = Date.now(), warm = [];
  const more = () => (seconds ? Date.now() - begin < 1000 * seconds : exchanges < reloads);
  const tenths = Array.from({ length: 10 }, () => []); // memory before each exchange: right after one, there are two versions
  const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  while (!ended && more()) {
    const part = seconds ? (Date.now() - begin) / 1000 / seconds : exchanges / reloads;
    tenths[Math.min(9, Math.floor(part * 10))].push(memory());
    if (part > 0.3 && !warm.length) warm.push(files());
    exchanging = true;
    await load(now + 1);
    now = 1 - now;
    exchanges++;
    exchanging = false;
    if (seconds) await sleep(1000 * every);
    const checked = strict;
    while (!ended && strict === checked) await sleep(1); // until an answer must be of these weights
  }
  ended = true;
  await all;
  times.sort((a, b) => a - b);
  const at = (q) => times[Math.floor(q * (times.length - 1))].toFixed(1);
  agent.destroy();
  console.log(`${exchanges} exchanges in ${((Date.now() - begin) / 1000).toFixed(0)} s under ${requests} requests; none failed; ${strict} began and ended between two exchanges and had the answer of the weights loaded last, the others that of one or the other`);
  console.log(`a request took ${at(0.5)} ms in the median, ${at(0.99)} ms in the 99th percentile, ${at(1)} ms at most`);
  const late = files();
  const used = tenths.filter((list) => list.length), rows = used.map((list) => `${middle(list).toFixed(0)} (${list[0].toFixed(0)} to ${list.at(-1).toFixed(0)})`);
  console.log(`memory in each tenth of the time, in MB, in the median (least to most): ${rows.join(', ')}; open files: ${warm[0]}, then ${late}`);
  const before = middle(used.slice(3, 6).flat()), after = middle(used.slice(-3).flat()); // the heap finds its size first
  if (after > 1.15 * before) throw new Error(`memory grows from ${before.toFixed(0)} to ${after.toFixed(0)} MB in the median`);
  if (late > warm[0] + 10) throw new Error('open files grow');
})().catch((e) => {
  console.error(e.message);
  process.exit(1);
});
