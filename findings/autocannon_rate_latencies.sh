#!/usr/bin/env bash
# autocannon 9.0.0 with a rate adds latencies to its report that no request had: a server that never answers within 40 ms has a 2.5th percentile of a few milliseconds. Its
# correction for requests that were held back takes the reciprocal of the rate, in seconds, for an interval in milliseconds, and rounds it up to 1: so each latency of n
# milliseconds is counted with n-1, n-2, ... 1 beside it, also where no request was late. The median of the report is about half of the real one, and the ratio of a high
# percentile to the median about twice the real ratio.
#
# Guess: at a rate far below what the server can do there is nothing to correct, so that the report has as many latencies as responses, and none below 40 ms.
# Seen:  ten times as many latencies as responses or more, and a 2.5th percentile below 20 ms; without a rate both are as guessed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --ignore-scripts --no-fund --no-audit --silent autocannon@9.0.0 >/dev/null
cat >finding.js <<'END'
const http = require("http"), autocannon = require("autocannon");

// measure asks a server that takes 40 ms, by 4 connections for 4 seconds, at 40 requests a second in all (of 100 that are possible) or as fast as it answers.
async function measure(url, rate) {
  const seen = [];
  const run = autocannon({ url, connections: 4, duration: 4, ...rate });
  run.on("response", (client, status, bytes, ms) => seen.push(ms));
  const r = await run;
  seen.sort((a, b) => a - b);
  console.log(`${JSON.stringify(rate)}: ${seen.length} responses, the fastest ${seen[0].toFixed(1)} ms, median ${seen[seen.length >> 1].toFixed(1)} ms;`,
    `reported: ${r.latency.totalCount} latencies, 2.5th percentile ${r.latency.p2_5} ms, median ${r.latency.p50} ms`);
  return { responses: seen.length, fastest: seen[0], ...r.latency };
}

const server = http.createServer((q, r) => setTimeout(() => r.end("x"), 40)).listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  console.log(`autocannon ${require("autocannon/package.json").version}`);
  const free = await measure(url, {}), held = await measure(url, { overallRate: 40 });
  const asSeen = free.totalCount === free.responses && free.p2_5 >= 39 && held.fastest >= 39 && held.totalCount > 10 * held.responses && held.p2_5 < 20;
  if (!asSeen) console.log("this differs from what was seen");
  process.exit(asSeen ? 0 : 1);
});
END
node finding.js
