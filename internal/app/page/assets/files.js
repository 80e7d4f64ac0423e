'use strict';

// The values of a chart as a table, and its files. They are the recorded values, whatever the smoothing.

const tableRows = 200;
const shownOf = chart => chart.list.map((_, i) => i).filter(i => chart.shown.has(i));

// headOf names a curve; of a long run its points are means.
function headOf(c) {
  const {mean} = tableOf(c);
  return c.label + (mean > 1 ? ` (mean of ${mean})` : '');
}

function toggleTable(chart, b) {
  chart.table.hidden = !chart.table.hidden;
  b.setAttribute('aria-expanded', String(!chart.table.hidden));
  if (!chart.table.hidden) fillTable(chart);
}

// fillTable shows the last points, the newest first.
function fillTable(chart) {
  const table = document.createElement('table'), columns = shownOf(chart);
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
  table.createTHead().append(row([axisName(settings()), ...columns.map(i => headOf(chart.list[i]))], 'th'));
  const body = table.createTBody(), n = chart.raw[0].length;
  for (let k = n - 1; k >= Math.max(0, n - tableRows); k--) body.append(row([chart.raw[0], ...columns.map(i => chart.raw[i + 1])].map(c => figure(c[k])), 'td'));
  chart.table.replaceChildren(table);
}

function save(chart, blob, kind) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(blob);
  a.download = chart.title.replace(/[^\w.-]+/g, '_') + '.' + kind;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// saveCSV writes all curves of the chart.
