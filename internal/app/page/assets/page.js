'use strict';

// The page of a run: its stream, its head, its buttons and settings. The server sends parts of tables (the training net's and each test net's); charts
// show their columns.

const $ = id => document.getElementById(id);
const runs = new Map();   // by name: {name, state, tables, shown, colour}; a table is {names, iterations, seconds, columns, mean, losses, best, breaks}
let tables = new Map();   // of the first run, by name
let board = false;        // the page shows many runs
let run = null;           // the last state of the first run

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
let colours = 0;    // given to runs, each of which keeps its own

function receive(news) {
  board = news.board;
  for (const b of ['test', 'rate', 'snapshot', 'stop']) $(b).hidden = !(news.buttons || []).includes(b);
  for (const name of runs.keys()) if (!(news.names || []).includes(name)) runs.delete(name);
  for (const r of news.runs || []) {
    if (!runs.has(r.name)) runs.set(r.name, {name: r.name, shown: true, colour: colours++, tables: new Map()});
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
  Object.assign(t, {mean: p.mean, losses: p.losses, best: p.best, breaks: p.breaks || []});
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

const figure = v => v === null || v === undefined ? '-' : Number.isNaN(v) ? 'nan' : !Number.isFinite(v) ? (v > 0 ? 'inf' : '-inf') : String(+v.toPrecision(6));

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
  showFigures();
}

// left tells the time to the last iteration by the pace of the second half of those since the last start.
function left(train, start, end) {
  const n = train.iterations.length, at = i => train.iterations[i];
  const back = Math.max(n >> 1, train.iterations.findIndex(i => i >= start));
  if (back >= n - 1) return [];
  const pace = (train.seconds[n - 1] - train.seconds[back]) / (at(n - 1) - at(back));
  return [`about ${duration(pace * (end - at(n - 1) - 1))} to go`];
}

// ---- the figures of the head ----

const lastOf = (t, name) => t ? t.columns[t.names.indexOf(name)]?.at(-1) : undefined;
const bestOf = (t, name) => {
  const b = t && t.best[t.names.indexOf(name)];
  return b && b.iteration >= 0 ? {iteration: b.iteration, value: number(b.value)} : null;
};

const maxOutputs = 4;

// outputsOf lists the outputs of a table that are no losses, or those that are. Of an output with several values there is none.
const outputsOf = (t, losses) => t.names.filter((n, i) => n.startsWith('output ') && !n.endsWith(']') && t.losses[i] === losses).slice(0, maxOutputs);

// figuresOf lists what the head shows of a run: {name, value, note, bad}.
function figuresOf(all) {
  const train = all.get('train'), tests = [...all].filter(([name]) => name.startsWith('test')), list = [];
  if (!train && !tests.length) return list;
  const add = (name, t, column, lowest) => {
    const value = lastOf(t, column), best = bestOf(t, column), bad = !Number.isFinite(value);
    const broken = bad ? breaksIn(t, t.names.indexOf(column)).at(-1) : null, spoiled = !Number.isFinite(lastOf(t, 'loss'));
    list.push({name, value, bad: bad || spoiled, note: broken ? `since iteration ${broken.from}` : spoiled ? 'of a net that is not finite' : `at iteration ${t.iterations.at(-1)}`});
    list.push({name: `${lowest ? 'lowest' : 'best'} ${name}`, value: best ? best.value : undefined, note: best ? `at iteration ${best.iteration}` : 'no test of a finite net'});
  };
  if (train && hasLoss(train)) {
    const value = lastOf(train, 'loss'), broken = breaksIn(train, train.names.indexOf('loss')).at(-1);
    list.push({name: 'loss', value, bad: !Number.isFinite(value), note: Number.isFinite(value) ? '' : `since iteration ${broken.from}`});
  }
  for (const [name, t] of tests) {
    const prefix = tests.length > 1 ? name + ': ' : '';
    for (const o of outputsOf(t, false)) add(prefix + o.slice(7), t, o, false);
    if (hasLoss(t)) add((prefix || 'test ') + 'loss', t, 'loss', true);
  }
  if (!tests.length && train) for (const o of outputsOf(train, false)) list.push({name: 'train ' + o.slice(7), value: lastOf(train, o), note: ''});
  if (train) list.push({name: 'learning rate', value: lastOf(train, 'lr'), note: ''});
  return list;
}

// brokenIn says what in a run's tables became NaN or infinite, the training net's values first.
function brokenIn(all) {
  const texts = [];
  for (const [name, t] of all) {
    if (name === 'norms') continue;
    const by = new Map(); // names by when
    for (const b of t.breaks) {
      const what = t.names[b.column].replace('output ', ''), at = breaksIn({...t, breaks: [b]}, b.column)[0], key = breakText(at);
      if (what !== 'smoothed_loss') by.set(key, (by.get(key) || new Set()).add(what));
    }
    for (const [when, names] of by) texts.push({open: when.startsWith('is'), text: `${name}: ${[...names].slice(0, maxOutputs).join(', ')} ${when}`});
  }
  return texts.sort((a, b) => b.open - a.open).map(t => t.text);
}

function showFigures() {
  $('figures').replaceChildren(...figuresOf(tables).map(f => {
    const box = element('div');
    box.append(element('dt', f.name, {class: 'cut', title: f.name}), element('dd', figure(f.value), {class: f.bad ? 'bad' : ''}));
    if (f.note) box.append(element('dd', f.note, {class: 'soft'}));
    return box;
  }));
  const broken = brokenIn(tables), most = 3, text = broken.slice(0, most).join('; ') + (broken.length > most ? `; and ${broken.length - most} more` : '');
  $('broken').hidden = !broken.length;
  if ($('broken').textContent !== text) $('broken').textContent = text;
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
  const rate = lastOf(tables.get('train'), 'lr');
  return rate === undefined ? '' : figure(rate);
};
press('test', 'a test', 'Run the test nets before the next iteration?');
press('rate', 'learning rate', 'Set the learning rate from the next iteration on? Its policy goes on from there. Snapshots do not store it.', lastRate);
press('snapshot', 'a snapshot', 'Write a snapshot after the current iteration?');
press('stop', 'its end', 'Stop the run after the current iteration? It writes a snapshot if its solver says so.');

// ---- settings ----

for (const id of ['axis', 'images', 'smoothing', 'log', 'clip']) {
  $(id).addEventListener('input', () => {
    if (id === 'axis' || id === 'images') range = null;
    $('strength').textContent = $('smoothing').value;
    $('epoch').hidden = $('axis').value !== 'epoch';
    dirty = true;
  });
}
$('settings').addEventListener('submit', e => e.preventDefault());
$('whole').addEventListener('click', () => zoom(null));
addEventListener('resize', () => {
  for (const c of charts.values()) if (c.u) fit(c);
});

addEventListener('DOMContentLoaded', () => { // the other scripts are there too
  dark.addEventListener('change', () => { dirty = true; });
  show('curves');
  draw();
  follow();
});
