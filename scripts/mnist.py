#!/usr/bin/env python3
"""Trains nets on MNIST and Fashion-MNIST and prints the tables of docs/mnist.md.

It fetches the sets as "swcaffe dataset" does, through this user's Go and apt, or finds them in DIR/data. Trainings:

  lenet       LeNet with the settings of Caffe's example: 10,000 iterations of 64 images; with -caffe also by that program
  bf16        MobileNetV2 with -precision bf16; and tests of the trained LeNets with it, which has no algorithm in bf16 when it trains
  solvers     the same with the solver of every type in models/lenet, on MNIST
  nets        the small nets of models/ with their own solvers
  strategies  LeNet by four workers with every -workers_strategy, 2,000 iterations on MNIST, in virtual time

A finished training is not repeated: the same command goes on after a stop. Nor is one whose figures are in docs/mnist.csv, but with -again. A row of
docs/mnist.md stays until there are figures of as many seeds.
Figures are those of the last test, on all 10,000 test images.
"""

import argparse
import collections
import csv
import glob
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = ['lenet', 'bf16', 'solvers', 'nets', 'strategies']
SETS = ['mnist', 'fashion_mnist']
TABLE = os.path.join(ROOT, 'docs', 'mnist.csv')  # the figures of every training behind the tables
FIGURES = ['accuracy', 'loss', 'cross_entropy_loss', 'processor_s', 'simulated_s', 'messages', 'bytes']
TITLES = {'mnist': 'MNIST', 'fashion_mnist': 'Fashion-MNIST'}
SOLVERS = ['nesterov', 'adagrad', 'rmsprop', 'adadelta', 'adam']
NETS = ['cifar10_resnet8', 'cifar10_mobilenet_v2', 'mnist_autoencoder', 'mnist_siamese']

# The learning rates of scripts/time_to_accuracy.sh, for batches of 16 images of each of four workers (sync: of 64 of all together).
RATES = {'sync': 0.01, 'easgd': 0.1, 'async_sgd': 0.05, 'async_msgd': 0.005, 'hogwild_sgd': 0.05, 'async_easgd': 0.1, 'async_measgd': 0.01,
         'hogwild_easgd': 0.1, 'sync_easgd1': 0.1, 'sync_easgd2': 0.1, 'sync_easgd3': 0.1, 'decentralised_easgd': 0.1}
TRACED = 20  # iterations of which messages are counted

# A training: its part, its name (a folder), the set and seed, the solver below models/, texts to replace in net and solver, and the command.
Run = collections.namedtuple('Run', 'part name set seed solver net_edits solver_edits command')


def lenet(part, name, set_, seed, command, solver='lenet/solver.prototxt', net_edits=(), solver_edits=()):
    edits = [(r'max_iter: 2000', 'max_iter: %d' % (2000 if part == 'strategies' else 10000)), (r'stepsize: 1500', 'stepsize: 7500')]
    return Run(part, name, set_, seed, solver, list(net_edits), edits + list(solver_edits), command)


def runs(args):
    """Return all trainings, those first that a table cannot do without."""
    ours = ['./swcaffe', '-threads', str(args.threads)]
    todo = []
    for seed in range(1, args.seeds + 1):
        for s in SETS:
            todo.append(lenet('lenet', 'lenet', s, seed, ours))
    for seed in range(1, args.seeds + 1):
        if args.caffe and seed <= args.caffe_seeds:
            todo.append(lenet('lenet', 'caffe', 'mnist', seed, [args.caffe]))
        for strategy, rate in RATES.items() if seed <= args.strategy_seeds else ():
            batch = 64 if strategy == 'sync' else 16
            flags = ['-workers', '4', '-workers_strategy', strategy, '-transport', 'sim', '-cluster', 'infiniband_fdr', '-machine', 'sw26010']
            todo.append(lenet('strategies', 'strategy_' + strategy, 'mnist', seed, ours + flags, net_edits=[('batch_size: 64', 'batch_size: %d' % batch)],
                              solver_edits=[('base_lr: 0.01', 'base_lr: %g' % rate)]))
        for solver in SOLVERS:
            todo.append(lenet('solvers', 'lenet_' + solver, 'mnist', seed, ours, solver='lenet/solver_%s.prototxt' % solver))
        for s in SETS:
            for net in NETS:
                todo.append(Run('nets', net, s, seed, net + '/solver.prototxt', [], [], ours))
        for s in SETS:
            todo.append(Run('bf16', 'cifar10_mobilenet_v2_bf16', s, seed, 'cifar10_mobilenet_v2/solver.prototxt', [], [], ours + ['-precision', 'bf16']))
    return [r for r in todo if r.part in args.parts]


