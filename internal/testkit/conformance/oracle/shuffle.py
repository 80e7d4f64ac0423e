"""Two units of ShuffleNet (Zhang et al. 2018), of the formulas of their layers: one that halves images and concatenates, one that adds."""
import layers as f
from oracle import Weight, count, numbers, parameter, train

IMAGES, WIDTH, CLASSES = (2, 16, 4, 4), 16, 4


class Net:
    """Collects the text and the weights of a net. run has a function from the weights of each layer to its values."""

    def __init__(self):
        self.text, self.weights, self.run = '', [], []

    def layer(self, name, kind, bottoms, top, params, shapes, formula):
        self.text += 'layer { name: "%s" type: "%s" %s top: "%s" %s }\n' % (name, kind, ' '.join('bottom: "%s"' % b for b in bottoms), top, params)
        still = kind == 'BatchNorm'  # statistics, which begin with 0 and do not learn
        own = [Weight(name, kind, s, [0.0] * count(s) if still else numbers(200 + len(self.weights) + i, count(s)), still) for i, s in enumerate(shapes)]
        self.weights += own
        self.run.append((bottoms, top, formula, own))

    def conv(self, name, bottom, shape, out, relu=False, **kw):
        """A convolution without biases, normalised and scaled, with ReLU or without; returns the shape of its top."""
        n, c, h, w = shape
        kernel, group = kw['kernel'], kw.get('group', 1)
        kind = 'ConvolutionDepthwise' if group == c else 'Convolution'
        params = 'num_output: %d bias_term: false kernel_size: %d stride: %d pad: %d' % (out, kernel, kw.get('stride', 1), kw.get('pad', 0))
        params += '' if group == c else ' group: %d' % group
        self.layer(name, kind, [bottom], name, 'convolution_param { %s }' % params, [(out, c // group, kernel, kernel)],
                   lambda x, k: f.conv(x, k, None, shape, out, **kw))
        h, w = [(e - 1) // kw.get('stride', 1) + 1 for e in (h, w)]
        top, area = (n, out, h, w), h * w
        self.layer(name + '_bn', 'BatchNorm', [name], name, 'batch_norm_param { eps: 0.01 }', [(out,), (out,), (1,)],
                   lambda x, *s: f.batch_norm(x, top, 0.01, s))
        self.layer(name + '_scale', 'Scale', [name], name, 'scale_param { bias_term: true }', [(out,), (out,)],
                   lambda x, g, b: [v * g[i // area % out] + b[i // area % out] for i, v in enumerate(x)])
        if relu:
            self.relu(name)
        return top

    def relu(self, name):
        self.layer(name + '_relu', 'ReLU', [name], name, '', [], lambda x: [v if v > 0 else v * 0 for v in x])

    def unit(self, name, bottom, shape, stride):
        """A unit: 1x1 in two groups, shuffle, 3x3 of every channel, 1x1 in two groups, beside the input or its strided means."""
        n, c, h, w = shape
        middle = self.conv(name + '_reduce', bottom, shape, WIDTH, relu=True, kernel=1, group=2)
        half, area = WIDTH // 2, h * w
        self.layer(name + '_shuffle', 'ShuffleChannel', [name + '_reduce'], name + '_shuffle', 'shuffle_channel_param { group: 2 }', [],
                   lambda x: [x[(i * WIDTH + o % 2 * half + o // 2) * area + p] for i in range(n) for o in range(WIDTH) for p in range(area)])
        middle = self.conv(name + '_dwise', name + '_shuffle', middle, WIDTH, kernel=3, stride=stride, pad=1, group=WIDTH)
        self.conv(name + '_expand', name + '_dwise', middle, c, kernel=1, group=2)
        if stride == 1:
            self.layer(name, 'Eltwise', [bottom, name + '_expand'], name, '', [], lambda a, b: [v + u for v, u in zip(a, b)])
            self.relu(name)
            return shape
        self.layer(name + '_pool', 'Pooling', [bottom], name + '_pool', 'pooling_param { pool: AVE kernel_size: 3 stride: 2 }', [],
                   lambda x: f.ave_pool(x, shape, 3, 2, 0))
        size = c * middle[2] * middle[3]
        self.layer(name, 'Concat', [name + '_pool', name + '_expand'], name, '', [],
                   lambda a, b: [v for i in range(n) for part in (a, b) for v in part[i * size:(i + 1) * size]])
        self.relu(name)
        return n, 2 * c, middle[2], middle[3]

    def train(self, name, inputs, solver):
        """The case. inputs are the Parameter layers, whose text comes first."""
        def loss():
            blobs = {w.layer: w.data for w in inputs}
            for bottoms, top, formula, own in self.run:
                blobs[top] = formula(*[blobs[b] for b in bottoms], *[w.data for w in own])
            return blobs['loss']
        train(name, ''.join(parameter(w.layer, w.shape, w.fixed) for w in inputs) + self.text, inputs + self.weights, loss, solver)


def case(name):
    net = Net()
    shape = net.unit('half', 'x', IMAGES, 2)
    n, c, h, w = net.unit('same', 'half', shape, 1)
    net.layer('pool', 'Pooling', ['same'], 'pool', 'pooling_param { pool: AVE global_pooling: true }', [], lambda x: f.ave_pool(x, (n, c, h, w), h, 1, 0))
    net.layer('fc', 'InnerProduct', ['pool'], 'fc', 'inner_product_param { num_output: %d }' % CLASSES, [(CLASSES, c), (CLASSES,)], lambda x, k, b: f.product(x, k, b, n))
    net.layer('loss', 'SoftmaxWithLoss', ['fc', 'label'], 'loss', '', [], lambda x, t: f.softmax_loss(x, t, CLASSES))
    inputs = [Weight('x', 'Parameter', IMAGES, numbers(7, count(IMAGES))), Weight('label', 'Parameter', (n,), [2.0, 3.0], True)]
    net.train(name, inputs, 'base_lr: 0.05 momentum: 0.9 weight_decay: 0.01 lr_policy: "fixed" max_iter: 2')
