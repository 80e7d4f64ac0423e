// Latencies of requests from Prometheus's histograms, and their curves.

// read returns the histograms of whole requests in a text of metrics: by "MODEL VERSION", the bounds of the buckets in seconds and how many requests are within them.
export function read(text) {
  const found = new Map();
  const line = /^swcaffe_serve_stage_seconds_bucket\{(.*)\} (\S+)$/gm;
  for (const [, labels, count] of text.matchAll(line)) {
    const of = Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, k, v]) => [k, v.replace(/\\(.)/g, '$1')]));
    if (of.stage !== 'request') continue;
    const key = JSON.stringify([of.model, of.version]);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push([of.le === '+Inf' ? Infinity : Number(of.le), Number(count)]);
  }
  return found;
}

// between returns the histogram of the requests that came between two readings.
export function between(before, after) {
  const old = new Map(before);
  return after.map(([bound, count]) => [bound, Math.max(0, count - (old.get(bound) || 0))]);
}

// quantile returns the time in seconds within which a share of a histogram's requests were answered, interpolated in its bucket as Prometheus does; NaN without requests.
export function quantile(histogram, share) {
  const total = histogram.length ? histogram.at(-1)[1] : 0;
  if (!total) return NaN;
  let low = 0, under = 0;
  for (const [bound, count] of histogram) {
    if (count >= share * total) {
      if (bound === Infinity) return low;
      return low + (bound - low) * (share * total - under) / (count - under);
    }
    [low, under] = [bound, count];
  }
  return low;
}

// time writes seconds for people.
export function time(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  const [value, unit] = seconds < 1 ? [seconds * 1000, 'ms'] : [seconds, 's'];
  return `${Number(value.toPrecision(3))} ${unit}`;
}

// draw draws two curves of [p50, p99] pairs, oldest first, in a canvas. The newest is at the right edge; the axis ends at the largest value.
export function draw(canvas, points, most) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const c = canvas.getContext('2d'), style = getComputedStyle(canvas), colour = name => style.getPropertyValue(name);
  c.scale(ratio, ratio);
  c.font = '12px system-ui, sans-serif';
  const top = Math.max(...points.flat().filter(Number.isFinite), 0.001), left = 60, bottom = height - 18, high = 10;
  c.strokeStyle = colour('--line');
  c.fillStyle = colour('--soft');
  c.textAlign = 'right';
  for (const part of [0, 0.5, 1]) {
    const y = bottom - part * (bottom - high);
    c.beginPath();
    c.moveTo(left, y);
    c.lineTo(width, y);
    c.stroke();
    c.fillText(time(part * top), left - 6, y + 4);
  }
  c.fillText('now', width, height - 3);
  ['--accent', '--second'].forEach((name, k) => {
    c.strokeStyle = c.fillStyle = colour(name);
    c.lineWidth = 2;
    c.beginPath();
    let joined = false;
    points.forEach((p, i) => {
      const x = width - 3 - (points.length - 1 - i) / (most - 1) * (width - left - 6), y = bottom - p[k] / top * (bottom - high);
      if (!Number.isFinite(y)) {
        joined = false;
        return;
      }
      if (joined) c.lineTo(x, y); else c.moveTo(x, y);
      c.fillRect(x - 1.5, y - 1.5, 3, 3);
      joined = true;
    });
    c.stroke();
  });
}
