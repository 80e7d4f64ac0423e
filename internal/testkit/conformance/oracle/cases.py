"""All cases. oracle.py says what they are."""
import math

import boxes
import layers as f
import shuffle
import wire
from oracle import SGD, Weight, count, error, expect, layer_case, loss_case, model, numbers, parameter, solver_text, test, train
from scalar import Scalar, exp, log, sigmoid, tanh, total

IMAGE = (2, 3, 5, 6)


def flat(lists):
    return [float(v) for values in lists for v in values]


# Layers of images.
def conv(name, params, out, size, shape=IMAGE, bias=True, **kw):
    kernel, group = kw['kernel'], kw.get('group', 1)
    weights = [(out, shape[1] // group, kernel, kernel)] + ([(out,)] if bias else [])
    layer_case('vision_conv_' + name, 'Convolution', 'convolution_param { num_output: %d %s }' % (out, params), [shape], (shape[0], out) + size,
               lambda x, w, b=None: f.conv(x, w, b, shape, out, **kw), weights)


conv('same', 'kernel_size: 3 pad: 1', 4, (5, 6), kernel=3, pad=1)
conv('pointwise', 'kernel_size: 1', 5, (5, 6), kernel=1)
conv('strided', 'kernel_size: 3 stride: 2 bias_term: false', 3, (2, 2), bias=False, kernel=3, stride=2)
conv('dilated', 'kernel_size: 3 pad: 2 dilation: 2', 2, (5, 6), kernel=3, pad=2, dilation=2)
conv('grouped', 'kernel_size: 3 pad: 1 group: 2', 6, (5, 5), (2, 4, 5, 5), kernel=3, pad=1, group=2)
conv('depthwise', 'kernel_size: 3 pad: 1 group: 3', 3, (5, 6), kernel=3, pad=1, group=3)
layer_case('vision_deconv', 'Deconvolution', 'convolution_param { num_output: 2 kernel_size: 4 stride: 2 pad: 1 }', [(2, 3, 3, 4)], (2, 2, 6, 8),
           lambda x, w, b: f.deconv(x, w, b, (2, 3, 3, 4), 2, 4, 2, 1), [(3, 2, 4, 4), (2,)])
for kind, pool in ('MAX', f.max_pool), ('AVE', f.ave_pool):
    for kernel, stride, pad, size in (3, 2, 0, (2, 3)), (3, 2, 1, (3, 4)), (2, 2, 0, (3, 3)):
        layer_case('vision_pool_%s_k%ds%dp%d' % (kind.lower(), kernel, stride, pad), 'Pooling',
                   'pooling_param { pool: %s kernel_size: %d stride: %d pad: %d }' % (kind, kernel, stride, pad), [IMAGE], (2, 3) + size,
                   lambda x, pool=pool, k=kernel, s=stride, p=pad: pool(x, IMAGE, k, s, p))
layer_case('vision_lrn_across', 'LRN', 'lrn_param { local_size: 3 alpha: 0.7 beta: 0.75 k: 1.5 }', [(2, 5, 2, 3)], (2, 5, 2, 3),
           lambda x: f.lrn_across(x, (2, 5, 2, 3), 3, 0.7, 0.75, 1.5))
layer_case('vision_lrn_within', 'LRN', 'lrn_param { local_size: 3 alpha: 0.7 beta: 0.75 norm_region: WITHIN_CHANNEL }', [IMAGE], IMAGE,
           lambda x: f.lrn_within(x, IMAGE, 3, 0.7, 0.75))

# Layers that work value by value.
FLAT = (3, 7)
for name, kind, params, formula, low in (
        ('relu', 'ReLU', '', lambda v: v if v > 0 else v * 0, -1),
        ('relu_slope', 'ReLU', 'relu_param { negative_slope: 0.3 }', lambda v: v if v > 0 else v * 0.3, -1),
        ('sigmoid', 'Sigmoid', '', sigmoid, -1),
        ('tanh', 'TanH', '', tanh, -1),
        ('elu', 'ELU', 'elu_param { alpha: 0.6 }', lambda v: v if v > 0 else 0.6 * (exp(v) - 1), -1),
        ('bnll', 'BNLL', '', lambda v: log(1 + exp(v)), -1),
        ('absval', 'AbsVal', '', lambda v: v if v > 0 else -v, -1),
        ('power', 'Power', 'power_param { power: 2.5 scale: 0.5 shift: 2 }', lambda v: (v * 0.5 + 2) ** 2.5, -1),
        ('exp', 'Exp', 'exp_param { base: 2 scale: 0.5 shift: 1 }', lambda v: exp(math.log(2) * (v * 0.5 + 1)), -1),
        ('log', 'Log', 'log_param { base: 10 scale: 2 shift: 1 }', lambda v: log(v * 2 + 1) / math.log(10), 0.25),
        ('relu6', 'ReLU6', '', lambda v: v * 0 if v < 0 else v, -1),
        ('hard_sigmoid', 'HardSigmoid', 'hardsigmoid_param { alpha: 0.8 beta: 0.6 }', lambda v: v * 0 if v < -0.75 else v * 0 + 1 if v > 0.5 else v * 0.8 + 0.6, -1),
        ('hard_swish', 'HardSwish', '', lambda v: v * (v + 3) / 6, -1),
        ('mish', 'Mish', '', lambda v: v * tanh(log(1 + exp(v))), -1),
        ('swish', 'Swish', 'swish_param { beta: 1.5 }', lambda v: v * sigmoid(v * 1.5), -1),
        ('clip', 'Clip', 'clip_param { min: -0.4 max: 0.6 }', lambda v: v * 0 - 0.4 if v < -0.4 else v * 0 + 0.6 if v > 0.6 else v, -1)):
    layer_case('neuron_' + name, kind, params, [FLAT], FLAT, lambda x, formula=formula: [formula(v) for v in x], low=low)
layer_case('neuron_prelu', 'PReLU', '', [IMAGE], IMAGE, lambda x, a: [v if v > 0 else v * a[i // 30 % 3] for i, v in enumerate(x)], [(3,)])

# Layers that join, weigh and normalise.
layer_case('common_product', 'InnerProduct', 'inner_product_param { num_output: 4 }', [(3, 2, 4)], (3, 4), lambda x, w, b: f.product(x, w, b, 3), [(4, 8), (4,)])
layer_case('common_product_transposed', 'InnerProduct', 'inner_product_param { num_output: 4 transpose: true bias_term: false }', [(3, 8)], (3, 4),
           lambda x, w: f.product(x, w, None, 3, True), [(8, 4)])
layer_case('common_batch_norm', 'BatchNorm', 'batch_norm_param { eps: 0.001 }', [IMAGE], IMAGE,
           lambda x, *statistics: f.batch_norm(x, IMAGE, 0.001, statistics), [(3,), (3,), (1,)], statistics=3)
layer_case('common_batch_norm_scaled', 'BatchNorm', 'batch_norm_param { scale_bias: true eps: 0.001 moving_average_fraction: 0.75 }', [IMAGE], IMAGE,
           lambda x, *w: f.scaled_batch_norm(x, IMAGE, 0.001, 0.75, *w), [(3,), (3,), (1,), (3,), (3,)], statistics=3)
layer_case('common_product_normalized', 'InnerProduct', 'inner_product_param { num_output: 4 normalize: true }', [(3, 2, 4)], (3, 4),
           lambda x, w, b: f.unit_product(x, w, b, 3), [(4, 8), (4,)])
layer_case('common_scale', 'Scale', 'scale_param { bias_term: true }', [IMAGE], IMAGE,
           lambda x, g, b: [v * g[i // 30 % 3] + b[i // 30 % 3] for i, v in enumerate(x)], [(3,), (3,)])
layer_case('common_bias', 'Bias', '', [IMAGE, (3,)], IMAGE, lambda x, b: [v + b[i // 30 % 3] for i, v in enumerate(x)])
layer_case('common_mvn', 'MVN', '', [IMAGE], IMAGE, lambda x: f.mvn(x, IMAGE, 1e-9))
for name, params, formula in (
        ('sum', 'coeff: 2 coeff: -0.5 coeff: 1', lambda a, b, c: 2 * a - 0.5 * b + c),
        ('prod', 'operation: PROD', lambda a, b, c: a * b * c),
        ('max', 'operation: MAX', lambda *v: f.largest(v))):
    layer_case('common_eltwise_' + name, 'Eltwise', 'eltwise_param { %s }' % params, [FLAT] * 3, FLAT,
               lambda *x, formula=formula: [formula(*v) for v in zip(*x)])
layer_case('common_concat', 'Concat', '', [(2, 3, 4), (2, 2, 4)], (2, 5, 4), lambda a, b: a[:12] + b[:8] + a[12:] + b[8:])
layer_case('common_tile', 'Tile', 'tile_param { axis: 1 tiles: 3 }', [(2, 4)], (2, 12), lambda x: x[:4] * 3 + x[4:] * 3)
layer_case('common_crop', 'Crop', 'crop_param { axis: 2 offset: 1 offset: 2 }', [(1, 2, 4, 5), (1, 1, 2, 3)], (1, 2, 2, 3),
           lambda x, _: [x[c * 20 + y * 5 + z] for c in range(2) for y in (1, 2) for z in (2, 3, 4)], fixed=[None, [1.0] * 6])
layer_case('common_softmax', 'Softmax', '', [(4, 5)], (4, 5), lambda x: f.softmax(x, 5))
layer_case('common_embed', 'Embed', 'embed_param { input_dim: 4 num_output: 3 }', [(5,)], (5, 3),
           lambda x, w, b: [w[int(i.value) * 3 + k] + b[k] for i in x for k in range(3)], [(4, 3), (3,)], fixed=[[2.0, 0.0, 3.0, 2.0, 2.0]])
for name, params, formula in (
        ('sum', '', lambda v: total(v)), ('asum', 'operation: ASUM', lambda v: total(a if a > 0 else -a for a in v)),
        ('sumsq', 'operation: SUMSQ', lambda v: total(a * a for a in v)), ('mean', 'operation: MEAN', lambda v: total(v) / len(v))):
    layer_case('common_reduction_' + name, 'Reduction', 'reduction_param { axis: 1 coeff: 0.5 %s }' % params, [(4, 5)], (4,),
               lambda x, formula=formula: [0.5 * formula(x[i:i + 5]) for i in range(0, 20, 5)])
layer_case('common_permute', 'Permute', 'permute_param { order: 0 order: 2 order: 3 order: 1 }', [IMAGE], (2, 5, 6, 3),
           lambda x: [x[(n * 3 + c) * 30 + p] for n in range(2) for p in range(30) for c in range(3)])
layer_case('common_transpose', 'Transpose', 'transpose_param { dim: 3 dim: 2 dim: 0 dim: 1 }', [IMAGE], (6, 5, 2, 3),
           lambda x: [x[(n * 3 + c) * 30 + h * 6 + w] for w in range(6) for h in range(5) for n in range(2) for c in range(3)])
layer_case('common_reverse', 'Reverse', 'reverse_param { axis: 1 }', [IMAGE], IMAGE,
           lambda x: [x[(n * 3 + 2 - c) * 30 + p] for n in range(2) for c in range(3) for p in range(30)])
layer_case('common_shuffle', 'ShuffleChannel', 'shuffle_channel_param { group: 3 }', [(2, 6, 2)], (2, 6, 2),
           lambda x: [x[(n * 6 + c % 3 * 2 + c // 3) * 2 + i] for n in range(2) for c in range(6) for i in range(2)])
layer_case('common_axpy', 'Axpy', '', [(2, 3, 1, 1), (2, 3, 2, 2), (2, 3, 2, 2)], (2, 3, 2, 2),
           lambda a, x, y: [a[i // 4] * x[i] + y[i] for i in range(24)])
CONT = [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
layer_case('recurrent_lstm', 'LSTM', 'recurrent_param { num_output: 3 }', [(3, 2, 4), (3, 2)], (3, 2, 3),
           lambda x, c, wx, b, wh: f.lstm(x, c, wx, b, wh, 3, 2), [(12, 4), (12,), (12, 3)], fixed=[None, CONT])
layer_case('recurrent_rnn', 'RNN', 'recurrent_param { num_output: 3 }', [(3, 2, 4), (3, 2)], (3, 2, 3),
           lambda x, c, *w: f.rnn(x, c, *w, 3, 2), [(3, 4), (3,), (3, 3), (3, 3), (3,)], fixed=[None, CONT])

# Losses.
LABELS = [1.0, 4.0, 0.0, 2.0]
loss_case('loss_softmax', 'SoftmaxWithLoss', '', [(4, 5), (4,)], lambda x, t: f.softmax_loss(x, t, 5), [None, LABELS], -2, 2)
loss_case('loss_softmax_ignore', 'SoftmaxWithLoss', 'loss_param { ignore_label: 4 }', [(4, 5), (4,)],
          lambda x, t: f.softmax_loss(x, t, 5, 4), [None, LABELS], -2, 2)
for norm in 1, 2:
    loss_case('loss_hinge_l%d' % norm, 'HingeLoss', 'hinge_loss_param { norm: L%d }' % norm, [(4, 5), (4,)],
              lambda x, t, norm=norm: f.hinge(x, t, 5, norm), [None, LABELS], -2, 2)
loss_case('loss_sigmoid_cross_entropy', 'SigmoidCrossEntropyLoss', '', [(3, 4), (3, 4)],
          lambda x, t: f.sigmoid_cross_entropy(x, t, 3), [None, [float(i % 3 == 0) for i in range(12)]], -2, 2)
loss_case('loss_contrastive', 'ContrastiveLoss', 'contrastive_loss_param { margin: 1.7 }', [(4, 3), (4, 3), (4,)],
          lambda a, b, t: f.contrastive(a, b, t, 1.7), [None, None, [1.0, 0.0, 0.0, 1.0]])
loss_case('loss_multinomial', 'MultinomialLogisticLoss', '', [(4, 5), (4,)],
          lambda p, t: total(-log(p[r * 5 + int(k.value)]) for r, k in enumerate(t)) / 4, [None, LABELS], 0.2, 1)
loss_case('loss_focal', 'FocalLoss', 'focal_loss_param { alpha: 0.75 gamma: 1.5 }', [(4, 5), (4,)],
          lambda x, t: f.focal_loss(x, t, 5, 0.75, 1.5), [None, LABELS], -2, 2)
loss_case('loss_smooth_l1', 'SmoothL1Loss', '', [FLAT, FLAT], lambda a, b: f.smooth_l1(a, b, 3), None, -1.5, 1.5)
for name, kind, params, fixed, blank, labels in (
        ('ctc_rows', 'CtcLoss', 'ctc_loss_param { alphabet_size: 3 time_step: 5 }', [[1.0, 2.0, 2.0]], 0, [1, 2, 2]),
        ('ctc_marks', 'CTCLoss', '', [[0.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, -1.0, -1.0]], 2, [0, 1, 0])):
    shapes = [(1, 3)] if len(fixed) == 1 else [(5, 1), (5, 1)]
    loss_case('loss_' + name, kind, params, [(5, 1, 3)] + shapes, lambda x, *_, blank=blank, labels=labels: f.ctc(x, 5, 3, blank, labels),
              [None] + fixed, -2, 2)
loss_case('loss_euclidean', 'EuclideanLoss', '', [FLAT, FLAT], lambda a, b: f.euclidean(a, b, 3))


# Solvers: a perceptron with one hidden layer, on inputs that stay.
def perceptron(name, solver, **kw):
    x = Weight('x', 'Parameter', (4, 3), numbers(1, 12), True)
    labels = Weight('label', 'Parameter', (4,), [0.0, 2.0, 1.0, 2.0], True)
    ws = [x, Weight('a', 'InnerProduct', (5, 3), numbers(2, 15)), Weight('a', 'InnerProduct', (5,), numbers(3, 5)),
          Weight('b', 'InnerProduct', (3, 5), numbers(4, 15)), Weight('b', 'InnerProduct', (3,), numbers(5, 3)), labels]
    text = parameter('x', (4, 3), True) + '''layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 5 } }
layer { name: "tanh" type: "TanH" bottom: "a" top: "a" }
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: 3 } }
''' + parameter('label', (4,), True) + 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "b" bottom: "label" top: "loss" }\n'

    def loss():
        hidden = [tanh(v) for v in f.product(x.data, ws[1].data, ws[2].data, 4)]
        return f.softmax_loss(f.product(hidden, ws[3].data, ws[4].data, 4), labels.data, 3)
    train(name, text, ws, loss, solver, **kw)


FIXED = 'lr_policy: "fixed" max_iter: 6 base_lr: '
TYPES = {
    'sgd': FIXED + '0.1 momentum: 0.9 weight_decay: 0.01',
    'nesterov': 'type: "Nesterov" ' + FIXED + '0.1 momentum: 0.9 weight_decay: 0.01',
    'adagrad': 'type: "AdaGrad" ' + FIXED + '0.05 delta: 0.001',
    'rmsprop': 'type: "RMSProp" ' + FIXED + '0.02 rms_decay: 0.95 delta: 0.001',
    'adadelta': 'type: "AdaDelta" ' + FIXED + '1 momentum: 0.9 delta: 0.001',
    'adam': 'type: "Adam" ' + FIXED + '0.02 momentum: 0.9 momentum2: 0.999 delta: 0.001',
}
for kind, solver in TYPES.items():
    perceptron('solver_' + kind, solver, with_state=True)
    perceptron('solver_resume_' + kind, solver, with_state=True, resume=3)
for name, policy in {
        'step': '"step" gamma: 0.5 stepsize: 2', 'exp': '"exp" gamma: 0.8', 'inv': '"inv" gamma: 0.1 power: 0.75',
        'multistep': '"multistep" gamma: 0.5 stepvalue: 2 stepvalue: 5', 'poly': '"poly" power: 2', 'sigmoid': '"sigmoid" gamma: -0.5 stepsize: 3'}.items():
    perceptron('solver_lr_' + name, 'base_lr: 0.2 max_iter: 7 momentum: 0.5 lr_policy: ' + policy)
perceptron('solver_clip', FIXED + '1 clip_gradients: 0.25')
perceptron('solver_l1', FIXED + '0.1 weight_decay: 0.05 regularization_type: "L1"')
perceptron('solver_accumulate', FIXED + '0.1 momentum: 0.9 iter_size: 3')

# A net whose branches, normalisations in place and sums are planned together.
shuffle.case('solver_shuffle')

# Weights in all forms that files have them.
for form in 'unpacked', 'double', 'legacy':
    perceptron('net_weights_' + form, TYPES['sgd'], form=form)
product = [Weight('ip', 'InnerProduct', (2, 3), numbers(1, 6)), Weight('ip', 'InnerProduct', (2,), numbers(2, 2))]
PRODUCT = '''layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 3 } data_filler { value: 2 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }
'''
once = [v.value for v in f.product([Scalar(2.0)] * 3, product[0].data, product[1].data, 1)]
test('net_weights_v1', PRODUCT, {'y': once * 2}, product)
wire.put('net_weights_v1/init.caffemodel', model(product, 'v1'))

# Tests.
SCORES = [0.3, 0.9, 0.1,  0.8, 0.2, 0.7,  0.4, 0.6, 0.5,  0.2, 0.3, 0.1]  # largest: 1, 0, 1, 1
scores = [Weight('x', 'Parameter', (4, 3), SCORES), Weight('t', 'Parameter', (4,), [1.0, 2.0, 1.0, 0.0])]
for k, right in (1, 2), (2, 4):
    test('loss_accuracy_top%d' % k, parameter('x', (4, 3)) + parameter('t', (4,)) +
         'layer { name: "l" type: "Accuracy" bottom: "x" bottom: "t" top: "y" accuracy_param { top_k: %d } }\n' % k, {'y': [right / 4] * 2}, scores)
test('common_argmax', parameter('x', (4, 3)) + 'layer { name: "l" type: "ArgMax" bottom: "x" top: "y" }\n', {'y': [1.0, 0.0, 1.0, 1.0] * 2}, scores[:1])


# Detection nets.
PIXELS = (2, 3, 6, 7)
ROIS = [[0.0, 0.0, 0.0, 13.0, 11.0], [1.0, 2.0, 3.0, 9.0, 6.0], [1.0, 5.0, 1.0, 5.0, 10.0], [0.0, 9.0, 4.0, 30.0, 21.0]]
REGIONS = [None, flat(ROIS)]
for name, params, factors, eps, across in (
        ('items', 'norm_param { channel_shared: false }', [(3,)], 1e-10, True), ('pixels', 'norm_param { across_spatial: false channel_shared: false eps: 0.5 }', [(3,)], 0.5, False),
        ('faces', '', [], 0, True)):
    layer_case('detect_normalize_' + name, 'Normalize', params, [IMAGE], IMAGE,
               lambda x, g=(1,), eps=eps, across=across: boxes.normalize(x, IMAGE, g, eps, across), factors)
layer_case('detect_roi_pooling', 'ROIPooling', 'roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }', [PIXELS, (4, 5)], (4, 3, 2, 3),
           lambda x, _: boxes.roi_pool(x, PIXELS, ROIS, (2, 3), 0.5), fixed=REGIONS)
layer_case('detect_psroi_pooling', 'PSROIPooling', 'psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.5 }', [(2, 8, 6, 7), (4, 5)], (4, 2, 2, 2),
           lambda x, _: boxes.psroi_pool(x, (2, 8, 6, 7), ROIS, 2, 2, 0.5), fixed=REGIONS)
layer_case('vision_interp', 'Interp', 'interp_param { height: 8 width: 5 }', [IMAGE], (2, 3, 8, 5), lambda x: boxes.interpolate(x, IMAGE, 8, 5))
VARIANCES = (0.1, 0.1, 0.2, 0.2)
PRIORS = boxes.priors((2, 3), (40, 60), 12, 27, (2, 3), VARIANCES, False)
for name, clip in ('prior_box', False), ('prior_box_clipped', True):
    test('detect_' + name, parameter('x', (1, 1, 2, 3)) + parameter('i', (1, 1, 40, 60)) + '''layer { name: "l" type: "PriorBox" bottom: "x" bottom: "i" top: "y" prior_box_param {
  min_size: 12 max_size: 27 aspect_ratio: 2 aspect_ratio: 3 clip: %s variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 } }
''' % str(clip).lower(), {'y': boxes.priors((2, 3), (40, 60), 12, 27, (2, 3), VARIANCES, clip)}, iterations=1)
P = len(PRIORS) // 8
OBJECTS = flat([[0, 2, 0, 0.1, 0.1, 0.35, 0.5, 0], [0, 1, 1, 0.5, 0.4, 0.98, 0.9, 0], [1, 1, 0, 0.42, 0.15, 0.6, 0.38, 0]])
for ratio in 3, 0.5:
    loss_case('detect_multibox_%g' % ratio, 'MultiBoxLoss', '''propagate_down: true propagate_down: true propagate_down: false propagate_down: false
  multibox_loss_param { num_classes: 3 code_type: CENTER_SIZE neg_pos_ratio: %g }''' % ratio, [(2, 4 * P), (2, 3 * P), (1, 2, 4 * P), (1, 1, 3, 8)],
              lambda c, s, p, o, ratio=ratio: boxes.multibox(c, s, p, o, 3, 2, ratio), [None, None, [numbers(0, 1, v, v)[0] for v in PRIORS], OBJECTS])
heads = [Weight('c', 'Parameter', (2, 4 * P), numbers(60, 8 * P)), Weight('s', 'Parameter', (2, 3 * P), numbers(61, 6 * P, 0, 1)), Weight('p', 'Parameter', (1, 2, 4 * P), PRIORS)]
test('detect_output', ''.join(parameter(w.layer, w.shape) for w in heads) + '''layer { name: "l" type: "DetectionOutput" bottom: "c" bottom: "s" bottom: "p" top: "y"
  detection_output_param { num_classes: 3 code_type: CENTER_SIZE confidence_threshold: 0.3 keep_top_k: 15 nms_param { nms_threshold: 0.35 top_k: 20 } } }
''', {'y': boxes.detections(*[w.values() for w in heads], 3, 2, 0.3, 0.35, 20, 15)}, heads, 1)
ANCHORS = boxes.anchors(16, (0.5, 1, 2), (1, 2))
A = len(ANCHORS)
maps = [Weight('s', 'Parameter', (2, 2 * A, 3, 4), numbers(62, 48 * A, 0, 1)), Weight('d', 'Parameter', (2, 4 * A, 3, 4), numbers(63, 96 * A, -0.4, 0.4)),
        Weight('i', 'Parameter', (2, 3), [48.0, 60.0, 1.0, 40.0, 64.0, 1.5])]
regions, chances = boxes.proposals(*[w.values() for w in maps], (2, 3, 4), ANCHORS, 16, 12, 40, 12, 0.5)
test('detect_proposal', ''.join(parameter(w.layer, w.shape) for w in maps) + '''layer { name: "l" type: "Proposal" bottom: "s" bottom: "d" bottom: "i" top: "r" top: "p"
  proposal_param { feat_stride: 16 base_size: 16 min_size: 12 ratio: 0.5 ratio: 1 ratio: 2 scale: 1 scale: 2 pre_nms_topn: 40 post_nms_topn: 12 nms_thresh: 0.5 } }
''', {'r': regions, 'p': chances}, maps, 1)


# Data. Pixels are drawn for every record; files have the channels of a pixel together, batches by planes.
def pixels(seed, shape):
    return [int(v) for v in numbers(seed, count(shape), 0, 255.99)]


def source(backend, batch, transform='', more=''):
    return 'layer { name: "data" type: "Data" top: "data" top: "label" %s data_param { source: "db" batch_size: %d backend: %s } %s }\n' % (
        transform and 'transform_param { %s }' % transform, batch, backend, more)


COLOR = (3, 4, 5)
images = [pixels(i, COLOR) for i in range(4)]
records = [(b'%08d' % i, wire.datum(COLOR, v, i + 3)) for i, v in enumerate(images)]
for backend, writer in ('LMDB', wire.lmdb), ('LEVELDB', wire.leveldb):
    name = 'data_' + backend.lower()
    test(name, source(backend, 3), {'data': flat((images * 2)[:6]), 'label': [3.0, 4.0, 5.0, 6.0, 3.0, 4.0]})
    writer(name + '/db', records)
    name += '_transformed'
    test(name, source(backend, 2, 'scale: 0.5 mean_value: 10 mean_value: 20 mean_value: 30 crop_size: 3'), {
        'data': [0.5 * (v[c * 20 + y * 5 + x] - (10, 20, 30)[c]) for v in images for c in range(3) for y in range(3) for x in range(1, 4)],
        'label': [3.0, 4.0, 5.0, 6.0]})
    writer(name + '/db', records)
mean = numbers(9, 60, 0, 255)
test('data_lmdb_mean_file', source('LMDB', 4, 'mean_file: "mean.binaryproto"'), {
    'data': [a - b for v in images for a, b in zip(v, mean)], 'label': [3.0, 4.0, 5.0, 6.0]}, iterations=1)
wire.lmdb('data_lmdb_mean_file/db', records)
wire.put('data_lmdb_mean_file/mean.binaryproto', wire.blob((1,) + COLOR, mean, 'legacy'))
real = [numbers(20 + i, 12) for i in range(3)]
test('data_lmdb_floats', source('LMDB', 3), {'data': flat(real), 'label': [7.0, 8.0, 9.0]}, iterations=1)
wire.lmdb('data_lmdb_floats/db', [(b'%d' % i, wire.datum((2, 2, 3), v, 7 + i, as_floats=True)) for i, v in enumerate(real)])
large = [pixels(30 + i, (3, 40, 40)) for i in range(2)]
test('data_lmdb_long_values', source('LMDB', 2, 'crop_size: 2'), {
    'data': [v[c * 1600 + y * 40 + x] for v in large for c in range(3) for y in (19, 20) for x in (19, 20)], 'label': [0.0, 1.0]}, iterations=1)
wire.lmdb('data_lmdb_long_values/db', [(b'%d' % i, wire.datum((3, 40, 40), v, i)) for i, v in enumerate(large)])


def planes(rgb, height, width, pick=(2, 1, 0)):
    """What Caffe makes of a file's pixels: planes of blue, green and red."""
    return [rgb[(y * width + x) * 3 + c] for c in pick for y in range(height) for x in range(width)]


files = [pixels(40 + i, (4, 5, 3)) for i in range(3)]
test('data_lmdb_encoded', source('LMDB', 3), {'data': flat(planes(v, 4, 5) for v in files), 'label': [0.0, 1.0, 2.0]}, iterations=1)
wire.lmdb('data_lmdb_encoded/db', [(b'%d' % i, wire.datum(None, label=i, encoded=wire.png(4, 5, 3, v))) for i, v in enumerate(files)])
grey = [round(0.299 * v[i] + 0.587 * v[i + 1] + 0.114 * v[i + 2]) for v in files for i in range(0, 60, 3)]


def image_case(name, params, images, data, batch, transform='', atol=1e-6):
    test(name, 'layer { name: "data" type: "ImageData" top: "data" top: "label" %s image_data_param { source: "list.txt" batch_size: %d %s } }\n' % (
        transform and 'transform_param { %s }' % transform, batch, params), {'data': data, 'label': flat([range(5, 5 + len(images))])},
        iterations=len(images) // batch, atol=atol)
    for i, (height, width, v) in enumerate(images):
        wire.put('%s/%d.png' % (name, i), wire.png(height, width, len(v) // (height * width), v))
    wire.put(name + '/list.txt', ''.join('%d.png %d\n' % (i, 5 + i) for i in range(len(images))))


same = [(4, 5, v) for v in files]
image_case('data_image', '', same, flat(planes(v, 4, 5) for v in files), 3)
image_case('data_image_grey', 'is_color: false', same, flat([grey]), 3, atol=1.01)
image_case('data_image_from_grey', '', [(2, 3, pixels(3, (6,)))], flat([pixels(3, (6,)) * 3]), 1)
image_case('data_image_crop', '', same, flat([v[(y * 5 + x) * 3 + c] for c in (2, 1, 0) for y in (1, 2) for x in (1, 2)] for v in files), 3, 'crop_size: 2')
image_case('data_image_sizes', '', [(2, 2, pixels(1, (12,))), (3, 1, pixels(2, (9,)))],
           flat([planes(pixels(1, (12,)), 2, 2), planes(pixels(2, (9,)), 3, 1)]), 1)


def halfway(v, height, width, c, y, x):
    """Bilinear at twice the size: centres of pixels lie at (i + 0.5) / 2 - 0.5, edges are repeated."""
    def split(i, n):
        at = min(max((i + 0.5) / 2 - 0.5, 0), n - 1)
        return int(at), min(int(at) + 1, n - 1), at - int(at)
    y0, y1, fy = split(y, height)
    x0, x1, fx = split(x, width)
    at = lambda r, s: v[(r * width + s) * 3 + c]  # noqa: E731
    return (at(y0, x0) * (1 - fx) + at(y0, x1) * fx) * (1 - fy) + (at(y1, x0) * (1 - fx) + at(y1, x1) * fx) * fy


image_case('data_image_resized', 'new_height: 8 new_width: 10', same, [halfway(v, 4, 5, c, y, x) for v in files for c in (2, 1, 0) for y in range(8) for x in range(10)],
           3, atol=1.01)  # to whole levels


# Images and images of their pixels' labels, which are resized to the nearest pixel.
classes = [[20 * (v % 12) for v in pixels(70 + i, (20,))] for i in range(3)]
for name, params, data, label, atol in (
        ('data_dense', '', flat(planes(v, 4, 5) for v in files), flat(classes), 1e-6),
        ('data_dense_resized', 'new_height: 8 new_width: 10', [halfway(v, 4, 5, c, y, x) for v in files for c in (2, 1, 0) for y in range(8) for x in range(10)],
         [float(v[y // 2 * 5 + x // 2]) for v in classes for y in range(8) for x in range(10)], 1.01)):
    test(name, 'layer { name: "data" type: "DenseImageData" top: "data" top: "label" dense_image_data_param { source: "list.txt" batch_size: 3 %s } }\n' % params,
         {'data': data, 'label': label}, iterations=1, atol=atol)
    for i, v in enumerate(files):
        wire.put('%s/%d.png' % (name, i), wire.png(4, 5, 3, v))
        wire.put('%s/labels%d.png' % (name, i), wire.png(4, 5, 1, classes[i]))
    wire.put(name + '/list.txt', ''.join('%d.png labels%d.png\n' % (i, i) for i in range(3)))


# Fillers: values, or bounds that the statistics of 20,000 draws keep.
def filler(name, net, checks, repeat=False):
    wire.put(name + '/net.prototxt', net)
    wire.put(name + '/solver.prototxt', solver_text('base_lr: 0.1 lr_policy: "fixed" max_iter: 0'))
    expect(name, kind='filler', snapshot='out_iter_0.caffemodel', cmds=[['train', '-solver', 'solver.prototxt']], checks=checks, repeat_equal=repeat)


def drawn(name, text, spread, low, high):
    """low and high bound the least and the greatest value."""
    slack = 4 * spread / math.sqrt(20000)
    filler('filler_' + name, '''layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 200 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 100 weight_filler { %s } } }
''' % text, [{'layer': 'ip', 'blob': 0, 'shape': [100, 200], 'stats': {
        'mean': [-slack, slack], 'std': [0.96 * spread, 1.04 * spread], 'min': low, 'max': high}},
        {'layer': 'ip', 'blob': 1, 'shape': [100], 'values': [0.0] * 100}], True)


for name, text, half in ('xavier', 'type: "xavier"', math.sqrt(3 / 200)), ('uniform', 'type: "uniform" min: -0.5 max: 0.5', 0.5):
    drawn(name, text, half / math.sqrt(3), [-half * 1.000001, -0.99 * half], [0.99 * half, half * 1.000001])
for name, text, std in ('msra', 'type: "msra"', 0.1), ('gaussian', 'type: "gaussian" std: 0.3', 0.3):
    drawn(name, text, std, [-8 * std, -2.8 * std], [2.8 * std, 8 * std])
tent = [0.25, 0.75, 0.75, 0.25]
filler('filler_bilinear', '''layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 2 dim: 12 dim: 12 } } }
layer { name: "up" type: "Deconvolution" bottom: "x" top: "y" convolution_param {
  num_output: 2 group: 2 kernel_size: 4 stride: 2 pad: 1 bias_term: false weight_filler { type: "bilinear" } } }
''', [{'layer': 'up', 'blob': 0, 'shape': [2, 1, 4, 4], 'values': [a * b for a in tent for b in tent] * 2}])

# The files of an HDF5Output layer, and the time command.
pair = [Weight('data', 'Parameter', (2, 3), numbers(1, 6)), Weight('label', 'Parameter', (2, 1), numbers(2, 2))]
test('data_hdf5_output', parameter('data', (2, 3)) + parameter('label', (2, 1)) +
     'layer { name: "out" type: "HDF5Output" bottom: "data" bottom: "label" hdf5_output_param { file_name: "o.h5" } }\n', {}, pair, 1,
     hdf5_file='o.h5', hdf5_datasets={w.layer: [list(w.shape) + [1] * (4 - len(w.shape)), w.values()] for w in pair})
wire.put('net_time/net.prototxt', PRODUCT)
expect('net_time', kind='run', cmds=[['time', '-model', 'net.prototxt', '-iterations', '2']],
       match=[r'Average Forward pass: [0-9.e+-]+ ms', r'ip\s+backward: [0-9.e+-]+ ms'])

# Errors: one of the words must be in the message.
LOSS = 'layer { name: "l" type: "EuclideanLoss" bottom: "y" bottom: "y" top: "l" }\n'
error('error_unknown_type', ['Convolutoin'], 'layer { name: "a" type: "Convolutoin" top: "y" }\n')
error('error_unknown_field', ['kernle_size'], 'layer { name: "a" type: "Pooling" pooling_param { kernle_size: 3 } }\n')
error('error_brace', ['net.prototxt:1'], 'layer {\n  name: "a"\n')
error('error_missing_bottom', ['nowhere'], 'layer { name: "a" type: "ReLU" bottom: "nowhere" top: "y" }\n')
error('error_groups', ['group'], 'layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }\n'
      'layer { name: "c" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 4 kernel_size: 3 group: 2 } }\n')
error('error_lr_policy', ['linear'], PRODUCT + LOSS, solver_text('base_lr: 1 lr_policy: "linear" max_iter: 2'))
error('error_weights_shape', ['shape'], PRODUCT + LOSS, init__caffemodel=model([Weight('ip', 'InnerProduct', (2, 4), numbers(1, 8))] + product[1:]))
error('error_weights_truncated', ['init.caffemodel'], PRODUCT + LOSS, init__caffemodel=model(product)[:-3])
error('error_lmdb_missing', ['nodb'], source('LMDB', 1).replace('"db"', '"nodb"'))
error('error_leveldb_missing', ['nodb'], source('LEVELDB', 1).replace('"db"', '"nodb"'))
for name, words, transform in (('mean_both', ['mean_file'], 'mean_file: "m.binaryproto" mean_value: 1'), ('mean_count', ['mean_value'], 'mean_value: 1 mean_value: 2'),
                               ('mean_shape', ['m.binaryproto'], 'mean_file: "m.binaryproto"'), ('crop_too_big', ['crop_size 9'], 'crop_size: 9')):
    error('error_' + name, words, source('LMDB', 1, transform), m__binaryproto=wire.blob((1, 3, 2, 2), numbers(1, 12), 'legacy'))
    wire.lmdb('error_%s/db' % name, records)
error('error_lmdb_corrupt', ['db/data.mdb'], source('LMDB', 1))
wire.put('error_lmdb_corrupt/db/data.mdb', b'\x5a' * 4096)
