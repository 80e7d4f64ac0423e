'use strict';

// Which curves a chart has, and their values: as they were recorded, and as they are drawn.

const settings = () => ({axis: $('axis').value, images: Math.max(1, +$('images').value || 1), smoothing: +$('smoothing').value, log: $('log').checked, clip: $('clip').checked});

const total = 'loss (total)';
const ownTitles = {loss: total, smoothed_loss: total, lr: 'learning rate', items_per_second: 'images/s', data_wait: 'wait for data (share of time)'};
const last = ['learning rate', 'images/s', 'wait for data (share of time)'];

// curves lists the curves of every chart: an output of the training net and of the test nets share one, and so do the values of an output.
function curves() {
  const found = new Map();
  const add = (title, curve) => found.has(title) ? found.get(title).push(curve) : found.set(title, [curve]);
  for (const r of runs.values()) {
    if (!drawnRun(r)) continue;
    const averages = /average_loss: ([2-9]|\d\d)/.test(r.state.started.solver_prototxt);
    for (const [name, t] of r.tables) {
      t.names.forEach((column, i) => {
        const test = name.startsWith('test'), curve = {run: r.name, table: name, column: i, test};
        if (name === 'norms') {
          const [kind, layer] = [column.slice(0, column.indexOf(' ')), column.slice(column.indexOf(' ') + 1)];
          add(kind + ' (root mean square)', Object.assign(curve, {label: layer, colour: i >> 1}));
          return;
        }
        if (column === 'smoothed_loss' && !averages || column === 'loss' && !hasLoss(t)) return;
        const [, output, item] = /^output (.*?)(?:\[(\d+)\])?$/.exec(column) || [];
        const label = (column === 'smoothed_loss' ? 'train, average_loss' : name) + (item ? ` [${item}]` : '');
        const colour = item ? +item : column === 'smoothed_loss' ? palette().length - 1 : test ? 1 + +name.slice(5) : 0;
        add(output || ownTitles[column], Object.assign(curve, {label: board ? `${r.name}: ${label}` : label, colour: board ? r.colour : colour}));
      });
    }
  }
  const first = nameTotal(found), rank = title => title === first ? 0 : last.includes(title) ? 2 + last.indexOf(title) : 1;
  return [...found].sort((a, b) => rank(a[0]) - rank(b[0]) || (a[0] < b[0] ? -1 : 1));
}

// hasLoss says that a net has a loss: one without has 0 there in every iteration.
const hasLoss = t => t.losses.some((l, i) => l && t.names[i].startsWith('output ')) || t.columns[t.names.indexOf('loss')].some(v => v !== 0);

// nameTotal drops the charts of outputs that are nets' only losses, which the chart of the total loss shows as well, and gives that chart the name of
// the output if there is one for all runs. With iter_size the training net's output is that of the last pass, the total the mean of all. It returns
// the chart's title.
function nameTotal(found) {
  const whole = new Map((found.get(total) || []).filter(c => columnName(c) === 'loss').map(c => [c.run + '\n' + c.table, c]));
  const passes = c => c.table === 'train' && /^iter_size: ([2-9]|\d\d)/m.test(runs.get(c.run).state.started.solver_prototxt) && tableOf(c).losses.filter(l => l).length === 3; // with loss and smoothed_loss
  let name = total;
  for (const [title, list] of [...found]) {
    const twins = list.map(c => whole.get(c.run + '\n' + c.table)), equal = list.map((c, i) => twins[i] && same(valuesOf(c), valuesOf(twins[i])));
    if (title === total || !equal.includes(true) || !list.every((c, i) => equal[i] || twins[i] && passes(c))) continue;
    found.delete(title);
    if (list.length === whole.size) name = title;
  }
  if (name !== total) {
    found.set(name, found.get(total));
    found.delete(total);
  }
  return name;
}

const tableOf = c => runs.get(c.run).tables.get(c.table);
const columnName = c => tableOf(c).names[c.column];
const valuesOf = c => tableOf(c).columns[c.column];

// same says that values are equal up to the rounding of sums in single precision.
const same = (a, b) => a.length === b.length && a.every((v, i) => Object.is(v, b[i]) || Math.abs(v - b[i]) <= 1e-5 * Math.abs(v));

function abscissa(t, s, items) {
  if (s.axis === 'time') return t.seconds;
  if (s.axis === 'epoch') return t.iterations.map(i => i * items / s.images);
  return t.iterations;
}

// smooth is an exponential moving mean of the finite values, corrected for its start. What is no value stays so.
function smooth(values, weight) {
  let mean = 0, sum = 0;
  return values.map(v => {
    if (!Number.isFinite(v)) return v;
    mean = weight * mean + (1 - weight) * v;
    sum = weight * sum + 1 - weight;
    return mean / sum;
  });
}

// dataOf returns the columns of a chart with a common x: those that were recorded, with NaN and infinities, and those that are drawn, in which
// null is a gap and undefined is no point. With smoothing, the means follow the curves.
function dataOf(list, s) {
  const parts = list.map(c => [abscissa(tableOf(c), s, runs.get(c.run).state.started.items), valuesOf(c)]);
  const raw = parts.length === 1 ? parts[0] : uPlot.join(parts);
  const usable = v => v === undefined ? undefined : Number.isFinite(v) && (!s.log || v > 0) ? v : null;
  const means = s.smoothing ? raw.slice(1).map(c => smooth(c, s.smoothing)) : [];
  return {raw, drawn: [raw[0], ...[...raw.slice(1), ...means].map(c => c.map(usable))]};
}

