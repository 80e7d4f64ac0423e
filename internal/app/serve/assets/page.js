import {read, between, quantile, time, draw} from './chart.js';

const $ = id => document.getElementById(id);
const period = 2000, kept = 90; // milliseconds between readings of the metrics, and how many are shown

// ---- the token: in the address behind #token=, or typed ----

const inAddress = new URLSearchParams(location.hash.slice(1)).get('token');
if (inAddress) {
  sessionStorage.setItem('token', inAddress);
  history.replaceState(null, '', location.pathname);
}
const headers = () => sessionStorage.getItem('token') ? {Authorization: 'Bearer ' + sessionStorage.getItem('token')} : {};

$('ask').addEventListener('submit', e => {
  e.preventDefault();
  sessionStorage.setItem('token', $('token').value);
  refresh();
});

// call asks the server. An error has the server's text.
async function call(path, options = {}) {
  const answer = await fetch(path, {...options, headers: headers()});
  if (answer.ok) return answer;
  $('ask').hidden = answer.status !== 401;
  const text = await answer.text();
  let said = text;
  try { said = JSON.parse(text).error || text; } catch { /* no JSON */ }
  throw new Error(said);
}

// Links that need the token open as files of the page.
for (const id of ['openapi', 'metrics']) {
  $(id).addEventListener('click', async e => {
    if (!sessionStorage.getItem('token')) return;
    e.preventDefault();
    try {
      const address = URL.createObjectURL(await (await call($(id).getAttribute('href'))).blob());
      open(address);
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch (error) { $('state').textContent = error.message; }
  });
}

// ---- elements ----

function make(tag, text, parent, classes) {
  const e = document.createElement(tag);
  if (text) e.textContent = text;
  if (classes) e.className = classes;
  if (parent) parent.append(e);
  return e;
}

function table(parent, head, rows) {
  const t = make('table', '', make('div', '', parent, 'scroll'));
  const first = make('tr', '', make('thead', '', t));
  head.forEach(h => { make('th', h, first).scope = 'col'; });
  const body = make('tbody', '', t);
  for (const row of rows) {
    const r = make('tr', '', body);
    row.forEach(cell => cell instanceof Node ? make('td', '', r).append(cell) : make('td', String(cell), r));
  }
  return t;
}

// ---- models ----

const shown = new Map(); // by JSON of [name, version]: the elements and readings of a version

function add(model) {
  const section = make('section', '', null, 'model');
  make('h2', model.version ? `${model.name}, version ${model.version}` : model.name, section);
  const about = make('div', '', section);
  const ports = (title, list) => {
    make('h3', title, about);
    table(about, ['name', 'type', 'shape'], list.map(p => [p.name, p.datatype, p.shape.map(n => n < 0 ? 'any' : n).join(' × ') || 'a value']));
  };
  ports('Inputs', model.inputs);
  ports('Outputs', model.outputs);
  const curves = make('div', '', section);
  make('h3', 'Latency of requests', curves);
  const facts = make('p', '', curves, 'soft');
  const canvas = make('canvas', '', curves, 'plot');
  canvas.setAttribute('role', 'img');
  if (model.images) images(model, make('div', '', section));
  return {section, facts, canvas, of: JSON.stringify(model), points: [], last: null};
}

// images adds a field for images to a version.
function images(model, parent) {
  make('h3', model.images === 'detect' ? 'Objects in an image' : 'Labels of an image', parent);
  const field = make('label', 'Drop a JPEG or PNG image here, or choose one', parent, 'drop');
  const input = make('input', '', field);
  input.type = 'file';
  input.accept = 'image/jpeg,image/png';
  const results = make('div', '', parent);
  results.setAttribute('role', 'status');
  const path = `v2/models/${encodeURIComponent(model.name)}${model.version ? '/versions/' + encodeURIComponent(model.version) : ''}/${model.images}`;
  let asked = 0;
  const ask = async file => {
    if (!file) return;
    const mine = ++asked, begin = performance.now();
    results.replaceChildren(make('p', 'Asking', null, 'soft'));
    const list = [];
    try {
      const answer = await (await call(path, {method: 'POST', body: file})).json();
      const took = (performance.now() - begin) / 1000;
      list.push(make('p', `${file.name}: answered in ${time(took)}`, null, 'soft'));
      list.push(...await (model.images === 'detect' ? boxes(file, answer) : labels(file, answer)));
    } catch (error) {
      list.push(make('p', error.message, null, 'bad'));
    }
    if (mine === asked) results.replaceChildren(...list);
  };
  input.addEventListener('change', () => ask(input.files[0]));
  for (const [event, over] of [['dragenter', true], ['dragover', true], ['dragleave', false], ['drop', false]]) {
    field.addEventListener(event, e => {
      e.preventDefault();
      field.classList.toggle('over', over);
      if (event === 'drop') ask(e.dataTransfer.files[0]);
    });
  }
}

// picture draws a file in a canvas with the size that the server read; 0: its own. It returns null if the browser cannot read it.
async function picture(file, width, height) {
  let bitmap;
  try { bitmap = await createImageBitmap(file); } catch { return null; }
  const canvas = make('canvas', '', null, 'picture');
  const scale = width ? 1 : Math.min(1, 320 / bitmap.width);
  canvas.width = width || Math.max(1, bitmap.width * scale);
  canvas.height = height || Math.max(1, bitmap.height * scale);
  canvas.getContext('2d').drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', file.name);
  return canvas;
}

const percent = score => score === null ? '–' : score.toFixed(4);

async function labels(file, answer) {
  const holder = document.createElement('div');
  table(holder, ['score', '', 'class', 'label'], answer.predictions.map(p => {
    const bar = document.createElement('meter');
    bar.value = p.score || 0;
    return [percent(p.score), bar, p.class, p.label];
  }));
  return [await picture(file), holder].filter(Boolean);
}

async function boxes(file, answer) {
  const canvas = await picture(file, answer.width, answer.height);
  if (canvas) {
    const c = canvas.getContext('2d'), size = Math.max(12, answer.width / 30);
    c.font = `${size}px system-ui, sans-serif`;
    c.lineWidth = Math.max(2, answer.width / 250);
    for (const o of answer.objects) {
      c.strokeStyle = c.fillStyle = `hsl(${o.class * 67 % 360} 90% 55%)`;
      c.strokeRect(o.xmin, o.ymin, o.xmax - o.xmin, o.ymax - o.ymin);
      c.fillText(`${o.label} ${percent(o.score)}`, Math.max(0, o.xmin), Math.max(size, o.ymin - 4));
    }
  }
  const holder = document.createElement('div');
  if (answer.objects.length) {
    table(holder, ['score', 'class', 'label', 'xmin', 'ymin', 'xmax', 'ymax'],
      answer.objects.map(o => [percent(o.score), o.class, o.label, ...[o.xmin, o.ymin, o.xmax, o.ymax].map(x => x.toFixed(1))]));
  } else {
    make('p', 'No object has the lowest score that is wanted.', holder);
  }
  return [canvas, holder].filter(Boolean);
}

// ---- readings ----

// take shows the requests since the last reading.
function take(one, histogram) {
  if (one.last) {
    const recent = between(one.last, histogram), count = recent.at(-1)[1];
    one.points.push([quantile(recent, 0.5), quantile(recent, 0.99)]);
    one.points.splice(0, one.points.length - kept);
    const [p50, p99] = one.points.at(-1);
    one.facts.replaceChildren(`${(count * 1000 / period).toFixed(1)} requests a second; `, make('span', `median ${time(p50)}`, null, 'first'), ', ', make('span', `99th percentile ${time(p99)}`, null, 'second'));
    one.canvas.setAttribute('aria-label', one.facts.textContent);
  }
  one.last = histogram;
  draw(one.canvas, one.points, kept);
}

let busy = false;

async function refresh() {
  if (busy || document.hidden) return;
  busy = true;
  try {
    const models = await (await call('models')).json(), keys = new Set();
    for (const m of models) {
      const key = JSON.stringify([m.name, m.version]), had = shown.get(key);
      keys.add(key);
      if (had && had.of === JSON.stringify(m)) continue;
      if (had) had.section.remove();
      shown.set(key, add(m));
    }
    for (const [key, one] of shown) {
      if (!keys.has(key)) {
        one.section.remove();
        shown.delete(key);
      }
    }
    const order = models.map(m => shown.get(JSON.stringify([m.name, m.version])).section);
    if (order.some((s, i) => $('models').children[i] !== s)) $('models').replaceChildren(...order);
    const histograms = read(await (await call('metrics')).text());
    for (const [key, one] of shown) if (histograms.has(key)) take(one, histograms.get(key));
    $('ask').hidden = true;
    $('state').textContent = models.length === 1 ? 'One model is ready.' : `${models.length} models and versions are ready.`;
    $('state').className = '';
  } catch (error) {
    $('state').textContent = error instanceof TypeError ? 'The server does not answer.' : error.message;
    $('state').className = 'bad';
  }
  busy = false;
}

refresh();
setInterval(refresh, period);
addEventListener('resize', () => shown.forEach(one => draw(one.canvas, one.points, kept)));
