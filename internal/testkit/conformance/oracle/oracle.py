#!/usr/bin/env python3
"""Writes the cases: python3 oracle.py cases.zip.

A case is a folder with a net, often a solver and weights, and expected.json: the commands to run there (cmds), and what they must print
and write. Expected values are computed here from the formulas of Caffe's documentation and of the papers behind the forks' layers, in
plain loops and double precision; derivatives follow from them by the chain rule (scalar.py). Nothing of the program that is tested takes part, and wire.py writes all files.

Inputs are weights of Parameter layers: a step of training then shows the gradient of every input beside those of the weights.
"""
import json
import math
import struct
import sys

sys.dont_write_bytecode = True
import layers as formulas  # noqa: E402
import wire  # noqa: E402
from scalar import Scalar, differentiate  # noqa: E402


def numbers(seed, count, low=-1.0, high=1.0):
    """Values that look random, as float32 has them (Knuth's MMIX generator)."""
    out = []
    for _ in range(count):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(struct.unpack('f', struct.pack('f', low + (high - low) * (seed >> 33) / 2**31))[0])
    return out


def count(shape):
    return math.prod(shape)


def rounded(v):
    if isinstance(v, dict):
        return {k: rounded(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [rounded(x) for x in v]
    return float('%.7g' % v) if isinstance(v, float) else v


def expect(name, **e):
    e.setdefault('rtol', 1e-4)
    e.setdefault('atol', 1e-6)
    wire.put(name + '/expected.json', json.dumps(rounded(dict(e, category=name.split('_')[0])), sort_keys=True) + '\n')


def dims(shape):
    return ' '.join('dim: %d' % d for d in shape)


def parameter(name, shape, fixed=False):
    """A Parameter layer; a fixed one does not learn."""
    mult = ' param { lr_mult: 0 decay_mult: 0 }' if fixed else ''
    return 'layer { name: "%s" type: "Parameter" top: "%s"%s parameter_param { shape { %s } } }\n' % (name, name, mult, dims(shape))


class Weight:
    def __init__(self, layer, kind, shape, values, fixed=False):
        self.layer, self.kind, self.shape, self.fixed = layer, kind, shape, fixed
        self.data = [Scalar(v) for v in values]
        self.histories = []

    def values(self):
        return [v.value for v in self.data]


def model(weights, form='packed'):
    """A caffemodel of weights in the order of their layers."""
    out = []
    for w in weights:
        if not out or out[-1][0] != w.layer:
            out.append((w.layer, w.kind, []))
        out[-1][2].append((w.shape, w.values()))
    return wire.net(out, form)


SGD = 'base_lr: 0.1 momentum: 0.9 weight_decay: 0.01 lr_policy: "fixed" max_iter: 3'


def settings(text):
    """The fields of a solver's text; of a field that stands more than once a list."""
    words, out = text.replace(':', ' ').split(), {}
    for k, v in zip(words[::2], words[1::2]):
        v = v.strip('"') if v[0] == '"' or v[0].isupper() else float(v)
        out[k] = out[k] + [v] if isinstance(out.get(k), list) else [out[k], v] if k in out else v
    return out


def rate(s, i):
    """Caffe's solver.proto, at lr_policy."""
    base, gamma, power, step = s['base_lr'], s.get('gamma', 0), s.get('power', 0), s.get('stepsize', 1)
    return {
        'fixed': lambda: base,
        'step': lambda: base * gamma ** (i // step),
        'exp': lambda: base * gamma ** i,
        'inv': lambda: base * (1 + gamma * i) ** -power,
        'multistep': lambda: base * gamma ** sum(i >= v for v in s['stepvalue']),
        'poly': lambda: base * (1 - i / s['max_iter']) ** power,
        'sigmoid': lambda: base / (1 + math.exp(-gamma * (i - step))),
    }[s['lr_policy']]()


HISTORIES = {'SGD': 1, 'Nesterov': 1, 'AdaGrad': 1, 'RMSProp': 1, 'AdaDelta': 2, 'Adam': 2}


def change(s, h, g, lr, t):
    """What one value loses at iteration t, from its gradient and its histories."""
    kind, m, delta = s.get('type', 'SGD'), s.get('momentum', 0), s.get('delta', 1e-8)
    if kind == 'SGD':
        h[0] = m * h[0] + lr * g
        return h[0]
    if kind == 'Nesterov':
        before, h[0] = h[0], m * h[0] + lr * g
        return (1 + m) * h[0] - m * before
    if kind == 'AdaGrad':
        h[0] += g * g
        return lr * g / (math.sqrt(h[0]) + delta)
    if kind == 'RMSProp':
        h[0] = s['rms_decay'] * h[0] + (1 - s['rms_decay']) * g * g
        return lr * g / (math.sqrt(h[0]) + delta)
    if kind == 'AdaDelta':
        h[0] = m * h[0] + (1 - m) * g * g
        step = g * math.sqrt((h[1] + delta) / (h[0] + delta))
        h[1] = m * h[1] + (1 - m) * step * step
        return lr * step
    m2 = s['momentum2']
    h[0], h[1] = m * h[0] + (1 - m) * g, m2 * h[1] + (1 - m2) * g * g
    return lr * math.sqrt(1 - m2 ** (t + 1)) / (1 - m ** (t + 1)) * h[0] / (math.sqrt(h[1]) + delta)


def update(s, weights, lr, t):
    norm = math.sqrt(sum(v.gradient ** 2 for w in weights if not w.fixed for v in w.data))
    clip = s.get('clip_gradients', -1)
    scale = clip / norm if 0 <= clip < norm else 1
    decay = s.get('weight_decay', 0)
    for w in weights:
        w.histories = w.histories or [[0.0] * HISTORIES[s.get('type', 'SGD')] for _ in w.data]
        if w.fixed:
            continue
        for v, h in zip(w.data, w.histories):
            pull = (v.value > 0) - (v.value < 0) if s.get('regularization_type') == 'L1' else v.value
            v.value -= change(s, h, v.gradient * scale + decay * pull, lr, t)


def solver_text(text):
    return 'net: "net.prototxt"\n%s\ndisplay: 1\nsnapshot_prefix: "out"\nrandom_seed: 7\n' % text


def train(name, text, weights, forward, solver=SGD, resume=None, with_state=False, form='packed'):
    """A case of training. forward returns the loss; it may change weights, as statistics do. resume is where the case goes on from."""
    s = settings(solver)
    wire.put(name + '/net.prototxt', text)
    wire.put(name + '/solver.prototxt', solver_text(solver))
    wire.put(name + '/init.caffemodel', model(weights, form))
    end, losses, rates, cmds = int(s['max_iter']), [], [], ['-weights', 'init.caffemodel']
    for i in range(end):
        if i == resume:
            wire.put(name + '/from.caffemodel', model(weights))
            wire.put(name + '/from.solverstate', solver_state(s, weights, i, 'from.caffemodel'))
            losses, rates, cmds = [], [], ['-snapshot', 'from.solverstate']
        for v in (v for w in weights for v in w.data):
            v.gradient = 0.0  # also of values that the loss does not come by
        loss = forward()
        differentiate(loss)
        losses.append((i, loss.value))
        rates.append((i, rate(s, i)))
        update(s, weights, rates[-1][1], i)
    more = {}
    wire.put(name + '/expected.caffemodel', model(weights))
    if with_state:
        more['solverstate'] = 'out_iter_%d.solverstate' % end
        wire.put(name + '/expected.solverstate', solver_state(s, weights, end, 'out_iter_%d.caffemodel' % end))
    losses.append((end, forward().value))
    expect(name, kind='train', cmds=[['train', '-solver', 'solver.prototxt'] + cmds], losses=losses, lr=rates,
           snapshot='out_iter_%d.caffemodel' % end, train_out={'loss': [v for _, v in losses[:-1]]}, **more)


def solver_state(s, weights, i, name):
    step = sum(i > v for v in s['stepvalue']) if 'stepvalue' in s else int((i - 1) // s['stepsize']) if s['lr_policy'] == 'step' else 0
    history = [(w.shape, [h[k] for h in w.histories]) for k in range(HISTORIES[s.get('type', 'SGD')]) for w in weights]
    return wire.state(i, step, name, history)


def inputs(bottoms, fixed, low, high):
    """Weights of Parameter layers x0, x1 and so on. fixed has the values of those that do not learn, None for others."""
    fixed = fixed or [None] * len(bottoms)
    return [Weight('x%d' % i, 'Parameter', shape, values or numbers(i + 1, count(shape), low, high), values is not None)
            for i, (shape, values) in enumerate(zip(bottoms, fixed))]


def layer_text(kind, params, ws, top):
    return ''.join(parameter(w.layer, w.shape, w.fixed) for w in ws) + 'layer { name: "l" type: "%s" %s top: "%s" %s }\n' % (
        kind, ' '.join('bottom: "%s"' % w.layer for w in ws), top, params)


def layer_case(name, kind, params, bottoms, shape, forward, weights=(), fixed=None, low=-1.0, high=1.0, statistics=0):
    """Trains one layer between inputs and a EuclideanLoss. shape is the top's; the first weights, as many as statistics
    says, begin with 0 and do not learn."""
    ws = inputs(bottoms, fixed, low, high)
    own = [Weight('l', kind, w, [0.0] * count(w) if i < statistics else numbers(100 + i, count(w)), i < statistics) for i, w in enumerate(weights)]
    target = Weight('t', 'Parameter', shape, numbers(50, count(shape)), True)
    text = layer_text(kind, params, ws, 'y') + parameter('t', shape, True)
    text += 'layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }\n'

    def loss():
        y = forward(*[w.data for w in ws], *[w.data for w in own])
        assert len(y) == count(shape), (name, len(y), shape)
        return formulas.euclidean(y, target.data, shape[0])
    train(name, text, ws + own + [target], loss)


def loss_case(name, kind, params, bottoms, forward, fixed=None, low=-1.0, high=1.0):
    """Trains the inputs of a layer that is a loss."""
    ws = inputs(bottoms, fixed, low, high)
    train(name, layer_text(kind, params, ws, 'loss'), ws, lambda: forward(*[w.data for w in ws]))


def test(name, text, outputs, weights=(), iterations=2, **more):
    """A case of the test command, whose batches print all outputs."""
    wire.put(name + '/net.prototxt', text)
    wire.put(name + '/init.caffemodel', model(weights) if weights else wire.net([('none', 'Silence', [])]))
    expect(name, kind='test', cmds=[['test', '-model', 'net.prototxt', '-weights', 'init.caffemodel', '-iterations', str(iterations)]],
           outputs=outputs, **more)


def error(name, words, text, solver=None, **files):
    wire.put(name + '/net.prototxt', text)
    wire.put(name + '/solver.prototxt', solver or solver_text(SGD))
    for file, data in files.items():
        wire.put(name + '/' + file.replace('__', '.'), data)
    weights = ['-weights', 'init.caffemodel'] if 'init__caffemodel' in files else []
    expect(name, kind='error', cmds=[['train', '-solver', 'solver.prototxt'] + weights], words=words)


if __name__ == '__main__':
    sys.modules['oracle'] = sys.modules['__main__']
    import cases  # noqa: F401 (puts all their files)
    wire.archive(sys.argv[1])