function saveCSV(chart) {
  const quote = v => /[",\n]/.test(v) ? '"' + v.replaceAll('"', '""') + '"' : v;
  const lines = [[axisName(settings()), ...chart.list.map(headOf)].map(quote).join(',')];
  for (let i = 0; i < chart.raw[0].length; i++) lines.push(chart.raw.map(c => c[i] === null || c[i] === undefined ? '' : String(c[i])).join(','));
  save(chart, new Blob([lines.join('\n') + '\n'], {type: 'text/csv'}), 'csv');
}

// namesIn arranges the names of the shown curves in rows of a width, in which text takes measure(text): {i, text, left, row}.
function namesIn(chart, width, measure) {
  let left = 0, row = 0;
  return shownOf(chart).map(i => {
    const {label} = chart.list[i], text = label.length > 40 ? label.slice(0, 26) + '\u2026' + label.slice(-13) : label, room = measure(text);
    if (left && left + room > width) [left, row] = [0, row + 1];
    const place = {i, text, left, row};
    left += room + 16;
    return place;
  });
}

// savePNG draws the heading and the names above the chart's canvas.
function savePNG(chart) {
  const from = chart.u.ctx.canvas, canvas = document.createElement('canvas'), unit = devicePixelRatio, line = 20 * unit;
  const c = canvas.getContext('2d'), style = getComputedStyle(document.body), font = `${13 * unit}px sans-serif`;
  c.font = font;
  const names = namesIn(chart, from.width / unit - 20, text => c.measureText(text).width / unit), head = (names.length ? names[names.length - 1].row + 3 : 2) * line;
  canvas.width = from.width;
  canvas.height = from.height + head;
  c.fillStyle = style.getPropertyValue('--back');
  c.fillRect(0, 0, canvas.width, canvas.height);
  const write = (text, colour, left, row) => {
    c.fillStyle = colour;
    c.fillText(text, (10 + left) * unit, line * (row + 1));
  };
  c.font = `${15 * unit}px sans-serif`;
  write(chart.title, style.getPropertyValue('--text'), 0, 0);
  c.font = font;
  for (const n of names) write(n.text, colourOf(chart.list[n.i]), n.left, n.row + 1);
  c.drawImage(from, 0, head);
  canvas.toBlob(blob => save(chart, blob, 'png'));
}

// saveSVG draws the visible part anew as lines.
function saveSVG(chart) {
  const u = chart.u, s = settings(), names = namesIn(chart, 690, text => 7 * text.length), rows = names.length ? names[names.length - 1].row + 1 : 0;
  const w = 720, left = 70, right = 15, top = 34 + 17 * rows, h = top + 360, bottom = 45;
  const escape = t => t.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
  const scale = (v, {min, max}, log) => log ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min);
  const px = v => (left + scale(v, u.scales.x) * (w - left - right)).toFixed(2);
  const py = v => (h - bottom - scale(v, u.scales.y, s.log) * (h - top - bottom)).toFixed(2);
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" font-family="sans-serif" font-size="12">`,
    `<rect width="${w}" height="${h}" fill="white"/><clipPath id="c"><rect x="${left}" y="${top}" width="${w - left - right}" height="${h - top - bottom}"/></clipPath>`,
    `<text x="15" y="22" font-size="15">${escape(chart.title)}</text>`];
  for (const v of ticks(u.scales.x, 6)) out.push(`<path d="M${px(v)} ${top}V${h - bottom}" stroke="#ddd"/><text x="${px(v)}" y="${h - bottom + 16}" text-anchor="middle">${figure(v)}</text>`);
  for (const v of s.log ? decades(u.scales.y) : ticks(u.scales.y, 5)) out.push(`<path d="M${left} ${py(v)}H${w - right}" stroke="#ddd"/><text x="${left - 6}" y="${+py(v) + 4}" text-anchor="end">${figure(v)}</text>`);
  out.push(`<text x="${(left + w - right) / 2}" y="${h - 8}" text-anchor="middle">${axisName(s)}</text>`);
  const line = (column, colour, more) => {
    const pieces = [[]];
    chart.drawn[0].forEach((x, k) => {
      if (column[k] === null) pieces.push([]);
      else if (column[k] !== undefined) pieces[pieces.length - 1].push(`${px(x)},${py(column[k])}`);
    });
    for (const p of pieces) if (p.length) out.push(`<polyline clip-path="url(#c)" fill="none" stroke="${colour}" ${more} points="${p.join(' ')}"/>`);
  };
  for (const {i, text, left: at, row} of names) {
    const colour = colourOf(chart.list[i], onWhite), mean = chart.drawn[i + 1 + chart.list.length], dash = `stroke-dasharray="${dashOf(chart.list[i]).join(' ') || 'none'}"`;
    const pen = strong => strong ? `stroke-width="2" ${dash}` : `stroke-width="1.4" ${dash}${mean ? ' stroke-opacity="0.4"' : ''}`;
    line(chart.drawn[i + 1], colour, pen(chart.list[i].test));
    if (mean) line(mean, colour, pen(!chart.list[i].test));
    out.push(`<text x="${15 + at}" y="${40 + 17 * row}" fill="${colour}">${escape(text)}</text>`);
  }
  for (const m of chart.marks) out.push(`<text x="${px(m.x) - 4}" y="${m.sign === '\u2715' ? top + 26 : m.top ? top + 12 : h - bottom - 2}" fill="${colourOf(chart.list[m.i], onWhite)}">${m.sign} ${escape(m.text)}</text>`);
  save(chart, new Blob([out.join('\n') + '\n</svg>\n'], {type: 'image/svg+xml'}), 'svg');
}

// ticks lists about count round values of a scale.
function ticks(scale, count) {
  const step0 = (scale.max - scale.min) / count, ten = 10 ** Math.floor(Math.log10(step0));
  const step = [1, 2, 5, 10].map(f => f * ten).find(v => v >= step0), list = [];
  for (let k = Math.ceil(scale.min / step); k * step <= scale.max; k++) list.push(k * step);
  return list;
}

// decades lists the powers of ten of a scale.
function decades(scale) {
  const list = [];
  for (let k = Math.ceil(Math.log10(scale.min)); 10 ** k <= scale.max; k++) list.push(10 ** k);
  return list.length ? list : [scale.min, scale.max];
}
