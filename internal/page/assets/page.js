'use strict';

// The page of a run. The server sends parts of tables (the training net's and each test net's); charts show their columns.

const $ = id => document.getElementById(id);
const runs = new Map();   // by name: {name, state, tables, shown}; a table is {names, iterations, seconds, columns}
let tables = new Map();   // of the first run, by name
let board = false;        // the page shows many runs
const charts = new Map(); // by title
let run = null;           // the last state of the first run
let range = null;         // the zoomed part of the x axis
let dirty = false;        // the charts are older than the tables or the settings

// ---- the token ----

const inAddress = new URLSearchParams(location.hash.slice(1)).get('token');
if (inAddress) {
  sessionStorage.setItem('token', inAddress);
  history.replaceState(null, '', location.pathname);
}
const token = sessionStorage.getItem('token');
const headers = token ? {Authorization: 'Bearer ' + token} : {};

// ---- the stream ----

// number reads a figure: NaN and infinities come as text.
const number = v => v === 'Infinity' ? Infinity : v === '-Infinity' ? -Infinity : v === 'NaN' ? NaN : v;

let joined = false; // this stream has brought something

function receive(news) {
  board = news.board;
  for (const b of ['test', 'rate', 'snapshot', 'stop']) $(b).hidden = !(news.buttons || []).includes(b);
  for (const name of runs.keys()) if (!(news.names || []).includes(name)) runs.delete(name);
  for (const r of news.runs || []) {
    if (!runs.has(r.name)) runs.set(r.name, {name: r.name, shown: true, tables: new Map()});
    const known = runs.get(r.name);
    if (!r.state.started && joined && known.state) r.state.started = known.state.started; // a stream has it once
    known.state = r.state;
    for (const p of r.parts || []) takePart(known.tables, p);
  }
  const first = runs.values().next().value;
  if (first) {
    run = first.state;
    tables = first.tables;
  }
  joined = true;
  dirty = true;
  showState();
  testsChanged();
  if (!board && first && run.started) drawNet(first, get).catch(() => {}); // so that it is there when the run has ended
}

function takePart(all, p) {
  let t = all.get(p.table);
  if (!t || p.from === 0) {
    t = {names: p.names, iterations: [], seconds: [], columns: p.names.map(() => [])};
    all.set(p.table, t);
  }
  t.iterations.length = t.seconds.length = p.from;
  t.iterations.push(...(p.iterations || []));
  t.seconds.push(...(p.seconds || []).map(number));
  t.columns.forEach((c, i) => {
    c.length = p.from;
    c.push(...(p.columns[i] || []).map(number));
  });
}

// follow reads the stream for ever. When the run ends, or is started again, it connects anew.
async function follow() {
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    try {
      const answer = await fetch('api/stream', {headers});
      if (!answer.ok) throw new Error(answer.status === 401 ? 'Open the address in the log: it has the token.' : await answer.text());
      joined = false;
      connected(true);
      wait = 500;
      await readEvents(answer.body.getReader());
    } catch (e) {
      if (!(e instanceof TypeError)) $('state').textContent = e.message;
    }
    connected(false);
    await new Promise(done => setTimeout(done, wait));
  }
}

async function readEvents(reader) {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    text += decoder.decode(value, {stream: true});
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const event = text.slice(0, end);
      if (event.startsWith('data: ')) receive(JSON.parse(event.slice(6)));
    }
  }
}

let online = false;
function connected(now) {
  online = now;
  showState();
}

// ---- the head ----

const figure = v => v === null || v === undefined ? '-' : Number.isNaN(v) ? 'nan' : !Number.isFinite(v) ? String(v) : String(+v.toPrecision(6));

function duration(s) {
  if (!Number.isFinite(s)) return '-';
  s = Math.round(s);
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h ? `${h} h ${m} min` : m ? `${m} min ${s % 60} s` : `${s} s`;
}

function showState() {
  $('run-head').hidden = board;
  $('runs').hidden = !board;
  for (const v of ['data', 'tests']) $('tab-' + v).hidden = board;
  $('tab-time').hidden = board && !modelled().length;
  if (board) showRuns();
  else showRun();
}

