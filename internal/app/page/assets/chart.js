'use strict';

// The charts, which uPlot draws.

const charts = new Map(); // by title
let range = null;         // the zoomed part of the x axis
let dirty = false;        // the charts are older than the tables or the settings

const axisName = s => s.axis === 'time' ? 'seconds' : s.axis;

// faded is a colour that lets others shine through.
const faded = colour => colour + '66';

function options(chart, s) {
  const style = getComputedStyle(document.body), text = style.getPropertyValue('--soft'), line = style.getPropertyValue('--line');
  const axis = extra => Object.assign({stroke: text, grid: {stroke: line, width: 1}, ticks: {stroke: line}}, extra);
  const many = chart.list.length > 6;
  const series = (c, mean) => ({ // a training's mean is stronger than its values; a test's values need none
    label: c.label, spanGaps: false, dash: dashOf(c),
    stroke: s.smoothing && mean === c.test ? faded(colourOf(c)) : colourOf(c), width: mean !== c.test ? 2 : 1.3,
    points: c.test && !mean ? {show: true, stroke: colourOf(c)} : {show: true, filter: alone, size: 4, stroke: colourOf(c)},
  });
  return {
    width: chart.plot.clientWidth || 400, height: 260, legend: {show: false},
    cursor: {sync: {key: 'run'}, drag: {x: true, y: false}, focus: {prox: 24}, points: {one: true}},
    focus: {alpha: many ? 0.15 : 0.5},
    scales: {
      x: {time: false, range: (u, lo, hi) => range || [lo, hi > lo ? hi : lo + 1]},
      y: {distr: s.log ? 3 : 1, range: (u, lo, hi) => yRange(chart, settings(), u)},
    },
    axes: [axis({label: axisName(s), labelSize: 22, size: 40, values: (u, ticks) => ticks.map(figure)}), axis({size: (u, texts) => 20 + 8 * Math.max(4, ...(texts || []).map(t => t.length)), values: (u, ticks) => ticks.map(v => v === null ? '' : figure(v))})],
    series: [{label: axisName(s)}, ...chart.list.map(c => series(c, false)), ...(s.smoothing ? chart.list.map(c => series(c, true)) : [])],
    hooks: {
      setSelect: [u => {
        if (u.select.width < 4) return;
        zoom([u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')]);
        u.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
      }],
      setSeries: [(u, i) => light(chart, i)],
      setCursor: [() => readCursor(chart)],
      draw: [u => drawMarks(chart, u)],
    },
  };
}

// alone lists the points of a curve that have no neighbour, which no line shows.
function alone(u, i, show) {
  const values = u.data[i], is = v => v !== null && v !== undefined, beside = (k, step) => {
    for (k += step; k >= 0 && k < values.length; k += step) if (values[k] !== undefined) return values[k] !== null;
    return false;
  };
  return values.reduce((list, v, k) => is(v) && !beside(k, -1) && !beside(k, 1) ? [...list, k] : list, []);
}

function yRange(chart, s, u) {
  const [from, to] = u.series[0].idxs || [0, chart.drawn[0].length - 1], found = rangeOf(chart, s, from ?? 0, to ?? 0);
  if (!found) return s.log ? [0.1, 1] : [0, 1];
  if (found[0] === 0 && found[1] === 0) return [0, 1];
  return s.log ? uPlot.rangeLog(found[0], found[1], 10, true) : uPlot.rangeNum(found[0], found[1], 0.1, true);
}

// marksOf lists what a chart shows of values that it cannot draw: a cross where a curve became NaN or infinite, a triangle where it left the range.
function marksOf(chart, u) {
  const {min, max} = u.scales.y, list = [], inside = x => x >= u.scales.x.min && x <= u.scales.x.max;
  for (const b of chart.breaks) if (chart.shown.has(b.i) && inside(b.x)) list.push({i: b.i, x: b.x, sign: '\u2715', text: `${figure(b.value)} at ${b.from}`, top: true});
  chart.list.forEach((c, i) => {
    if (!chart.shown.has(i)) return;
    let was = 0;
    chart.drawn[i + 1].forEach((v, k) => {
      if (v === null || v === undefined) return;
      const out = v > max ? 1 : v < min ? -1 : 0, x = chart.drawn[0][k];
      if (out && out !== was && inside(x)) list.push({i, x, sign: out > 0 ? '\u25b2' : '\u25bc', text: '', top: out > 0});
      was = out;
    });
  });
  return list;
}

function drawMarks(chart, u) {
  const c = u.ctx, {left, top, width, height} = u.bbox, unit = devicePixelRatio;
  c.save();
  c.font = `${12 * unit}px sans-serif`;
  let free = -Infinity; // of texts
  chart.marks = marksOf(chart, u).sort((a, b) => a.x - b.x);
  for (const m of chart.marks) {
    const x = u.valToPos(m.x, 'x', true), y = m.sign === '\u2715' ? top + 26 * unit : m.top ? top + 12 * unit : top + height - 4 * unit;
    c.globalAlpha = u.series[m.i + 1].alpha ?? 1;
    c.fillStyle = c.strokeStyle = colourOf(chart.list[m.i]);
    c.textAlign = 'center';
    c.fillText(m.sign, x, y);
    if (m.sign !== '\u2715') continue;
    c.setLineDash([3 * unit, 3 * unit]);
    c.beginPath();
    c.moveTo(x, top + 30 * unit);
    c.lineTo(x, top + height);
    c.stroke();
    const room = c.measureText(m.text).width, right = x + 8 * unit + room < left + width;
    if (x - (right ? 0 : room) < free) continue;
    c.textAlign = right ? 'left' : 'right';
    c.fillText(m.text, x + (right ? 8 : -8) * unit, y);
    free = x + (right ? room + 16 * unit : 0);
  }
  c.restore();
}

// noteOf says in words what the marks of a chart show.
function noteOf(chart, s) {
  const parts = [], broken = chart.breaks.filter(b => chart.shown.has(b.i));
  const list = (texts, most) => texts.slice(0, most).join('; ') + (texts.length > most ? `; and ${texts.length - most} more` : '');
  if (broken.length) parts.push('\u2715 ' + list(broken.map(b => `${chart.list[b.i].label} ${breakText(b)}`), 3));
  const out = [...new Set((chart.marks || []).filter(m => m.sign !== '\u2715').map(m => m.i))];
  if (out.length) parts.push('\u25b2 beyond the range: ' + list(out.map(i => `${chart.list[i].label} (${extremes(chart.drawn[i + 1].filter(v => v !== null && v !== undefined)).map(figure).join(' to ')})`), 3));
  const means = Math.max(...chart.list.map(c => tableOf(c).mean || 1));
  if (means > 1) parts.push(`Points of the training net are means of ${means} iterations`);
  if (s.smoothing) parts.push(`Moving means: ${chart.list.every(c => c.test) ? 'the faint lines' : chart.list.some(c => c.test) ? 'the strong lines of training, the faint ones of tests' : 'the strong lines'}`);
  return parts.map(p => p + '.').join(' ');
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

// newChart makes a chart's frame: heading, plot, legend, tools and room for its table.
function newChart(title) {
  const frame = document.createElement('section');
  frame.className = 'chart';
  frame.innerHTML = '<h2 class="cut"></h2><div class="plot" tabindex="0" role="application" aria-roledescription="chart"></div><p class="note"></p><div class="legend"></div><div class="tools"></div><div class="table" hidden></div>';
  const heading = frame.querySelector('h2');
  heading.textContent = heading.title = title;
  const find = name => frame.querySelector('.' + name);
  const chart = {title, frame, plot: find('plot'), note: find('note'), legend: find('legend'), table: find('table'), list: [], kind: '', off: new Set(), choice: '', sought: ''};
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
  all.forEach(([title], i) => { // in their order
    const {frame} = charts.get(title);
    if ($('charts').children[i] !== frame) $('charts').insertBefore(frame, $('charts').children[i]);
  });
  for (const [title, list] of all) drawChart(charts.get(title), list, s);
}

function drawChart(chart, list, s) {
  const kind = JSON.stringify([list, s.axis, s.log, s.smoothing > 0, dark.matches]);
  chart.list = list;
  Object.assign(chart, dataOf(list, s), {breaks: breaksOf(list, s)});
  chooseCurves(chart);
  if (chart.kind !== kind) {
    if (chart.u) chart.u.destroy();
    fillLegend(chart);
    const o = options(chart, s);
    showChosen(chart, o.series);
    chart.u = new uPlot(o, chart.drawn, chart.plot);
    chart.kind = kind;
    addTip(chart);
  } else {
    showChosen(chart, chart.u.series);
    chart.u.setData(chart.drawn);
    fit(chart);
  }
  showLegend(chart);
  if (!chart.table.hidden) fillTable(chart);
  chart.plot.setAttribute('aria-label', `${chart.title}: chart. Last values: ${lastValues(chart)}. Arrow keys read its points.`);
  queueMicrotask(() => { chart.note.textContent = noteOf(chart, s); }); // uPlot draws, and finds the marks, in a microtask
}

// lastValues lists the last value of each shown curve of a chart, with its place.
function lastValues(chart) {
  const x = chart.raw[0], by = axisName(settings());
  return chart.list.map((c, i) => {
    if (!chart.shown.has(i)) return '';
    const at = chart.raw[i + 1].findLastIndex(v => v !== null && v !== undefined);
    return at < 0 ? `${c.label} none` : `${c.label} ${figure(chart.raw[i + 1][at])} at ${by} ${figure(x[at])}`;
  }).filter(t => t).join(', ');
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
    $('reading').textContent = [`${axisName(settings())} ${figure(x[at])}`].concat(chart.list.map((c, i) => chart.shown.has(i) ? `${c.label} ${figure(chart.raw[i + 1][at])}` : '').filter(t => t)).join(', ');
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
