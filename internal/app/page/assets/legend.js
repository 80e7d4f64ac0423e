'use strict';

// The legend of a chart: its curves' names and values at the cursor. A click hides a curve, and the pointer over a name lights its curve up. A chart
// of many curves shows the largest or smallest ones, or those whose names hold what is typed.

const manyCurves = 12; // from here on curves can be chosen
const most = 24;       // that are shown at first
const choices = {all: 'all', largest10: 'the 10 largest', largest30: 'the 30 largest', smallest10: 'the 10 smallest', smallest30: 'the 30 smallest'};

// choiceOf is what a chart shows: of too many curves the worst layers, or the best runs.
function choiceOf(chart) {
  if (chart.choice) return chart.choice;
  const [c] = chart.list;
  return chart.list.length <= most ? 'all' : board && tableOf(c).losses[c.column] ? 'smallest10' : 'largest10';
}

// chooseCurves finds the curves to draw: chart.shown has their numbers, chart.listed those that the legend names.
function chooseCurves(chart) {
  const many = chart.list.length > manyCurves, words = chart.sought.toLowerCase().split(/\s+/).filter(w => w);
  let listed = chart.list.map((_, i) => i);
  if (many && words.length) {
    listed = listed.filter(i => words.every(w => chart.list[i].label.toLowerCase().includes(w)));
  } else if (many && choiceOf(chart) !== 'all') {
    const [, which, count] = /^(\D+)(\d+)$/.exec(choiceOf(chart)), sign = which === 'largest' ? -1 : 1;
    const size = chart.raw.slice(1).map(c => { // what is no number is larger than all numbers
      const v = c.findLast(v => v !== null && v !== undefined);
      return v === undefined ? NaN : Number.isFinite(v) ? v : Infinity;
    });
    const rank = i => Number.isNaN(size[i]) ? 1 : 0;
    listed = listed.sort((a, b) => rank(a) - rank(b) || (size[a] === size[b] ? a - b : sign * (size[a] - size[b]))).slice(0, +count).sort((a, b) => a - b);
  }
  chart.listed = new Set(listed);
  chart.shown = new Set(listed.filter(i => !chart.off.has(chart.list[i].label)));
}

// showChosen tells uPlot which curves to draw; their means follow them.
function showChosen(chart, series) {
  series.forEach((s, k) => { if (k) s.show = chart.shown.has((k - 1) % chart.list.length); });
}

function fillLegend(chart) {
  const box = element('ul'), many = chart.list.length > manyCurves;
  chart.entries = chart.list.map((c, i) => {
    const li = element('li'), b = element('button', undefined, {type: 'button', title: c.label}), swatch = element('span', undefined, {class: 'stroke', 'aria-hidden': 'true'});
    swatch.style.borderTop = `3px ${dashOf(c).length ? 'dashed' : 'solid'} ${colourOf(c)}`;
    const cut = board ? c.run.length : c.label.length; // what tells a run's curves apart stays
    b.append(swatch, element('span', c.label.slice(0, cut), {class: 'cut'}), element('span', c.label.slice(cut)), element('span', '', {class: 'value'}));
    b.addEventListener('click', () => {
      if (!chart.off.delete(c.label)) chart.off.add(c.label);
      dirty = true;
    });
    for (const [event, lit] of [['mouseenter', i + 1], ['mouseleave', null], ['focus', i + 1], ['blur', null]]) b.addEventListener(event, () => chart.u.setSeries(lit, {focus: true}));
    li.append(b);
    box.append(li);
    return b;
  });
  if (chart.pick && many) {
    chart.legend.replaceChildren(chart.pick, box);
    return;
  }
  chart.pick = many ? picker(chart) : null;
  chart.legend.replaceChildren(...(many ? [chart.pick, box] : [box]));
}

// picker makes the fields that choose among many curves.
function picker(chart) {
  const box = element('p', undefined, {class: 'pick'}), search = element('input', undefined, {type: 'search', placeholder: 'find curves', 'aria-label': 'Find curves of ' + chart.title});
  const top = element('select', undefined, {'aria-label': 'Which curves of ' + chart.title});
  for (const [value, text] of Object.entries(choices)) top.append(element('option', text, {value}));
  top.value = choiceOf(chart);
  search.addEventListener('input', () => {
    chart.sought = search.value;
    dirty = true;
  });
  top.addEventListener('input', () => {
    chart.choice = top.value;
    dirty = true;
  });
  box.append(search, top, element('span', '', {class: 'count'}));
  return box;
}

// showLegend writes the values at the cursor, or else the last ones.
function showLegend(chart) {
  const at = chart.u.cursor.idx;
  if (chart.pick) chart.pick.querySelector('.count').textContent = `${chart.shown.size} of ${chart.list.length} curves`;
  chart.entries.forEach((b, i) => {
    b.parentNode.hidden = !chart.listed.has(i);
    b.setAttribute('aria-pressed', String(chart.shown.has(i)));
    if (!chart.listed.has(i)) return;
    const column = chart.raw[i + 1], here = at === null || at === undefined ? undefined : column[at];
    b.lastChild.textContent = figure(here ?? (at === null || at === undefined ? column.findLast(v => v !== null && v !== undefined) : undefined));
  });
}

// light shows which curve is lit: uPlot has faded the others. The mean of a curve is lit with it.
function light(chart, i) {
  const n = chart.list.length, lit = i === null || i === undefined ? null : (i - 1) % n;
  chart.lit = lit;
  if (lit !== null) for (const k of [lit + 1, lit + 1 + n]) if (chart.u && chart.u.series[k]) chart.u.series[k].alpha = 1;
  chart.entries.forEach((b, k) => b.classList.toggle('lit', k === lit));
}

// addTip makes the words beside the pointer.
function addTip(chart) {
  chart.tip = element('div', undefined, {class: 'tip', hidden: '', 'aria-hidden': 'true'});
  chart.u.over.append(chart.tip);
}

// readCursor shows the values under the pointer.
function readCursor(chart) {
  if (!chart.u || !chart.tip) return;
  showLegend(chart);
  const u = chart.u, {left, top} = u.cursor, at = u.cursor.idxs && chart.lit !== null && chart.lit !== undefined ? u.cursor.idxs[chart.lit + 1] : null;
  chart.tip.hidden = left < 0 || at === null || at === undefined || !u.over.matches(':hover');
  if (chart.tip.hidden) return;
  const c = chart.list[chart.lit], mean = u.data[chart.lit + 1 + chart.list.length];
  chart.tip.textContent = `${c.label}: ${figure(chart.raw[chart.lit + 1][at])}${mean ? `, moving mean ${figure(mean[at])}` : ''} at ${axisName(settings())} ${figure(chart.raw[0][at])}`;
  const right = left > u.over.clientWidth / 2;
  Object.assign(chart.tip.style, {left: right ? '' : left + 12 + 'px', right: right ? u.over.clientWidth - left + 12 + 'px' : '', top: Math.max(0, top - 34) + 'px'});
}
