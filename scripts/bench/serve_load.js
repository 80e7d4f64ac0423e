// The load of serve.sh: serve_load.js RESULT CONNECTIONS SECONDS RATE URL BODY [URL BODY ...]. BODY is a file, beside which BODY.head has the length of its JSON. Each
// URL gets requests over a number of connections, at a rate or (0) as fast as answers come; all at the same time. RESULT becomes a list of autocannon's results, each with the
// percentiles of the latencies of requests that were answered 200: autocannon's own are whole milliseconds, in which LeNet has an answer, and count refused requests too; and with cpu,
// the processors' seconds of this program meanwhile, without its start.
// autocannon's command reads bodies as text, so its library is called.
const fs = require('fs'), autocannon = require('autocannon');
const [result, connections, seconds, rate, ...targets] = process.argv.slice(2);
const runs = [], before = process.cpuUsage();
for (let i = 0; i < targets.length; i += 2) {
  const times = [];
  const run = autocannon({
    url: targets[i], method: 'POST', body: fs.readFileSync(targets[i + 1]), headers: { 'Inference-Header-Content-Length': fs.readFileSync(`${targets[i + 1]}.head`, 'utf8') },
    connections: Number(connections), duration: Number(seconds), ...(Number(rate) ? { overallRate: Number(rate) } : {}),
  });
  run.on('response', (client, status, bytes, ms) => { if (status === 200) times.push(ms); });
  runs.push(run.then((r) => {
    times.sort((a, b) => a - b);
    const percentile = (p) => times[Math.min(times.length - 1, Math.floor((p / 100) * times.length))] || 0;
    const cpu = process.cpuUsage(before);
    return { ...r, cpu: (cpu.user + cpu.system) / 1e6, answered: { p50: percentile(50), p99: percentile(99) } };
  }));
}
Promise.all(runs).then((list) => fs.writeFileSync(result, JSON.stringify(list)));
