'use strict';

// The board: a line for each run, with its best values and the fields in which the runs differ, and the differences of two runs' solvers and nets.

function runState(s) {
  if (!s.started) return 'not started';
  if (s.crashed) return 'crashed: ' + s.crashed.error;
  if (s.stopped) return s.stopped.early ? 'stopped early' : 'done';
  return 'no end yet';
}

// drawnRun says that a run's curves are shown.
const drawnRun = r => r.state.started && (!board || r.shown && sought(r));

const sought = r => $('run-filter').value.toLowerCase().split(/\s+/).every(w => r.name.toLowerCase().includes(w));

// Columns of the table: {title, of(run)}. of returns {text, by, bad}, where by is what the column is sorted by. A column that is best first has down.
const column = (title, of, down) => ({title, of, down});
const said = text => ({text: String(text ?? ''), by: String(text ?? '')});

// measured is a number, with words behind it.
const measured = (v, words = '') => typeof v !== 'number' ? {text: ''} : {text: figure(v) + words, by: v, bad: !Number.isFinite(v)};

function lossCell(r) {
  const train = r.tables.get('train'), value = lastOf(train, 'loss'), broken = train && breaksIn(train, train.names.indexOf('loss')).at(-1);
  return measured(value, broken && broken.open ? ` since iteration ${broken.from}` : '');
}

function stateColumns() {
  const done = r => { const t = r.tables.get('train'); return t && t.iterations.length ? t.iterations.at(-1) + 1 : 0; };
  return [
    column('run', r => said(r.name)),
    column('state', r => said(runState(r.state))),
    column('iteration', r => r.state.started ? {text: `${done(r)} of ${r.state.started.max_iter}`, by: done(r)} : {text: ''}),
    column('time', r => r.state.started ? {text: duration(r.state.seconds), by: r.state.seconds} : {text: ''}),
    column('loss', lossCell),
  ];
}

// has says that a run has a table, and a loss if one is wanted.
const has = (r, name, loss) => r.tables.has(name) && (!loss || hasLoss(r.tables.get(name)));

// testColumns has the last and the best value of every output of the test nets.
function testColumns(list) {
  const found = new Map();
  for (const r of list) {
    for (const [name, t] of r.tables) {
      if (!name.startsWith('test')) continue;
      for (const o of outputsOf(t, false)) found.set(name + ' ' + o, {name, o, title: (name === 'test 0' ? '' : name + ': ') + o.slice(7), losses: false});
      if (hasLoss(t)) found.set(name + ' loss', {name, o: 'loss', title: (name === 'test 0' ? 'test ' : name + ': ') + 'loss', losses: true});
    }
  }
  return [...found.values()].sort((a, b) => a.losses - b.losses).slice(0, 2 * maxOutputs).flatMap(({name, o, title, losses}) => [
    column(title, r => { // an accuracy of a net whose loss is NaN says nothing
      const cell = measured(has(r, name, losses) && lastOf(r.tables.get(name), o));
      return {...cell, bad: cell.bad || has(r, name, false) && !Number.isFinite(lastOf(r.tables.get(name), 'loss'))};
    }, !losses),
    column(`${losses ? 'lowest' : 'best'} ${title}`, r => {
      const best = has(r, name, losses) && bestOf(r.tables.get(name), o);
      return best ? measured(best.value, ` at ${best.iteration}`) : {text: ''};
    }, !losses),
  ]);
}

const maxFields = 12;

// fieldColumns has the fields of the solvers and nets that differ.
function fieldColumns(list) {
  const names = differing(list.map(fieldsOfRun)), left = names.length - maxFields;
  $('fields-note').textContent = left > 0 ? `The runs differ in ${left} more fields: ${names.slice(maxFields, maxFields + 20).join(', ')}${left > 20 ? ' ...' : ''}` : '';
  return names.slice(0, maxFields).map(name => column(name, r => {
    const text = fieldsOfRun(r).get(name) ?? '', v = +text;
    return {text, by: text !== '' && Number.isFinite(v) ? v : text};
  }));
}

const sorting = {title: 'run', down: false};
let listed = '';       // the columns and runs in the table
let rows = new Map();  // by run: {tr, cells}

function showRuns() {
  const list = [...runs.values()], started = list.filter(r => r.state.started), columns = [...stateColumns(), ...testColumns(list), ...fieldColumns(started)];
  document.title = 'Runs - swcaffe';
  $('board-note').textContent = online ? (runs.size ? `${runs.size} runs` : 'No runs yet. The board waits for files that swcaffe train -log_json writes.') : 'No connection to the board.';
  const now = JSON.stringify([columns.map(c => c.title), list.map(r => r.name)]);
  if (now !== listed) {
    listed = now;
    layTable(columns, list);
  }
  for (const [i, c] of columns.entries()) {
    for (const r of list) {
      const cell = rows.get(r.name).cells[i], {text, bad} = c.of(r);
      if (cell.textContent !== text) cell.textContent = cell.title = text;
      cell.classList.toggle('bad', !!bad);
    }
  }
  sortRows(columns, list);
}