def folder(run):
    return os.path.join(run.set, run.name, 'seed_%d' % run.seed)


def write_files(run, models):
    """Write the net and the solver of a training into its folder, changed for the set."""
    def changed(text, edits):
        for old, new in edits:
            text = re.sub(old, new, text)
        return text

    solver = os.path.join(models, run.solver)
    with open(solver) as f:
        text = f.read()
    with open(os.path.join(os.path.dirname(models), re.search(r'^net: "(.*)"', text, re.M).group(1))) as f:
        net = f.read()
    pairs = run.set + '_pairs'
    data = [('data/pairs_', 'data/%s_' % pairs), ('data/(digits|shapes)_', 'data/%s_' % run.set)]
    here = folder(run)
    mine = [(r'(?m)^#.*\n', ''), (r'(?m)^net: .*', 'net: "%s/net.prototxt"' % here), ('test_iter: 40', 'test_iter: 100'),
            (r'(?m)^snapshot: .*', 'snapshot: 0'), (r'snapshot_prefix: .*', 'snapshot_prefix: "%s/last"' % here), (r'random_seed: \d+', 'random_seed: %d' % run.seed)]
    os.makedirs(here, exist_ok=True)
    with open(here + '/net.prototxt', 'w') as f:
        f.write(changed(net, data + run.net_edits))
    with open(here + '/solver.prototxt', 'w') as f:
        f.write(changed(text, mine + run.solver_edits))


def last_test(log):
    """Return the outputs of the last test of the last test net, by their names."""
    outputs = {}
    for line in log.splitlines():
        if ', Testing net (#' in line:
            outputs = {}
        found = re.search(r'Test net output #\d+: (\S+) = (\S+)', line)
        if found:
            outputs[found.group(1)] = float(found.group(2))
    return outputs


def rounded(set_, seed, threads, known):
    """Test a trained LeNet with factors in bfloat16, unless it was done."""
    here = os.path.join(set_, 'lenet', 'seed_%d' % seed)
    to = os.path.join(set_, 'lenet_tested_bf16', 'seed_%d' % seed)
    if (set_, 'lenet_tested_bf16', seed) in known or os.path.exists(to + '/result.json') or not os.path.exists(here + '/last_iter_10000.caffemodel'):
        return
    os.makedirs(to, exist_ok=True)
    test = ['./swcaffe', 'test', '-model', here + '/net.prototxt', '-weights', here + '/last_iter_10000.caffemodel', '-iterations', '100',
            '-precision', 'bf16', '-threads', str(threads)]
    done = subprocess.run(test, stderr=subprocess.PIPE, text=True)
    found = dict(re.findall(r'\] (accuracy|loss) = (\S+)', done.stderr))
    if done.returncode or len(found) != 2:
        sys.exit('%s: the test failed:\n%s' % (to, done.stderr))
    with open(to + '/result.json', 'w') as f:
        json.dump({name: float(value) for name, value in found.items()}, f)


def messages(trace):
    """Return the number and the bytes of the messages of an iteration."""
    with open(trace) as f:
        events = json.load(f)
    events = events['traceEvents'] if isinstance(events, dict) else events
    sent = [e['args']['bytes'] for e in events if e.get('cat') == 'message']
    return len(sent) / TRACED, sum(sent) / TRACED


