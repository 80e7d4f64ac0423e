'use strict';

// The view of the tests: what the last run of a test net has found. The run collects that only while this view is open.

let tested = '';     // the results that are shown
let asked = '';      // the test that was the last one when this page asked
let testView = null; // the last answer

const lastTest = net => {
  const t = tables.get('test ' + net);
  return t && t.iterations.length ? t.iterations[t.iterations.length - 1] : -1;
};

async function showTests() {
  const net = +$('test-net').value || 0;
  asked = net + ' ' + lastTest(net);
  await busy('tests-note', async ask => {
    const t = testView = await ask('test?net=' + net), select = $('test-net');
    $('which').hidden = t.nets < 2;
    if (select.options.length !== t.nets) {
      select.replaceChildren(...[...Array(t.nets).keys()].map(k => element('option', String(k), {value: k})));
      select.value = net;
    }
    const now = t.results ? net + ' ' + t.iteration : '';
    if (now !== tested) {
      tested = now;
      $('results').replaceChildren(...(t.results ? resultParts(t.results) : []));
    }
    if (!t.results) $('results').replaceChildren(...awaited(net));
    if (t.note) return 'Nothing to show: ' + t.note;
    return t.results ? `Test before iteration ${t.iteration}. ${nextTest()}` : '';
  }, 'Asking the run ...');
}

// solverNumber is a number of the solver's, by default 0.
const solverNumber = name => +(new RegExp(`^${name}: (\\d+)`, 'm').exec(run.started.solver_prototxt) || [0, 0])[1];

// nextTest says when the next test comes. waiting adds how long that is.
function nextTest(waiting) {
  const every = solverNumber('test_interval'), train = tables.get('train'), done = train && train.iterations.length ? train.iterations.at(-1) + 1 : run.started.iteration;
  const button = $('test').hidden || $('buttons').hidden ? '' : ' "Test now" begins one at once.';
  const tested = Math.max(...[...tables].filter(([name]) => name.startsWith('test')).map(([, t]) => t.iterations.at(-1) ?? -1), -1);
  const next = every ? Math.ceil(Math.max(done, tested + 1, 1) / every) * every : Infinity;
  if (next > run.started.max_iter) return (every ? 'No other test comes by itself: the run ends before.' : 'The solver has no test_interval, so that no test comes by itself.') + button;
  const wait = train && waiting ? left(train, run.started.iteration, next)[0] : undefined;
  return `The next test comes before iteration ${next}${wait ? `, in ${wait.replace(' to go', '')}` : ''}.${button}`;
}

// awaited says what the view will have, and when. The run collects a test only if somebody looks.
function awaited(net) {
  if (!/^test_iter: /m.test(run.started.solver_prototxt)) {
    return [element('p', 'This run has no tests. Its solver needs test_iter and test_interval, and a net with layers of phase TEST, or test_net.')];
  }
  const parts = [], t = tables.get('test ' + net);
  if (t && t.iterations.length) parts.push(element('p', `The last test, before iteration ${t.iterations.at(-1)}: ${t.names.filter(n => n.startsWith('output ')).slice(0, 2 * maxOutputs).map(n => `${n.slice(7)} ${figure(lastOf(t, n))}`).join(', ')}. More is collected of tests while this view is open, and none has ended since it opened.`));
  else parts.push(element('p', 'No test has ended yet.'));
  parts.push(element('p', nextTest(true)), element('p', 'Then this view has, of a classification, the confusion matrix, the accuracy of each class and the worst-misclassified images with their scores; of a segmentation, the masks and the intersection over union of each class; of detections, the boxes over the images and curves of precision over recall.'));
  return parts;
}

// testsChanged asks again when a test has ended, so that the next one is collected as well.
function testsChanged() {
  const net = +$('test-net').value || 0;
  if (!$('view-tests').hidden && testView && !testView.results && run.started) $('results').replaceChildren(...awaited(net));
  if (!$('view-tests').hidden && online && asked !== net + ' ' + lastTest(net) && !run.stopped && !run.crashed) showTests();
}

$('test-net').addEventListener('change', showTests);

const scroll = (child, name) => {
  const box = element('div', undefined, {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name});
  box.append(child);
  return box;
};

function captioned(caption, head, rows, kind) {
  const table = element('table', undefined, {class: kind || ''});
  fill(table, head, rows);
  for (const tr of table.querySelectorAll('tbody tr')) {
    const first = tr.firstChild, th = element('th', undefined, {scope: 'row'});
    th.append(...first.childNodes);
    first.replaceWith(th);
  }
  table.prepend(element('caption', caption));
  return scroll(table, caption.split(/[.:] /)[0]);
}

function resultParts(r) {
  const parts = [], figures = element('dl');
  for (const f of [{name: 'batches', value: r.batches}, {name: 'images', value: r.items}, ...(r.damaged ? [{name: 'damaged images', value: r.damaged}] : []), ...(r.figures || [])]) {
    const box = element('div');
    box.append(element('dt', f.name), element('dd', String(f.value)));
    figures.append(box);
  }
  parts.push(figures);
  if (r.unit) parts.push(...matrixParts(r));
  if (r.curves) parts.push(...curveParts(r));
  if (r.mistakes || r.unit) parts.push(...mistakeParts(r));
  return parts;
}