// say tells people who do not see the page of a change of the run's state, and not of every iteration.
function say(what) {
  if ($('said').textContent !== what) $('said').textContent = what;
}

function showRun() {
  const state = $('state'), words = $('words');
  state.className = '';
  if (!run || !run.started) {
    if (!run && !online) return;
    state.textContent = 'The training has not started yet.';
    return;
  }
  const s = run.started, train = tables.get('train');
  $('title').textContent = s.net || s.solver;
  document.title = (s.net || 'run') + ' - swcaffe';
  const done = train && train.iterations.length ? train.iterations[train.iterations.length - 1] + 1 : s.iteration;
  $('progress').value = s.max_iter ? done / s.max_iter : 0;
  words.hidden = !run.crashed;
  $('stackBox').hidden = !run.crashed || !run.crashed.stack;
  if (run.crashed) {
    state.textContent = `Crashed at iteration ${run.crashed.iteration}.`;
    state.className = 'bad';
    words.textContent = run.crashed.error;
    $('stack').textContent = run.crashed.stack || '';
  } else if (run.stopped) {
    state.textContent = run.stopped.early ? `Stopped early, after ${run.stopped.iteration} iterations.` : `Done: ${run.stopped.iteration} iterations.`;
    state.className = 'good';
  } else if (!online) {
    state.textContent = `No connection to the run; its last news are of iteration ${done}.`;
    state.className = 'bad';
  } else {
    state.textContent = `Iteration ${done} of ${s.max_iter}`;
  }
  say(run.crashed || run.stopped || !online ? state.textContent : 'The run trains.');
  const ended = !!(run.crashed || run.stopped), facts = [s.solver, `${ended ? 'ran' : 'running'} for ${duration(run.seconds)}`];
  if (!ended && train) facts.push(...left(train, s.iteration, s.max_iter));
  if (s.workers > 1) facts.push(`${s.workers} workers`);
  facts.push(`seed ${s.seed}`);
  if (run.snapshot) facts.push(`last snapshot ${run.snapshot.state}`);
  $('facts').textContent = facts.join(' \u00b7 ');
  $('buttons').hidden = !token || !online || ended;
  $('after').hidden = !ended;
}

// left tells the time to the last iteration by the pace of the second half of those since the last start.
function left(train, start, end) {
  const n = train.iterations.length, at = i => train.iterations[i];
  const back = Math.max(n >> 1, train.iterations.findIndex(i => i >= start));
  if (back >= n - 1) return [];
  const pace = (train.seconds[n - 1] - train.seconds[back]) / (at(n - 1) - at(back));
  return [`about ${duration(pace * (end - at(n - 1) - 1))} to go`];
}

// ---- curves ----

const settings = () => ({axis: $('axis').value, images: Math.max(1, +$('images').value || 1), smoothing: +$('smoothing').value, log: $('log').checked});

const ownTitles = {loss: 'loss (total)', smoothed_loss: 'loss (total)', lr: 'learning rate', items_per_second: 'images/s', data_wait: 'wait for data (share of time)'};
const order = ['loss (total)'];
const last = ['learning rate', 'images/s', 'wait for data (share of time)'];

// curves lists the curves of every chart: an output of the training net and of the test nets share one.
function curves() {
  const found = new Map();
  const add = (title, curve) => found.has(title) ? found.get(title).push(curve) : found.set(title, [curve]);
  for (const r of runs.values()) {
    if (!r.shown || !r.state.started) continue;
    const averages = /average_loss: ([2-9]|\d\d)/.test(r.state.started.solver_prototxt);
    for (const [name, t] of r.tables) {
      t.names.forEach((column, i) => {
        if (name === 'norms') {
          const [kind, layer] = [column.slice(0, column.indexOf(' ')), column.slice(column.indexOf(' ') + 1)];
          add(kind + ' (root mean square)', {run: r.name, table: name, label: layer, column: i});
          return;
        }
        const output = column.startsWith('output ') ? column.slice(7) : null;
        if (column === 'smoothed_loss' && !averages) return;
        const label = column === 'smoothed_loss' ? 'train, average_loss' : name;
        add(output || ownTitles[column], {run: r.name, table: name, label: board ? `${r.name}: ${label}` : label, test: name.startsWith('test'), column: i});
      });
    }
  }
  const rank = title => order.includes(title) ? 0 : last.includes(title) ? 2 + last.indexOf(title) : 1;
  return [...found].sort((a, b) => rank(a[0]) - rank(b[0]) || (a[0] < b[0] ? -1 : 1));
}

