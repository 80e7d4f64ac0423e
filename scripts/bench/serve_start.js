// Starts a server 11 times, for serve.sh: serve_start.js PROGRAM ARGUMENT... It prints the median, the least and the most of the milliseconds until its log says where it is.
const { spawn } = require('child_process');
const start = () => new Promise((done, fail) => {
  const begin = process.hrtime.bigint();
  const server = spawn(process.argv[2], process.argv.slice(3), { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '', took;
  server.stderr.on('data', (b) => {
    text += b;
    if (took === undefined && text.includes('the server: ')) {
      took = Number(process.hrtime.bigint() - begin) / 1e6;
      server.kill('SIGKILL');
    }
  });
  server.on('close', () => (took === undefined ? fail(new Error(text)) : done(took)));
});
(async () => {
  const times = [];
  for (let i = 0; i < 11; i++) times.push(await start());
  times.sort((a, b) => a - b);
  console.log(`${times[5].toFixed(0)} ms in the median, ${times[0].toFixed(0)} at least, ${times[10].toFixed(0)} at most`);
})();