function matrixParts(r) {
  const parts = [element('h2', 'Confusion matrix')], flow = element('div', undefined, {class: 'flow'});
  if (r.matrix) {
    const rows = r.matrix.map(row => [row.name, ...row.cells.map(c => c.text)]);
    const box = captioned(`${r.unit}: labels in rows, predictions in columns`, ['', ...r.names], rows, 'matrix');
    box.querySelectorAll('tbody tr').forEach((tr, i) => tr.querySelectorAll('td').forEach((td, k) => {
      const c = r.matrix[i].cells[k];
      td.style.setProperty('--a', c.shade);
      td.title = c.title;
      td.className = (c.right ? 'right' : '') + (c.shade > 0.7 ? ' strong' : '');
    }));
    flow.append(box);
  } else if (r.matrix_picture) {
    const box = element('div'), p = picture(r.matrix_picture.png, 'Confusion matrix; the table of classes has its diagonal');
    p.classList.add('large');
    box.append(element('p', 'A row of pixels for each label, a column for each predicted class, from class 0 at the top left; the darker, the larger the share of the row. Right predictions are blue.'), p);
    flow.append(box);
  }
  if (r.confused) flow.append(captioned('Most frequent mistakes', ['mistake', r.unit], r.confused.map(c => [c.name, c.value])));
  parts.push(flow, element('h2', 'Accuracy by class'));
  const head = ['class', r.unit, 'right', 'accuracy', '', 'precision'].concat(r.maps ? ['IoU'] : []);
  const rows = (r.classes || []).map(c => {
    const meter = element('meter', undefined, {value: c.share, 'aria-hidden': 'true'});
    return [c.name, String(c.items), String(c.right), c.recall, meter, c.precision].concat(r.maps ? [c.iou] : []);
  });
  parts.push(captioned(`Accuracy: the share of a label's ${r.unit} that are predicted as it. Precision: the share of the ${r.unit} predicted as a class that have its label.` +
    (r.maps ? ' IoU: intersection over union.' : ''), head, rows));
  return parts;
}

function svg(tag, attributes) {
  const e = document.createElementNS(svgNS, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

// boxesOver draws objects and detections over an image.
function boxesOver(boxes) {
  const over = svg('svg', {class: 'boxes', viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true'});
  for (const b of boxes) over.append(svg('rect', {class: b.kind, x: b.left, y: b.top, width: b.width, height: b.height}));
  return over;
}

function mistakeParts(r) {
  const detections = !r.unit, list = r.mistakes || [];
  const parts = [element('h2', detections || r.maps ? 'Worst images' : 'Worst-misclassified images')];
  if (!list.length) return [...parts, element('p', 'There are none.')];
  if (detections) parts.push(element('p', `The ${list.length} images with the smallest number of right detections, divided by that of objects and wrong detections. Boxes are shown from score 0.5 on: objects dashed, right detections solid, wrong ones dotted.`));
  else if (r.maps) parts.push(element('p', `The ${list.length} images with the smallest share of right pixels. Classes have PASCAL VOC's colours; pixels without a label are white.`));
  else parts.push(element('p', `${list.length} of ${r.wrong} misclassified images: those whose label has the smallest probability, of the scores that layer ${r.scores_of} reads.`));
  if (r.no_pictures) parts.push(element('p', "The net's data has no grey or colour images, so that there are no pictures."));
  const cards = element('ol', undefined, {class: 'cards' + (r.maps ? ' maps' : '')});
  for (const m of list) {
    const li = element('li'), row = element('div', undefined, {class: 'pictures'});
    for (const p of m.pictures || []) {
      const figure = element('figure'), frame = element('div', undefined, {class: 'frame'});
      frame.append(picture(p.png, `Image ${m.item}${p.caption ? ', ' + p.caption : ''}`));
      if (m.boxes) frame.append(boxesOver(m.boxes));
      figure.append(frame);
      if (p.caption) figure.append(element('figcaption', p.caption));
      row.append(figure);
    }
    const table = element('table');
    fill(table, [m.head, m.score], (m.guesses || []).map(g => [g.name, g.value]));
    li.append(row, table, element('p', `${m.name ? m.name + ', ' : ''}image ${m.item} of the test`, {class: 'soft'}));
    cards.append(li);
  }
  return [...parts, cards];
}

function curveParts(r) {
  const parts = [element('h2', 'Precision over recall'),
    element('p', `Average precision (${r.average_precision}) of every class. Recall grows to the right and precision upwards, both from 0 to 1.`)];
  const cards = element('ul', undefined, {class: 'cards'});
  for (const c of r.curves) {
    const li = element('li');
    li.append(element('h3', `class ${c.name}: ${c.average}`));
    if (c.found) {
      const plot = svg('svg', {class: 'recall', viewBox: '0 0 100 100', role: 'img', 'aria-label': `Precision over recall of class ${c.name}; average precision ${c.average}`});
      plot.append(svg('path', {d: 'M0 50H100M50 0V100'}), svg('polyline', {points: c.points}));
      li.append(plot);
    } else {
      li.append(element('p', 'no detections', {class: 'soft'}));
    }
    cards.append(li);
  }
  return [...parts, cards];
}