function abscissa(t, s, items) {
  if (s.axis === 'time') return t.seconds;
  if (s.axis === 'epoch') return t.iterations.map(i => i * items / s.images);
  return t.iterations;
}

// smooth is an exponential moving mean, corrected for its start.
function smooth(values, weight) {
  if (!weight) return values;
  let mean = 0, sum = 0;
  return values.map(v => {
    if (!Number.isFinite(v)) return v;
    mean = weight * mean + (1 - weight) * v;
    sum = weight * sum + 1 - weight;
    return mean / sum;
  });
}

// dataOf returns the aligned columns of a chart: x and a list for each curve; null is no value.
function dataOf(list, s) {
  const parts = list.map(c => {
    const r = runs.get(c.run), t = r.tables.get(c.table);
    const usable = v => Number.isFinite(v) && (!s.log || v > 0) ? v : null;
    return [abscissa(t, s, r.state.started.items), smooth(t.columns[c.column], s.smoothing).map(usable)];
  });
  return parts.length === 1 ? parts[0] : uPlot.join(parts);
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const palette = () => dark.matches ? ['#8ab4ff', '#ffb86b', '#7fd6a0', '#ff9fc8', '#c7a6ff'] : ['#1f5fbf', '#b35900', '#1a6e3c', '#a8325f', '#6b3fa0'];
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]]; // beside colours
const axisName = s => s.axis === 'time' ? 'seconds' : s.axis;

