'use strict';

// The board: a line for each run, and the differences of two runs' solvers and nets.

const lastOf = (t, column) => {
  const c = t ? t.columns[t.names.indexOf(column)] : undefined;
  return c && c.length ? c[c.length - 1] : null;
};

function runState(s) {
  if (!s.started) return 'not started';
  if (s.crashed) return 'crashed: ' + s.crashed.error;
  if (s.stopped) return s.stopped.early ? 'stopped early' : 'done';
  return 'no end yet';
}

let listed = ''; // the runs in the table

function showRuns() {
  document.title = 'Runs - swcaffe';
  $('board-note').textContent = online ? (runs.size ? `${runs.size} runs` : 'No runs yet. The board waits for files that swcaffe train -log_json writes.') : 'No connection to the board.';
  const names = [...runs.keys()].join('\n');
  if (names !== listed) {
    listed = names;
    fill($('run-table'), ['show', 'run', 'net', 'state', 'iteration', 'loss', 'last test'], [...runs.values()].map(r => {
      const box = element('input', undefined, {type: 'checkbox', 'aria-label': 'Show ' + r.name});
      box.checked = r.shown;
      box.addEventListener('change', () => {
        r.shown = box.checked;
        dirty = true;
      });
      return [box, r.name, '', '', '', '', ''];
    }));
  }
  const rows = $('run-table').querySelectorAll('tbody tr');
  [...runs.values()].forEach((r, i) => {
    const cells = rows[i].children, train = r.tables.get('train'), started = r.state.started;
    const done = train && train.iterations.length ? train.iterations[train.iterations.length - 1] + 1 : 0;
    const test = r.tables.get('test 0');
    const texts = [started ? started.net : '', runState(r.state), started ? `${done} of ${started.max_iter}` : '', figure(lastOf(train, 'loss')),
      test ? test.names.filter(n => n.startsWith('output ')).map(n => `${n.slice(7)} ${figure(lastOf(test, n))}`).join(', ') : ''];
    texts.forEach((text, k) => { cells[k + 2].textContent = text; });
  });
}

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
  const two = [...runs.values()].filter(r => r.shown && r.state.started).slice(0, 2), box = $('differences');
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
