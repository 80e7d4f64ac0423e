// The load of serve.sh: serve_load.js RESULT CONNECTIONS SECONDS RATE URL BODY [URL BODY ...]. BODY is a file, beside which BODY.head has the length of its JSON. Each
// URL gets requests over a number of connections, at a rate or (0) as fast as answers come; all at the same time. RESULT becomes a list of autocannon's results. autocannon's
// command reads bodies as text, so its library is called.
const fs = require('fs'), autocannon = require('autocannon');
const [result, connections, seconds, rate, ...targets] = process.argv.slice(2);
const runs = [];
for (let i = 0; i < targets.length; i += 2) {
  runs.push(autocannon({
    url: targets[i], method: 'POST', body: fs.readFileSync(targets[i + 1]), headers: { 'Inference-Header-Content-Length': fs.readFileSync(`${targets[i + 1]}.head`, 'utf8') },
    connections: Number(connections), duration: Number(seconds), ...(Number(rate) ? { overallRate: Number(rate) } : {}),
  }));
}
Promise.all(runs).then((list) => fs.writeFileSync(result, JSON.stringify(list)));