function options(chart, s) {
  const style = getComputedStyle(document.body), text = style.getPropertyValue('--soft'), line = style.getPropertyValue('--line');
  const axis = extra => Object.assign({stroke: text, grid: {stroke: line, width: 1}, ticks: {stroke: line}}, extra);
  const colours = palette();
  return {
    width: chart.plot.clientWidth || 400, height: 260,
    cursor: {sync: {key: 'run'}, drag: {x: true, y: false}},
    scales: {x: {time: false, range: (u, lo, hi) => range || [lo, hi > lo ? hi : lo + 1]}, y: {distr: s.log ? 3 : 1}},
    axes: [axis({label: axisName(s), labelSize: 22, size: 40, values: (u, ticks) => ticks.map(figure)}), axis({size: (u, texts) => 20 + 8 * Math.max(4, ...(texts || []).map(t => t.length)), values: (u, ticks) => ticks.map(v => v === null ? '' : figure(v))})],
    series: [{label: axisName(s), value: (u, v) => figure(v)}].concat(chart.list.map((c, i) => ({
      label: c.label, stroke: colours[i % colours.length], width: c.test ? 2 : 1.3, spanGaps: true,
      dash: dashes[i % dashes.length], points: {show: c.test}, value: (u, v) => figure(v),
    }))),
    hooks: {setSelect: [u => {
      if (u.select.width < 4) return;
      zoom([u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')]);
      u.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
    }]},
  };
}

// fit gives a chart the width of its place, which has none while the view is hidden.
function fit(chart) {
  const width = chart.plot.clientWidth;
  if (width && width !== chart.u.width) chart.u.setSize({width, height: 260});
}

function zoom(to) {
  range = to;
  dirty = true;
}

// newChart makes a chart's frame: heading, plot, tools and room for its table.
function newChart(title) {
  const frame = document.createElement('section');
  frame.className = 'chart';
  frame.innerHTML = '<h2></h2><div class="plot" tabindex="0" role="application" aria-roledescription="chart"></div><div class="tools"></div><div class="table" hidden></div>';
  frame.querySelector('h2').textContent = title;
  const chart = {title, frame, plot: frame.querySelector('.plot'), table: frame.querySelector('.table'), list: [], kind: ''};
  chart.plot.addEventListener('keydown', e => key(chart, e));
  chart.plot.addEventListener('dblclick', () => zoom(null));
  for (const [name, act] of [['Table', toggleTable], ['CSV', saveCSV], ['PNG', savePNG], ['SVG', saveSVG]]) {
    const b = document.createElement('button');
    b.type = 'button';
    b.textContent = name;
    b.setAttribute('aria-label', `${name} of ${title}`);
    b.addEventListener('click', () => act(chart, b));
    frame.querySelector('.tools').append(b);
  }
  $('charts').append(frame);
  return chart;
}

function draw() {
  requestAnimationFrame(draw);
  if (!dirty || document.hidden || ![...runs.values()].some(r => r.state.started)) return;
  dirty = false;
  const s = settings(), all = curves();
  for (const [title, chart] of charts) {
    if (all.some(a => a[0] === title)) continue;
    chart.frame.remove();
    charts.delete(title);
  }
  for (const [title] of all) if (!charts.has(title)) charts.set(title, newChart(title)); // all of them, as they share the width
  for (const [title, list] of all) {
    const chart = charts.get(title), kind = JSON.stringify([list, s.axis, s.log, dark.matches]);
    chart.list = list;
    chart.data = dataOf(list, s);
    if (chart.kind !== kind) {
      if (chart.u) chart.u.destroy();
      chart.u = new uPlot(options(chart, s), chart.data, chart.plot);
      chart.kind = kind;
    } else {
      chart.u.setData(chart.data);
      fit(chart);
    }
    if (!chart.table.hidden) fillTable(chart);
    chart.plot.setAttribute('aria-label', `${title}: chart. Last values: ${lastValues(chart)}. Arrow keys read its points.`);
  }
}

// lastValues lists the last value of each curve of a chart, with its place.
function lastValues(chart) {
  const x = chart.data[0], by = axisName(settings());
  return chart.list.map((c, i) => {
    const column = chart.data[i + 1];
    let at = column.length - 1;
    while (at >= 0 && (column[at] === null || column[at] === undefined)) at--;
    return at < 0 ? `${c.label} none` : `${c.label} ${figure(column[at])} at ${by} ${figure(x[at])}`;
  }).join(', ');
}

// ---- reading with the keyboard ----

function key(chart, e) {
  const u = chart.u, x = u.data[0];
  const [lo, hi] = [u.scales.x.min, u.scales.x.max], middle = (lo + hi) / 2;
  const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -x.length, End: x.length}[e.key];
  if (step) {
    const at = Math.min(x.length - 1, Math.max(0, (chart.at === undefined ? x.length : chart.at) + step));
    chart.at = at;
    u.setCursor({left: u.valToPos(x[at], 'x'), top: u.bbox.height / devicePixelRatio / 2});
    $('reading').textContent = [`${axisName(settings())} ${figure(x[at])}`].concat(chart.list.map((c, i) => `${c.label} ${figure(u.data[i + 1][at])}`)).join(', ');
  } else if (e.key === '+') {
    zoom([(lo + middle) / 2, (hi + middle) / 2]);
  } else if (e.key === '-') {
    zoom([2 * lo - middle, 2 * hi - middle]);
  } else if (e.key === '0') {
    zoom(null);
  } else {
    return;
  }
  e.preventDefault();
}

// ---- tables and files ----

const heads = chart => [axisName(settings())].concat(chart.list.map(c => c.label));
const tableRows = 200;

function toggleTable(chart, b) {
  chart.table.hidden = !chart.table.hidden;
  b.setAttribute('aria-expanded', String(!chart.table.hidden));
  if (!chart.table.hidden) fillTable(chart);
}

// fillTable shows the last points, the newest first.
function fillTable(chart) {
  const table = document.createElement('table');
  const row = (cells, tag) => {
    const tr = document.createElement('tr');
    for (const c of cells) {
      const cell = document.createElement(tag);
      cell.textContent = c;
      tr.append(cell);
    }
    return tr;
  };
  table.createCaption().textContent = `${chart.title}: the last ${tableRows} points`;
  table.createTHead().append(row(heads(chart), 'th'));
  const body = table.createTBody(), n = chart.data[0].length;
  for (let i = n - 1; i >= Math.max(0, n - tableRows); i--) body.append(row(chart.data.map(c => figure(c[i])), 'td'));
  chart.table.replaceChildren(table);
}

function save(chart, blob, kind) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(blob);
  a.download = chart.title.replace(/[^\w.-]+/g, '_') + '.' + kind;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

function saveCSV(chart) {
  const quote = v => /[",\n]/.test(v) ? '"' + v.replaceAll('"', '""') + '"' : v;
  const lines = [heads(chart).map(quote).join(',')];
  for (let i = 0; i < chart.data[0].length; i++) lines.push(chart.data.map(c => c[i] === null || c[i] === undefined ? '' : String(c[i])).join(','));
  save(chart, new Blob([lines.join('\n') + '\n'], {type: 'text/csv'}), 'csv');
}

// savePNG draws the heading above the chart's canvas.
function savePNG(chart) {
  const from = chart.u.ctx.canvas, canvas = document.createElement('canvas'), head = 30 * devicePixelRatio;
  canvas.width = from.width;
  canvas.height = from.height + head;
  const c = canvas.getContext('2d'), style = getComputedStyle(document.body);
  c.fillStyle = style.getPropertyValue('--back');
  c.fillRect(0, 0, canvas.width, canvas.height);
  c.font = `${15 * devicePixelRatio}px sans-serif`;
  let left = 10 * devicePixelRatio;
  const write = (text, colour) => {
    c.fillStyle = colour;
    c.fillText(text, left, 20 * devicePixelRatio);
    left += c.measureText(text + '   ').width;
  };
  write(chart.title, style.getPropertyValue('--text'));
  chart.list.forEach((curve, i) => write(curve.label, palette()[i % palette().length]));
  c.drawImage(from, 0, head);
  canvas.toBlob(blob => save(chart, blob, 'png'));
}

// saveSVG draws the visible part anew as lines.
function saveSVG(chart) {
  const u = chart.u, w = 720, h = 400, left = 70, right = 15, top = 40, bottom = 45, s = settings();
  const escape = t => t.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
  const scale = (v, {min, max}, log) => log ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min);
  const px = v => (left + scale(v, u.scales.x) * (w - left - right)).toFixed(2);
  const py = v => (h - bottom - scale(v, u.scales.y, s.log) * (h - top - bottom)).toFixed(2);
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" font-family="sans-serif" font-size="12">`,
    `<rect width="${w}" height="${h}" fill="white"/><clipPath id="c"><rect x="${left}" y="${top}" width="${w - left - right}" height="${h - top - bottom}"/></clipPath>`,
    `<text x="${left}" y="22" font-size="15">${escape(chart.title)}</text>`];
  const ticks = (scale, count) => {
    const step0 = (scale.max - scale.min) / count, ten = 10 ** Math.floor(Math.log10(step0));
    const step = [1, 2, 5, 10].map(f => f * ten).find(v => v >= step0), list = [];
    for (let k = Math.ceil(scale.min / step); k * step <= scale.max; k++) list.push(k * step);
    return list;
  };
  const decades = scale => {
    const list = [];
    for (let k = Math.ceil(Math.log10(scale.min)); 10 ** k <= scale.max; k++) list.push(10 ** k);
    return list.length ? list : [scale.min, scale.max];
  };
  for (const v of ticks(u.scales.x, 6)) out.push(`<path d="M${px(v)} ${top}V${h - bottom}" stroke="#ddd"/><text x="${px(v)}" y="${h - bottom + 16}" text-anchor="middle">${figure(v)}</text>`);
  for (const v of s.log ? decades(u.scales.y) : ticks(u.scales.y, 5)) out.push(`<path d="M${left} ${py(v)}H${w - right}" stroke="#ddd"/><text x="${left - 6}" y="${+py(v) + 4}" text-anchor="end">${figure(v)}</text>`);
  out.push(`<text x="${(left + w - right) / 2}" y="${h - 8}" text-anchor="middle">${axisName(s)}</text>`);
  const colours = ['#1f5fbf', '#b35900', '#1a6e3c', '#a8325f', '#6b3fa0'];
  chart.list.forEach((c, i) => {
    const points = [];
    chart.data[0].forEach((x, k) => { if (Number.isFinite(chart.data[i + 1][k])) points.push(`${px(x)},${py(chart.data[i + 1][k])}`); });
    out.push(`<polyline clip-path="url(#c)" fill="none" stroke="${colours[i % colours.length]}" stroke-width="1.4" points="${points.join(' ')}"/>`,
      `<text x="${left + 200 + 130 * i}" y="22" fill="${colours[i % colours.length]}">${escape(c.label)}</text>`);
  });
  save(chart, new Blob([out.join('\n') + '\n</svg>\n'], {type: 'image/svg+xml'}), 'svg');
}