// breaksOf lists where curves of a chart became NaN or infinite: {i, x, value, from, to, open}.
function breaksOf(list, s) {
  return list.flatMap((c, i) => {
    const t = tableOf(c), x = abscissa(t, s, runs.get(c.run).state.started.items);
    return breaksIn(t, c.column).map(b => {
      const at = t.iterations.findIndex(k => k >= b.from);
      return {i, ...b, x: s.axis === 'time' ? x[at] : x[at] * (t.iterations[at] ? b.from / t.iterations[at] : 1)};
    });
  });
}

// breaksIn lists the breaks of a column. The server's have exact iterations.
function breaksIn(t, column) {
  const end = t.iterations[t.iterations.length - 1], list = [];
  if (t.breaks) return t.breaks.filter(b => b.column === column).map(b => ({from: b.from, to: b.to, value: number(b.value), open: b.to >= end}));
  t.columns[column].forEach((v, k) => {
    if (Number.isFinite(v)) return;
    if (k && !Number.isFinite(t.columns[column][k - 1])) list[list.length - 1].to = t.iterations[k];
    else list.push({from: t.iterations[k], to: t.iterations[k], value: v});
  });
  return list.map(b => ({...b, open: b.to >= end}));
}

// breakText says when something was NaN or infinite.
const breakText = b => b.open ? `is ${figure(b.value)} since iteration ${b.from}` : b.from === b.to ? `was ${figure(b.value)} at iteration ${b.from}` : `was ${figure(b.value)} in iterations ${b.from} to ${b.to}`;

// ---- colours ----

const dark = matchMedia('(prefers-color-scheme: dark)');
const onWhite = ['#1f5fbf', '#b35900', '#1a6e3c', '#a8325f', '#6b3fa0', '#0b8494', '#8a7500', '#e02f24', '#4d5661', '#5d8a00', '#cf45c0', '#5b3620'];
const onBlack = ['#8ab4ff', '#ffb86b', '#7fd6a0', '#ff9fc8', '#a97bff', '#35d0e0', '#e8dc4f', '#ff5d4d', '#c9d1d9', '#9bd01e', '#f25be0', '#b98a5e'];
const palette = () => dark.matches ? onBlack : onWhite;
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]]; // of the first colours, of the next ones that are the same, and so on
const colourOf = (c, colours = palette()) => colours[c.colour % colours.length];
const dashOf = c => dashes[Math.floor(c.colour / palette().length) % dashes.length];

// ---- the range of values ----

const unclipped = ['images/s', 'wait for data (share of time)'];

// usual returns the least and the largest value of a curve, without those that are far larger than its first one and than nine tenths of all.
function usual(values) {
  const few = values.length > 200 ? values.filter((_, i) => i % Math.ceil(values.length / 200) === 0) : values;
  const sorted = few.map(Math.abs).sort((a, b) => a - b), far = 10 * Math.max(Math.abs(values[0]), sorted[Math.ceil(0.9 * (sorted.length - 1))]) || Infinity;
  const [lo, hi] = extremes(values.filter(v => Math.abs(v) <= far));
  return {lo, hi};
}

// extremes returns the least and the largest of values.
const extremes = values => values.reduce(([lo, hi], v) => [Math.min(lo, v), Math.max(hi, v)], [Infinity, -Infinity]);

// rangeOf returns the range in which a chart's shown values lie between two points; undefined if there are none. Unless it is told not to, it leaves
// out what a curve that diverges has at its end, and runs whose values are far beyond those of a quarter of all runs, so that the others can be seen.
function rangeOf(chart, s, from, to) {
  const byRun = new Map(), all = [];
  chart.list.forEach((c, i) => {
    if (!chart.shown.has(i)) return;
    const values = chart.drawn[i + 1].slice(from, to + 1).filter(v => v !== null && v !== undefined);
    if (!values.length) return;
    all.push(extremes(values));
    const u = usual(values), r = byRun.get(c.run) || {lo: Infinity, hi: -Infinity};
    byRun.set(c.run, {lo: Math.min(r.lo, u.lo), hi: Math.max(r.hi, u.hi)});
  });
  if (!all.length) return undefined;
  const whole = [Math.min(...all.map(a => a[0])), Math.max(...all.map(a => a[1]))];
  if (!s.clip || unclipped.includes(chart.title)) return whole;
  const list = [...byRun.values()].sort((a, b) => a.hi - b.hi), floor = Math.min(0, ...list.map(r => r.lo));
  const near = list[Math.floor((list.length - 1) / 4)].hi, most = s.log ? near * 1e4 : floor + (chart.title === 'learning rate' ? 100 : 10) * (near - floor);
  const kept = list.filter(r => r.hi <= most || r.hi <= near);
  return [Math.min(...kept.map(r => r.lo)), Math.max(...kept.map(r => r.hi))];
}
