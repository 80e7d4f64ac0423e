'use strict';

// The fields of solvers and nets, and those in which runs differ.

// fieldsIn lists the fields of a prototxt, as the server writes it, by path: base_lr, or conv1.convolution_param.num_output. Values of a repeated
// field follow one another.
function fieldsIn(text) {
  const fields = new Map(), path = [];
  for (const line of text.split('\n')) {
    const [, name, opens, value] = /^\s*(\w+)(?:(\s*\{)|:\s*(.*))$/.exec(line) || [];
    if (opens) path.push(name);
    else if (name === 'name' && path.length === 1 && path[0] === 'layer') path[0] = bare(value);
    else if (name) put(fields, [...path, name].join('.'), bare(value));
    else if (/^\s*\}/.test(line)) path.pop();
  }
  return fields;
}

const bare = value => value.replace(/^"(.*)"$/, '$1');
const put = (fields, name, value) => fields.set(name, fields.has(name) ? fields.get(name) + ', ' + value : value);

// ownFields are fields of a solver that differ between any two runs, or that a run's start tells better.
const ownFields = ['snapshot_prefix', 'random_seed'];

// fieldsOfRun lists what a run was started with.
function fieldsOfRun(r) {
  const s = r.state.started;
  if (r.fieldsOf === s) return r.fields;
  r.fieldsOf = s;
  r.fields = new Map([['net name', s.net], ['weights', String((s.layers || []).reduce((sum, l) => sum + l.weights, 0) || '')], ['images in an iteration', String(s.items)], ['workers', String(s.workers)], ['seed', String(s.seed)], ['machine', /name: "(.*)"/.exec(s.machine_prototxt || '')?.[1] ?? '']]);
  for (const [name, value] of fieldsIn(s.solver_prototxt)) if (!ownFields.includes(name)) put(r.fields, name, value);
  for (const [name, value] of fieldsIn(s.net_prototxt)) if (name !== 'name') put(r.fields, name, value);
  return r.fields;
}

// differing lists the names of the fields that are not equal in all lists: first those of the solver, which have no dots.
function differing(lists) {
  const names = new Set(lists.flatMap(f => [...f.keys()])), found = [...names].filter(n => lists.some(f => (f.get(n) ?? '') !== (lists[0].get(n) ?? '')));
  return found.sort((a, b) => a.includes('.') - b.includes('.'));
}