// ---- buttons ----

let asking = false; // the dialog is open, or its answer is on the way

// ask shows the dialog. It returns false, or the text of the dialog's field ('' if it has none).
function ask(question, amount) {
  const dialog = $('confirm');
  $('question').textContent = question;
  $('amountRow').hidden = amount === undefined;
  $('amount').value = amount === undefined ? '' : amount;
  dialog.returnValue = 'no';
  asking = true;
  dialog.showModal();
  return new Promise(done => dialog.addEventListener('close', () => {
    asking = false;
    done(dialog.returnValue === 'yes' && {amount: $('amount').value});
  }, {once: true}));
}

// press lets a button ask the run for something. amount is the first value of the dialog's field.
function press(id, thing, question, amount) {
  $(id).addEventListener('click', async () => {
    if (asking) return;
    const said = await ask(question, amount && amount());
    if (!said) return;
    const path = 'api/press/' + id + (amount ? '?value=' + encodeURIComponent(said.amount.trim()) : '');
    const answer = await fetch(path, {method: 'POST', headers}).catch(() => null);
    if (answer && answer.ok) $('reading').textContent = `Asked the run for ${thing}${amount ? ' ' + said.amount.trim() : ''}.`;
    else $('reading').textContent = 'The run did not accept this: ' + (answer ? await answer.text() : 'no connection');
  });
}
const lastRate = () => {
  const t = tables.get('train'), column = t ? t.columns[t.names.indexOf('lr')] : [];
  return column.length ? figure(column[column.length - 1]) : '';
};
press('test', 'a test', 'Run the test nets before the next iteration?');
press('rate', 'learning rate', 'Set the learning rate from the next iteration on? Its policy goes on from there. Snapshots do not store it.', lastRate);
press('snapshot', 'a snapshot', 'Write a snapshot after the current iteration?');
press('stop', 'its end', 'Stop the run after the current iteration? It writes a snapshot if its solver says so.');

// ---- settings ----

for (const id of ['axis', 'images', 'smoothing', 'log']) {
  $(id).addEventListener('input', () => {
    if (id === 'axis' || id === 'images') range = null;
    $('strength').textContent = $('smoothing').value;
    $('epoch').hidden = $('axis').value !== 'epoch';
    dirty = true;
  });
}
$('settings').addEventListener('submit', e => e.preventDefault());
$('whole').addEventListener('click', () => zoom(null));
dark.addEventListener('change', () => { dirty = true; });
addEventListener('resize', () => {
  for (const c of charts.values()) if (c.u) fit(c);
});

addEventListener('DOMContentLoaded', () => { // the other scripts are there too
  show('curves');
  draw();
  follow();
});
