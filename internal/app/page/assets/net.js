'use strict';

// The views of the net and of the current batch. The training reads its values only when a page asks.

const svgNS = 'http://www.w3.org/2000/svg';

function element(tag, text, attributes) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
  return e;
}

function fill(table, head, rows) {
  const thead = element('thead'), tr = element('tr'), body = element('tbody');
  for (const h of head) tr.append(element('th', h, {scope: 'col'}));
  thead.append(tr);
  for (const row of rows) {
    const line = element('tr');
    for (const cell of row) {
      const td = element('td');
      td.append(cell);
      line.append(td);
    }
    body.append(line);
  }
  table.replaceChildren(thead, body);
}

async function get(path) {
  const answer = await fetch('api/' + path, {headers}).catch(() => null);
  if (!answer) throw new Error(run && (run.stopped || run.crashed) ? 'The run has ended: there is nothing new to see here.' : 'No connection to the run.');
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

// ---- the choice of the view ----

const views = ['curves', 'net', 'data', 'tests', 'time'];

function show(view) {
  for (const v of views) {
    $('view-' + v).hidden = v !== view;
    $('tab-' + v).setAttribute('aria-selected', String(v === view));
    $('tab-' + v).tabIndex = v === view ? 0 : -1;
  }
  if (view === 'curves') dispatchEvent(new Event('resize'));
  if (view === 'net') {
    sizeNet();
    showNet();
  }
  if (view === 'data') showData();
  if (view === 'tests') showTests();
  if (view === 'time') showTime();
}

for (const [i, v] of views.entries()) {
  $('tab-' + v).addEventListener('click', () => show(v));
  $('tab-' + v).addEventListener('keydown', e => {
    const step = {ArrowRight: 1, ArrowLeft: -1, Home: 1, End: -1}[e.key];
    if (!step) return;
    e.preventDefault();
    let at = {Home: -1, End: views.length}[e.key] ?? i;
    do at = (at + step + views.length) % views.length; while ($('tab-' + views[at]).hidden);
    $('tab-' + views[at]).focus();
    show(views[at]);
  });
}

const requests = new Map(); // by note: the last one

// busy does what asks the run and shows the answers. A note says meanwhile that the page waits, and then what it returns, or the error.
// It gets its answers from ask, which ends it if a later request of the same note has begun: its answers are older than what the page shows.
async function busy(note, what, waiting = 'Waiting for the current iteration ...') {
  const request = Symbol(note), last = () => requests.get(note) === request;
  const ask = async path => {
    const answer = await get(path);
    if (!last()) throw new Error('superseded');
    return answer;
  };
  requests.set(note, request);
  $(note).textContent = waiting;
  const text = await what(ask).catch(e => e.message);
  if (last()) $(note).textContent = text || '';
}

// ---- the net ----

let drawn = null; // the drawing of a run: {of, prototxts}
let looks = 0;    // answers that are on the way

// netRun is the run whose net is shown.
const netRun = () => (board && runs.get($('net-run').value)) || runs.values().next().value;

// looksIn says that the net can be looked into: it trains here.
const looksIn = () => !board && online && !run.stopped && !run.crashed;

async function showNet() {
  looks++;
  await showLayers();
  looks--;
}

// chooseRun lists a board's runs. It drops the drawing and the layer of another run.
function chooseRun() {
  const names = [...runs.values()].filter(r => r.state.started).map(r => r.name), select = $('net-run');
  $('net-which').hidden = !board;
  $('net-live').hidden = board;
  if ([...select.options].map(o => o.value).join('\n') === names.join('\n')) return;
  const before = select.value;
  select.replaceChildren(...names.map(n => element('option', n, {value: n})));
  if (names.includes(before)) select.value = before;
}

// drawNet asks for the drawing of a run's net, once for every start.
async function drawNet(r, ask) {
  const of = r.name + ' ' + r.state.began;
  if (drawn && drawn.of === of) return;
  const d = await ask('net?' + new URLSearchParams({run: r.name}));
  if (drawn && drawn.of === of) return; // page.js asks as well
  $('drawing').src = URL.createObjectURL(new Blob([d.svg], {type: 'image/svg+xml'}));
  drawn = {of, prototxts: d.prototxts};
  $('places').replaceChildren(...d.places.map(p => {
    const b = element('button', undefined, {type: 'button', 'aria-label': 'Layer ' + p.layer, title: p.layer});
    Object.assign(b.style, {left: 100 * p.left + '%', top: 100 * p.top + '%', width: 100 * p.width + '%', height: 100 * p.height + '%'});
    b.addEventListener('click', () => showLayer(p.layer));
    return b;
  }));
  $('layer').replaceChildren(element('p', 'Click on a layer.'));
}

// layerButton is a layer's name, which shows the layer.
function layerButton(name) {
  const b = element('button', name, {type: 'button', class: 'link cut', title: name});
  b.addEventListener('click', () => {
    showLayer(name);
    if (placeOf(name)) centre(placeOf(name));
  });
  return b;
}

async function showLayers() {
  await busy('net-note', async ask => {
    chooseRun();
    const r = netRun();
    if (!r || !r.state.started) throw new Error(board ? 'No run has started yet.' : 'The training has not started yet.');
    await drawNet(r, ask);
    $('net-about').hidden = !looksIn();
    if (!looksIn()) {
      showRecorded(r);
      findLayers(null);
      return;
    }
    const overview = await ask('layers'), list = overview.layers;
    if ($('follow').checked) record(overview);
    fill($('layers'), ['layer', 'type', 'tops', 'forward ms', 'backward ms', 'weights', 'RMS of weights', 'RMS of gradients', ''], list.map(l => {
      return [layerButton(l.name), l.type, (l.tops || []).join('; '), short(number(l.forward_ms)), short(number(l.backward_ms)),
        l.weights ? String(l.weights) : '', l.weights ? short(number(l.weight_rms)) : '', l.weights ? short(number(l.gradient_rms)) : '',
        element('strong', l.mark, {class: 'bad'})];
    }));
    const bad = new Map(list.filter(l => l.mark).map(l => [l.name, l.mark]));
    for (const b of $('places').children) {
      b.classList.toggle('marked', bad.has(b.title));
      b.setAttribute('aria-label', `Layer ${b.title}${bad.has(b.title) ? ': ' + bad.get(b.title) : ''}`);
    }
    findLayers(null);
  });
}

// showRecorded shows what a run has said of its net when it started.
function showRecorded(r) {
  fill($('layers'), ['layer', 'type', 'tops', 'weights'], (r.state.started.layers || []).map(l => [layerButton(l.name), l.type, (l.tops || []).join('; '), l.weights ? String(l.weights) : '']));
}

const maxRows = 2000; // as in the server's tables

// record adds a point to the curves of the layers' weights and gradients. They are this page's own.
function record(overview) {
  const list = overview.layers.filter(l => l.weights), names = list.flatMap(l => ['gradients ' + l.name, 'weights ' + l.name]);
  let t = tables.get('norms');
  if (!t || t.names.join() !== names.join() || t.iterations[t.iterations.length - 1] > overview.iteration) {
    t = {names, iterations: [], seconds: [], columns: names.map(() => [])};
    tables.set('norms', t);
  }
  if (t.iterations[t.iterations.length - 1] === overview.iteration) return;
  t.iterations.push(overview.iteration);
  t.seconds.push(run.seconds);
  list.forEach((l, i) => {
    t.columns[2 * i].push(number(l.gradient_rms));
    t.columns[2 * i + 1].push(number(l.weight_rms));
  });
  if (t.iterations.length > maxRows) {
    for (const c of [t.iterations, t.seconds, ...t.columns]) c.splice(0, c.length, ...c.filter((_, i) => i % 2));
  }
  dirty = true;
}

let lookEvery = 2000; // milliseconds

(async function lookAgain() {
  for (;;) {
    await new Promise(done => setTimeout(done, lookEvery));
    if ($('follow').checked && run && looksIn() && !looks) await showNet();
  }
})();

// bars draws a histogram as SVG.
function bars(h, title) {
  const svg = document.createElementNS(svgNS, 'svg'), top = Math.max(1, ...h.counts), n = h.counts.length;
  svg.setAttribute('viewBox', '0 0 200 60');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('class', 'bars');
  svg.setAttribute('aria-label', `Histogram of ${title}: ${h.count} values from ${figure(number(h.min))} to ${figure(number(h.max))}, mean ${figure(number(h.mean))}`);
  h.counts.forEach((c, i) => {
    const r = document.createElementNS(svgNS, 'rect');
    for (const [k, v] of Object.entries({x: i * 200 / n, y: 60 - 60 * c / top, width: 200 / n - 0.5, height: 60 * c / top})) r.setAttribute(k, v);
    svg.append(r);
  });
  return svg;
}

function statistics(h) {
  const share = h.count ? 100 * h.zeros / h.count : 0;
  return `${figure(number(h.min))} to ${figure(number(h.max))}, mean ${figure(number(h.mean))}, deviation ${figure(number(h.deviation))}, ${figure(share)} % zeros` +
    (h.non_finite ? `, ${h.non_finite} not finite` : '');
}

const picture = (data, alt) => element('img', undefined, {src: 'data:image/png;base64,' + data, alt, class: 'tiles'});

async function showLayer(name) {
  for (const b of $('places').children) b.setAttribute('aria-pressed', String(b.title === name));
  await busy('layer-note', async ask => {
    if (!looksIn()) {
      showRecordedLayer(name);
      return;
    }
    const l = await ask('layer?name=' + encodeURIComponent(name)), parts = [];
    parts.push(element('h2', `${l.name} (${l.type})`));
    const facts = [`forward ${short(number(l.forward_ms))} ms, backward ${short(number(l.backward_ms))} ms`, `${figure(l.bytes / 1e6)} MB of tops and weights, with gradients`];
    if (l.dead !== null) facts.push(`${figure(100 * number(l.dead))} % of channels are 0 in the whole batch (dead)`);
    for (const f of facts.concat(l.algorithms || [])) parts.push(element('p', f));
    if (l.mark) parts.push(element('p', l.mark, {class: 'bad'}));
    for (const b of l.blobs || []) {
      parts.push(element('h3', `${b.role}: ${b.shape}`), element('p', statistics(b.values)), bars(b.values, b.role));
      if (b.gradients) parts.push(element('p', 'gradients: ' + statistics(b.gradients)), bars(b.gradients, 'gradients of ' + b.role));
      if (b.picture) parts.push(picture(b.picture, `${b.shown} of ${b.of} images of ${b.role}`), element('p', `${b.shown} of ${b.of} images`));
    }
    const text = element('details');
    text.append(element('summary', 'Prototxt'), element('pre', l.prototxt));
    $('layer').replaceChildren(...parts, text);
  });
}

function showRecordedLayer(name) {
  const l = (netRun().state.started.layers || []).find(x => x.name === name), parts = [element('h2', l ? `${l.name} (${l.type})` : name)];
  if (l) (l.tops || []).forEach((shape, i) => parts.push(element('p', `top ${i}: ${shape}`)));
  if (l && l.weights) parts.push(element('p', `${l.weights} weights`));
  const text = drawn.prototxts[name];
  if (text) parts.push(element('pre', text));
  $('layer').replaceChildren(...parts);
}

// ---- the data ----

async function showData() {
  await busy('data-note', async ask => {
    const b = await ask('batch');
    fill($('data-tops'), ['top', 'shape', 'values'], (b.tops || []).map(t => [t.name, t.shape, statistics(t.values)]));
    $('items').replaceChildren(...(b.items || []).map((item, i) => {
      const li = element('li');
      for (const p of item.pictures || []) li.append(picture(p, 'item ' + i));
      for (const l of item.labels || []) {
        const text = l.values.map(v => figure(number(v))).join(' '), name = l.values.length === 1 && (b.names || [])[l.values[0]];
        li.append(element('span', `${l.top} ${text}${name && name !== text ? ': ' + name : ''}`));
      }
      return li;
    }));
    $('items-note').textContent = `${(b.items || []).length} of ${b.size} items; each image is scaled by its own range.`;
  });
}

$('net-again').addEventListener('click', showNet);
$('net-run').addEventListener('change', showNet);
$('data-again').addEventListener('click', showData);