// layTable makes the table's head, whose buttons sort it, and an empty row for each run.
function layTable(columns, list) {
  const head = element('tr'), body = element('tbody'), thead = element('thead');
  head.append(element('th', 'show', {scope: 'col'}), ...columns.map(c => {
    const th = element('th', undefined, {scope: 'col'}), b = element('button', c.title, {type: 'button', class: 'sort cut', title: c.title});
    b.addEventListener('click', () => {
      sorting.down = sorting.title === c.title ? !sorting.down : !!c.down;
      sorting.title = c.title;
      showRuns();
    });
    th.append(b);
    return th;
  }));
  rows = new Map(list.map(r => {
    const tr = element('tr'), first = element('td'), box = element('input', undefined, {type: 'checkbox', 'aria-label': 'Show ' + r.name}), colour = element('span', undefined, {class: 'stroke', 'aria-hidden': 'true'});
    box.checked = r.shown;
    box.addEventListener('change', () => {
      r.shown = box.checked;
      dirty = true;
    });
    first.append(box, colour);
    const cells = columns.map(() => element('td', '', {class: 'cut'}));
    tr.append(first, ...cells);
    return [r.name, {tr, cells, colour}];
  }));
  thead.append(head);
  $('run-table').replaceChildren(thead, body);
}

// sortRows puts the rows in order. What is no number comes last.
function sortRows(columns, list) {
  const at = Math.max(0, columns.findIndex(c => c.title === sorting.title)), by = new Map(list.map(r => [r, columns[at].of(r).by]));
  const rank = v => v === undefined || v === '' || Number.isNaN(v) ? 2 : typeof v === 'string' ? 1 : 0, sign = sorting.down ? -1 : 1;
  list.sort((a, b) => {
    const [x, y] = [by.get(a), by.get(b)];
    return rank(x) - rank(y) || (rank(x) === 2 || x === y ? 0 : sign * (typeof x === 'string' ? x.localeCompare(y, undefined, {numeric: true}) : x - y)) || a.name.localeCompare(b.name);
  });
  $('run-table').querySelectorAll('thead th').forEach((th, i) => th.setAttribute('aria-sort', i - 1 !== at ? 'none' : sorting.down ? 'descending' : 'ascending'));
  const body = $('run-table').tBodies[0];
  list.forEach((r, i) => {
    const {tr, colour} = rows.get(r.name);
    tr.hidden = !sought(r);
    colour.style.borderTop = `3px ${dashOf(r).length ? 'dashed' : 'solid'} ${colourOf(r)}`;
    if (body.children[i] !== tr) body.insertBefore(tr, body.children[i] || null);
  });
}

$('run-filter').addEventListener('input', () => {
  dirty = true;
  showRuns();
});

// difference lists the lines that are only in a ('-') or only in b ('+'), with the others (' '), by the longest common subsequence.
function difference(a, b) {
  const x = a.split('\n'), y = b.split('\n');
  let head = 0, tail = 0;
  while (head < x.length && head < y.length && x[head] === y[head]) head++;
  while (tail < x.length - head && tail < y.length - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  const p = x.slice(head, x.length - tail), q = y.slice(head, y.length - tail), out = x.slice(0, head).map(l => ' ' + l);
  const width = q.length + 1, common = new Uint32Array((p.length + 1) * width);
  for (let i = p.length - 1; i >= 0; i--) {
    for (let j = q.length - 1; j >= 0; j--) {
      common[i * width + j] = p[i] === q[j] ? 1 + common[(i + 1) * width + j + 1] : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  let i = 0, j = 0;
  while (i < p.length || j < q.length) {
    if (i < p.length && j < q.length && p[i] === q[j]) {
      out.push(' ' + p[i++]);
      j++;
    } else if (j >= q.length || i < p.length && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      out.push('-' + p[i++]);
    } else {
      out.push('+' + q[j++]);
    }
  }
  return out.concat(x.slice(x.length - tail).map(l => ' ' + l));
}

// around keeps the lines near a difference.
function around(lines, near) {
  const keep = lines.map(() => false);
  lines.forEach((l, i) => { if (l[0] !== ' ') keep.fill(true, Math.max(0, i - near), i + near + 1); });
  const out = [];
  lines.forEach((l, i) => {
    if (keep[i]) out.push(l);
    else if (out.length && out[out.length - 1] !== ' ...') out.push(' ...');
  });
  return out;
}

$('compare').addEventListener('click', () => {
  const order = [...$('run-table').tBodies[0].rows], two = [...runs.values()].filter(drawnRun).sort((x, y) => order.indexOf(rows.get(x.name).tr) - order.indexOf(rows.get(y.name).tr)).slice(0, 2), box = $('differences');
  box.hidden = false;
  if (two.length < 2) {
    box.replaceChildren(element('p', 'Two shown runs are needed.'));
    return;
  }
  const [a, b] = two.map(r => r.state.started);
  const parts = [element('p', `- ${two[0].name}, + ${two[1].name}`)];
  for (const [title, field] of [['Solvers', 'solver_prototxt'], ['Nets', 'net_prototxt']]) {
    const lines = around(difference(a[field], b[field]), 2), pre = element('pre', undefined, {class: 'difference'});
    for (const l of lines) pre.append(element('span', l + '\n', {class: {'-': 'bad', '+': 'good', ' ': ''}[l[0]]}));
    parts.push(element('h2', title), lines.some(l => l[0] !== ' ') ? pre : element('p', 'equal'));
  }
  box.replaceChildren(...parts);
});