def train(run, models, known):
    """Train, unless it was done, and write the figures to the run's file result.json."""
    here = folder(run)
    if (run.set, run.name, run.seed) in known or os.path.exists(here + '/result.json'):
        return
    write_files(run, models)
    command = run.command[:1] + ['train', '-solver', here + '/solver.prototxt'] + run.command[1:]
    if run.part == 'strategies':
        command += ['-trace', here + '/trace.json', '-trace_iterations', str(TRACED)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(here + '/log', 'w') as log:
        status = subprocess.call(command, stdout=log, stderr=subprocess.STDOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(here + '/log') as f:
        log = f.read()
    result = last_test(log)
    if status or 'Optimization Done' not in log or 'Test interrupted' in log or not result:
        sys.exit('%s: the training failed or was stopped:\n%s' % (here, '\n'.join(log.splitlines()[-3:])))
    result['processor_s'] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    times = re.findall(r'Simulated time: (\S+) s', log)
    if times:
        result['simulated_s'] = float(times[-1])
        result['messages'], result['bytes'] = messages(here + '/trace.json')
        os.remove(here + '/trace.json')
    with open(here + '/result.partial', 'w') as f:
        json.dump(result, f)
    os.rename(here + '/result.partial', here + '/result.json')
    print('%s: %s' % (here, ', '.join('%s %.6g' % item for item in result.items())), file=sys.stderr, flush=True)


def fetch(sets):
    for s in sets:
        if not os.path.exists('data/%s_test_lmdb' % s) or not os.path.exists('data/%s_idx' % s):
            subprocess.check_call(['./swcaffe', 'dataset', s, '-out', 'data', '-idx', '-force'])
        for part, source in (('train', 'train'), ('test', 't10k')):
            db = 'data/%s_pairs_%s_lmdb' % (s, part)
            if not os.path.exists(db):
                idx = 'data/%s_idx/%s-' % (s, source)
                subprocess.check_call(['./swcaffe', 'convert_mnist_siamese_data', '-backend', 'lmdb', idx + 'images-idx3-ubyte', idx + 'labels-idx1-ubyte', db])


def stored(path):
    """Return the figures of trainings that a table of -write has, by set, name and seed."""
    if not os.path.exists(path):
        return {}
    with open(path, newline='') as f:
        return {(r['set'], r['training'], int(r['seed'])): {k: float(r[k]) for k in FIGURES if r[k]} for r in csv.DictReader(f)}


def trained():
    """Return the figures of the trainings in this folder, by set, name and seed."""
    found = {}
    for path in glob.glob('*/*/seed_*/result.json'):
        set_, name, seed, _ = path.split(os.sep)
        with open(path) as f:
            found[set_, name, int(seed[len('seed_'):])] = json.load(f)
    return found


def store(path, found):
    with open(path, 'w', newline='') as f:
        out = csv.writer(f, lineterminator='\n')
        out.writerow(['set', 'training', 'seed'] + FIGURES)
        for key in sorted(found):
            out.writerow(list(key) + ['%.6g' % found[key][k] if k in found[key] else '' for k in FIGURES])


def results(found, name, set_):
    """Return the figures of a training by its seeds."""
    return [found[key] for key in sorted(found) if key[:2] == (set_, name)]


def spread(found, key, form='%.4f'):
    """Return two cells of a table: the mean of a figure and its range, of the trainings that have it."""
    values = [r[key] for r in found if key in r]
    if not values:
        return ['-', '-']
    return [form % (sum(values) / len(values)), form % values[0] if len(values) == 1 else (form + ' to ' + form) % (min(values), max(values))]


def table(head, rows):
    return '\n'.join(['| %s |' % ' | '.join(head), '|' + '---|' * len(head)] + ['| %s |' % ' | '.join(cells) for cells in rows])


def accuracies(all_, names):
    """Return rows of accuracy and loss of LeNet: names are (label, folder, set)."""
    rows = []
    for label, name, s in names:
        found = results(all_, name, s)
        if found:
            rows.append([TITLES[s], label, str(len(found))] + spread(found, 'accuracy') + spread(found, 'loss') + spread(found, 'processor_s', '%.0f')[:1])
    return table(['set', 'training', 'seeds', 'test accuracy, mean', 'range', 'test loss, mean', 'range', 'processor s'], rows) if rows else ''


def lenet_table(all_):
    return accuracies(all_, [(label, name, s) for s in SETS for label, name in (('swcaffe', 'lenet'), ('swcaffe, tested with `-precision bf16`', 'lenet_tested_bf16'), ('BVLC Caffe 1.0', 'caffe'))])


def solver_table(all_):
    types = {'lenet': 'SGD', 'lenet_nesterov': 'Nesterov', 'lenet_adagrad': 'AdaGrad', 'lenet_rmsprop': 'RMSProp', 'lenet_adadelta': 'AdaDelta', 'lenet_adam': 'Adam'}
    return accuracies(all_, [(label, name, 'mnist') for name, label in types.items()])


def strategy_table(all_):
    rows = []
    for strategy, rate in RATES.items():
        for r in results(all_, 'strategy_' + strategy, 'mnist')[:1]:
            rows.append(['`%s`' % strategy, '%g' % rate, '%.4f' % r['accuracy'], '%.4f' % r['loss'], '%.1f' % r['simulated_s'], '%g' % r['messages'], '%.2f' % (r['bytes'] / 1e6)])
    return table(['strategy', 'rate', 'test accuracy', 'test loss', 'simulated s', 'messages an iteration', 'MB an iteration'], rows) if rows else ''


def nets_table(all_):
    measures = {'mnist_siamese': ('loss', 'contrastive loss', '%.4f'), 'mnist_autoencoder': ('cross_entropy_loss', 'cross entropy', '%.1f')}
    rows = []
    for net, s, bf16 in [(net, s, bf16) for net in NETS for s in SETS for bf16 in ('', '_bf16')]:
        found = results(all_, net + bf16, s)
        if found:
            key, words, form = measures.get(net, ('accuracy', 'accuracy', '%.4f'))
            rows.append(['`%s`' % net + (', `-precision bf16`' if bf16 else ''), TITLES[s], str(len(found)), words] + spread(found, key, form) + spread(found, 'processor_s', '%.0f')[:1])
    return table(['model', 'set', 'seeds', 'figure', 'mean', 'range', 'processor s'], rows) if rows else ''


def sections(all_):
    """Return the tables of docs/mnist.md by their names there."""
    return [('lenet', lenet_table(all_)), ('solvers', solver_table(all_)), ('nets', nets_table(all_)), ('strategies', strategy_table(all_))]


def parts(path, name):
    """Return a document's text up to the table of that name, the table, and the text behind it."""
    with open(path) as f:
        text = f.read()
    begin, end = '<!-- scripts/mnist.py -write: %s -->\n' % name, '<!-- end of %s -->' % name
    if begin not in text or end not in text:
        sys.exit('%s has no place for the table of %s' % (path, name))
    start = text.index(begin) + len(begin)
    return text[:start], text[start:text.index(end)], text[text.index(end):]


def joined(old, new):
    """Return a table with the rows of both. Of two rows of the same training the one of more seeds counts, or the new one."""
    if not old.strip() or not new:
        return new or old.strip()
    lines = new.splitlines()
    head = [cell.strip() for cell in lines[0].strip('|').split('|')]
    names = head.index('seeds') if 'seeds' in head else 1
    rows = {}
    for line in old.splitlines()[2:] + lines[2:]:
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        key = tuple(cells[:names])
        if key not in rows or 'seeds' not in head or int(cells[names]) >= int(rows[key][0]):
            rows[key] = cells[names], line
    return '\n'.join(lines[:2] + [line for _, line in rows.values()])


def plot(path, all_):
    """Plot the tests of LeNet on MNIST, a curve a training, if the logs of all of them are here."""
    logs = []
    for name in ('lenet', 'caffe'):
        for seed in [key[2] for key in sorted(all_) if key[:2] == ('mnist', name)]:
            log = 'mnist/%s/seed_%d/log' % (name, seed)
            if not os.path.exists(log):
                print('%s stays as it is: %s is not here' % (path, log), file=sys.stderr)
                return
            os.makedirs('curves', exist_ok=True)
            logs.append('curves/%s_seed_%d.log' % ({'lenet': 'swcaffe'}.get(name, name), seed))
            shutil.copyfile(log, logs[-1])
    if logs:
        subprocess.check_call(['./swcaffe', 'plot_log', '2', path, '-log_loss'] + logs)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('dir', nargs='?', default='mnist_runs', metavar='DIR', help='gets the binary, the data and a folder for every training (mnist_runs)')
    p.add_argument('-seeds', type=int, default=5, help='train with the seeds 1 to N (5)', metavar='N')
    p.add_argument('-threads', type=int, default=0, help='threads of a training; the results have the same bits', metavar='N')
    p.add_argument('-parts', default=','.join(PARTS), help='train only these, separated by commas', metavar='LIST')
    p.add_argument('-caffe', type=os.path.abspath, help="also train with this program, which takes the arguments of Caffe's own; scripts/bench/caffe.sh makes one", metavar='FILE')
    p.add_argument('-caffe_seeds', type=int, default=2, help='with the seeds 1 to N (2)', metavar='N')
    p.add_argument('-strategy_seeds', type=int, default=1, help='train by strategies with the seeds 1 to N (1)', metavar='N')
    p.add_argument('-print', dest='only_print', action='store_true', help='train nothing; print what there is')
    p.add_argument('-again', action='store_true', help='train also what docs/mnist.csv has')
    p.add_argument('-write', action='store_true', help='write the tables into docs/mnist.md, their figures into docs/mnist.csv, and the plot docs/mnist.svg')
    args = p.parse_args()
    args.parts = args.parts.split(',')
    unknown = set(args.parts) - set(PARTS)
    if unknown or args.seeds < 1:
        p.error('-parts has %s; there are %s' % (', '.join(sorted(unknown)), ', '.join(PARTS)) if unknown else '-seeds must be 1 or more')
    os.makedirs(args.dir, exist_ok=True)
    args.dir = os.path.abspath(args.dir)
    if not os.path.exists(args.dir + '/swcaffe'):
        subprocess.check_call(['go', 'build', '-o', args.dir + '/swcaffe', './cmd/swcaffe'], cwd=ROOT, env=dict(os.environ, CGO_ENABLED='0'))
    os.chdir(args.dir)
    known = stored(TABLE)
    if not args.only_print:
        try:
            fetch(SETS)
        except subprocess.CalledProcessError as e:
            sys.exit('no data: %s failed' % shlex.join(e.cmd))
        for run in runs(args):
            train(run, os.path.join(ROOT, 'models'), {} if args.again else known)
            if run.name == 'lenet' and 'bf16' in args.parts:
                rounded(run.set, run.seed, args.threads, {} if args.again else known)
    known.update(trained())
    document = os.path.join(ROOT, 'docs', 'mnist.md')
    for name, text in sections(known):
        before, old, behind = parts(document, name)
        text = joined(old, text)
        print('%s\n\n%s\n' % (name, text))
        if args.write:
            with open(document, 'w') as f:
                f.write(before + text + '\n' + behind)
    if args.write:
        store(TABLE, known)
        plot(os.path.join(ROOT, 'docs', 'mnist.svg'), known)


if __name__ == '__main__':
    main()
