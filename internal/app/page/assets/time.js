'use strict';

// The view of the time: when things happened in one iteration, which the run records when this page asks.

const kinds = {forward: 'forward', backward: 'backward', exchange: 'communication', update: 'update', message: 'message', wait: 'waiting for another worker', data: 'reading data'};
let timing = null; // the last answer
let widening = 1;  // of the timelines, by the zoom buttons

// modelled lists the runs on modelled machines.
const modelled = () => [...runs.values()].filter(r => r.state.started && r.state.started.machine_prototxt);

async function showTime() {
  $('timing').hidden = board;
  $('model').hidden = !modelled().length;
  const work = modelled().length ? showModel() : null;
  if (!board) {
    await busy('time-note', async ask => {
      timing = await ask('timeline');
      drawTimes();
      return `Iteration ${timing.iteration}. ${timing.note}`.trim();
    });
  }
  await work;
}

function drawTimes() {
  const parts = [];
  const seen = new Set([...timing.rows, ...timing.modelled].flatMap(r => r.spans.map(s => s.category)));
  $('key').replaceChildren(...Object.entries(kinds).filter(([k]) => seen.has(k)).map(([k, name]) => {
    const item = element('span', name, {class: 'key'});
    item.prepend(element('span', undefined, {class: 'swatch ' + k, 'aria-hidden': 'true'}));
    return item;
  }));
  const cluster = timing.modelled_uses && timing.modelled_uses.length;
  if (cluster) parts.push(...timelineParts('The modelled cluster, in modelled time', timing.modelled, timing.modelled_uses));
  parts.push(...timelineParts(timing.note ? 'All processes' : 'This computer', timing.rows, cluster ? null : timing.uses));
  if (timing.modelled.length && !cluster) parts.push(...timelineParts('The modelled machine, in modelled time', timing.modelled));
  $('timelines').replaceChildren(...parts);
}

const rowHeight = 26, topHeight = 22;
const short = v => figure(+v.toPrecision(3));

// timelineParts draws rows. uses say what the time of workers went to.
function timelineParts(title, rows, uses) {
  const shown = rows.map(r => ({name: r.name, spans: r.spans.filter(s => s.category !== 'iteration')})).filter(r => r.spans.length);
  const end = Math.max(...rows.flatMap(r => r.spans.map(s => s.begin + s.took)), 1e-6);
  const frame = element('div', undefined, {class: 'timeline'}), names = element('div', undefined, {class: 'names'}), box = element('div', undefined, {class: 'scroll', tabindex: '0', role: 'group', 'aria-label': `Timeline: ${title}; the table below has its values`});
  names.style.paddingTop = topHeight + 'px';
  for (const r of shown) {
    const [worker, lane] = r.name.split(': '), below = lane && shown.some(o => o.name === worker);
    const n = element('div', below ? lane : r.name, {title: r.name, class: below ? 'lane' : ''});
    n.style.height = rowHeight + 'px';
    names.append(n);
  }
  frame.append(names, box);
  const width = Math.max(300, ($('view-time').clientWidth || 900) - (innerWidth < 800 ? 110 : 190)) * widening, height = topHeight + rowHeight * shown.length + 4;
  const chart = svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}: ${short(end)} ms`});
  const x = t => t / end * width;
  const step = [1, 2, 5, 10].map(f => f * 10 ** Math.floor(Math.log10(end * 90 / width))).find(v => x(v) >= 90) || end;
  for (let t = 0; t < end; t += step) {
    chart.append(svg('path', {d: `M${x(t).toFixed(1)} 0V${height}`, class: 'tick'}));
    if (width - x(t) < 60) break;
    const label = svg('text', {x: x(t) + 4, y: 14, class: 'time'});
    label.textContent = figure(t) + ' ms';
    chart.append(label);
  }
  shown.forEach((r, i) => {
    for (const s of r.spans) {
      const w = Math.max(0.5, x(s.took)), bar = svg('rect', {x: x(s.begin), y: topHeight + i * rowHeight + 2, width: w, height: rowHeight - 5, class: 'bar ' + s.category + (w < 3 ? ' thin' : '')});
      const tip = svg('title', {});
      tip.textContent = `${s.name}, ${kinds[s.category] || s.category}: ${short(s.took)} ms from ${short(s.begin)} ms` + Object.entries(s.notes || {}).map(([k, v]) => `\n${k}: ${v}`).join('');
      bar.append(tip);
      chart.append(bar);
      if (w > 7 * s.name.length + 6) {
        const label = svg('text', {x: x(s.begin) + 4, y: topHeight + i * rowHeight + rowHeight - 9, class: 'on-bar'});
        label.textContent = s.name;
        chart.append(label);
      }
    }
  });
  drawMessages(chart, shown, x);
  box.append(chart);
  const parts = [element('h2', `${title}: ${short(end)} ms`), frame];
  if (uses && uses.length) parts.push(usesOf(uses));
  return [...parts, totals(shown)];
}

// drawMessages draws a line for each message, from its beginning at the sender to its end at the receiver.
function drawMessages(chart, rows, x) {
  const names = rows.map(r => r.name), middle = i => topHeight + (i + 0.5) * rowHeight;
  rows.forEach((r, i) => {
    for (const s of r.spans) {
      if (s.category !== 'message') continue;
      const to = names.indexOf(s.name.replace(/^to /, ''));
      if (to >= 0) chart.append(svg('path', {d: `M${x(s.begin).toFixed(1)} ${middle(i).toFixed(1)}L${x(s.begin + s.took).toFixed(1)} ${middle(to).toFixed(1)}`, class: 'way'}));
    }
  });
}

function usesOf(uses) {
  const part = (v, u) => `${short(v)} (${Math.round(100 * v / Math.max(u.whole, 1e-9))} %)`;
  return captioned('Where the time of each worker went, in ms. Communication beside computing counts as computing.', ['worker', 'iteration', 'computes', 'waits for others', 'communicates', 'waits for'],
    uses.map(u => [u.name, short(u.whole), part(u.computing, u), part(u.waiting, u), part(u.communicating, u), u.for.map(w => `${w.name}: ${short(w.took)}`).join(', ')]), 'uses');
}

// totals adds up the spans of each row by name.
function totals(rows) {
  const lines = new Map(), add = (name, kind, row, took) => {
    const key = name + ' ' + kind;
    if (!lines.has(key)) lines.set(key, {name, kind, sums: new Map()});
    const sums = lines.get(key).sums;
    sums.set(row, (sums.get(row) || 0) + took);
  };
  rows.forEach(r => r.spans.forEach(s => add(s.name, s.category, r.name, s.took)));
  const details = element('details'), names = rows.map(r => r.name);
  details.append(element('summary', 'Milliseconds by row'),
    captioned('Sums of the spans', ['what', 'kind', ...names], [...lines.values()].map(l => [l.name, kinds[l.kind] || l.kind, ...names.map(n => l.sums.has(n) ? short(l.sums.get(n)) : '')])));
  return details;
}

async function showModel() {
  const names = modelled().map(r => r.name), select = $('model-run');
  $('model-which').hidden = names.length < 2;
  if ([...select.options].map(o => o.value).join('\n') !== names.join('\n')) select.replaceChildren(...names.map(n => element('option', n, {value: n})));
  await busy('model-note', async ask =>
    drawModel(await ask('model?' + new URLSearchParams({run: select.value, layer: $('model-layer').value, direction: $('model-direction').value}))), 'Modelling ...');
}

// ranged is a modelled figure and where the true one probably lies, if that is known.
const ranged = (v, r) => short(v) + (r ? ` (${short(r.low)}-${short(r.high)})` : '');

// drawModel returns the figures of an iteration, in words.
function drawModel(v) {
  const r = v.report, layers = $('model-layer'), passes = [['forward', 'forward'], ['weight_gradient', 'weight gradient'], ['input_gradient', 'input gradient']];
  const wanted = ['', ...r.layers.filter(l => l.forward).map(l => l.name)];
  if ([...layers.options].map(o => o.value).join('\n') !== wanted.join('\n')) {
    const before = layers.value;
    layers.replaceChildren(...wanted.map(n => element('option', n || 'none', {value: n})));
    layers.value = wanted.includes(before) ? before : '';
  }
  const drawing = (text, alt) => {
    const img = element('img', undefined, {alt, class: 'plotted'});
    img.src = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
    img.addEventListener('load', () => URL.revokeObjectURL(img.src), {once: true});
    return img;
  };
  const rows = r.layers.flatMap(l => passes.filter(([p]) => l[p]).map(([p, name]) => [l.name, name, l[p].algorithm, ranged(l[p].modelled_ms, l[p].modelled_ms_range), ranged(l[p].gflops, l[p].gflops_range), short(100 * l[p].peak_share), l[p].bound]));
  const parts = [drawing(v.roofline, `Roofline of ${r.model} on ${r.machine}; the table below has its values`)];
  if (v.heatmap) parts.push(drawing(v.heatmap, `LDM and DMA of each CPE in ${r.mesh.layer}, ${r.mesh.direction}: at most ${Math.max(...r.mesh.cpes.map(c => c.ldm_peak_bytes))} of ${r.mesh.ldm_bytes} bytes of LDM`));
  parts.push(captioned('Passes through layers, modelled; in parentheses where the true figures probably lie', ['layer', 'pass', 'algorithm', 'ms', 'GFLOP/s', '% of the peak', 'bound by'], rows));
  $('model-pictures').replaceChildren(...parts);
  return `${r.model} on ${r.machine}, batch ${r.batch}: ${ranged(r.total.iteration_ms, r.total.iteration_ms_range)} ms an iteration, ${ranged(r.total.images_per_s, r.total.images_per_s_range)} images/s (modelled).`;
}

for (const id of ['model-run', 'model-layer', 'model-direction']) $(id).addEventListener('change', showModel);

function widen(by) {
  widening = Math.min(64, Math.max(1, widening * by));
  if (timing) drawTimes();
}

$('time-again').addEventListener('click', showTime);
$('wider').addEventListener('click', () => widen(2));
$('narrower').addEventListener('click', () => widen(0.5));
addEventListener('resize', () => { if (timing && !$('view-time').hidden) drawTimes(); });
