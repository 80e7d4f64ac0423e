"""Small nets with the structure of those that scripts for cv2.dnn run, and random weights for nets."""

import numpy as np


def _conv(name, bottom, channels, more='kernel_size: 3 pad: 1', relu=True):
    text = 'layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s" convolution_param { num_output: %d %s } }\n' % (name, bottom, name, channels, more)
    if relu:
        text += 'layer { name: "%s_relu" type: "ReLU" bottom: "%s" top: "%s" }\n' % (name, name, name)
    return text


def _norm(name, bottom, top=''):
    top = top or bottom
    return ('layer { name: "%s_bn" type: "BatchNorm" bottom: "%s" top: "%s" batch_norm_param { use_global_stats: true } }\n'
            'layer { name: "%s_scale" type: "Scale" bottom: "%s" top: "%s" scale_param { bias_term: true } }\n' % (name, bottom, top, name, top, top))


def _input(height, width, channels=3):
    return 'input: "data" input_shape { dim: 1 dim: %d dim: %d dim: %d }\n' % (channels, height, width)


def _head(source, priors, size):
    """Boxes and scores for the priors at one scale of a detector of two classes."""
    text = ''
    for kind, values in ('loc', 4), ('conf', 2):
        name = '%s_%s' % (source, kind)
        text += _conv(name, source, priors * values, relu=False)
        text += 'layer { name: "%s_perm" type: "Permute" bottom: "%s" top: "%s_perm" permute_param { order: 0 order: 2 order: 3 order: 1 } }\n' % (name, name, name)
        text += 'layer { name: "%s_flat" type: "Flatten" bottom: "%s_perm" top: "%s_flat" flatten_param { axis: 1 } }\n' % (name, name, name)
    return text + ('layer { name: "%s_prior" type: "PriorBox" bottom: "%s" bottom: "data" top: "%s_prior" prior_box_param { min_size: %d max_size: %d '
                   'aspect_ratio: 2 flip: true clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 } }\n' % (source, source, source, size, 2 * size))


def _joined(kind, sources, axis):
    return 'layer { name: "mbox_%s" type: "Concat" %s top: "mbox_%s" concat_param { axis: %d } }\n' % (
        kind, ' '.join('bottom: "%s"' % s for s in sources), kind, axis)


# A detector as that of faces in OpenCV's samples: normalisation at the entry, a block with a shortcut, Normalize, two scales, DetectionOutput.
FACES = ('name: "faces"\n' + _input(48, 64) + _norm('data', 'data', 'data_norm') + _conv('conv1', 'data_norm', 8, 'kernel_size: 7 pad: 3 stride: 2', relu=False)
         + _norm('conv1', 'conv1') + 'layer { name: "conv1_relu" type: "ReLU" bottom: "conv1" top: "conv1" }\n'
         'layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { kernel_size: 3 stride: 2 } }\n'
         + _conv('res_a', 'pool1', 8, 'kernel_size: 3 pad: 1 bias_term: false', relu=False) + _norm('res_a', 'res_a')
         + 'layer { name: "sum" type: "Eltwise" bottom: "pool1" bottom: "res_a" top: "sum" }\n'
         'layer { name: "sum_relu" type: "ReLU" bottom: "sum" top: "sum" }\n' + _conv('deep', 'sum', 12, 'kernel_size: 3 pad: 1 stride: 2')
         + 'layer { name: "normed" type: "Normalize" bottom: "sum" top: "normed" norm_param { across_spatial: false scale_filler { type: "constant" value: 20 } channel_shared: false } }\n'
         + _head('normed', 4, 12) + _head('deep', 4, 24)
         + _joined('loc', ['normed_loc_flat', 'deep_loc_flat'], 1) + _joined('conf', ['normed_conf_flat', 'deep_conf_flat'], 1)
         + _joined('priors', ['normed_prior', 'deep_prior'], 2)
         + 'layer { name: "mbox_conf_reshape" type: "Reshape" bottom: "mbox_conf" top: "mbox_conf_reshape" reshape_param { shape { dim: 0 dim: -1 dim: 2 } } }\n'
         'layer { name: "mbox_conf_softmax" type: "Softmax" bottom: "mbox_conf_reshape" top: "mbox_conf_softmax" softmax_param { axis: 2 } }\n'
         'layer { name: "mbox_conf_flatten" type: "Flatten" bottom: "mbox_conf_softmax" top: "mbox_conf_flatten" flatten_param { axis: 1 } }\n'
         'layer { name: "detection_out" type: "DetectionOutput" bottom: "mbox_loc" bottom: "mbox_conf_flatten" bottom: "mbox_priors" top: "detection_out" '
         'include { phase: TEST } detection_output_param { num_classes: 2 share_location: true background_label_id: 0 '
         'nms_param { nms_threshold: 0.45 top_k: 100 } code_type: CENTER_SIZE keep_top_k: 60 confidence_threshold: 0.6 } }\n')

# A classifier as those of age and gender: normalisation across channels, dropout, inner products.
AGE = ('name: "age"\n' + _input(35, 35) + _conv('conv1', 'data', 12, 'kernel_size: 7 stride: 4')
       + 'layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { kernel_size: 3 stride: 2 } }\n'
       'layer { name: "norm1" type: "LRN" bottom: "pool1" top: "norm1" lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 } }\n'
       + _conv('conv2', 'norm1', 16, 'kernel_size: 5 pad: 2 group: 2')
       + 'layer { name: "fc6" type: "InnerProduct" bottom: "conv2" top: "fc6" inner_product_param { num_output: 20 } }\n'
       'layer { name: "relu6" type: "ReLU" bottom: "fc6" top: "fc6" }\n'
       'layer { name: "drop6" type: "Dropout" bottom: "fc6" top: "fc6" dropout_param { dropout_ratio: 0.5 } }\n'
       'layer { name: "fc8" type: "InnerProduct" bottom: "fc6" top: "fc8" inner_product_param { num_output: 8 } }\n'
       'layer { name: "prob" type: "Softmax" bottom: "fc8" top: "prob" }\n')

# Two branches in two stages, joined at the end, as OpenPose's; the input has any size.
POSE = ('name: "pose"\n' + _input(24, 32).replace('input: "data"', 'input: "image"') + _conv('conv1', 'image', 8)
        + 'layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { kernel_size: 2 stride: 2 } }\n'
        + _conv('features', 'pool1', 10) + _conv('stage1_L1', 'features', 6, relu=False) + _conv('stage1_L2', 'features', 4, relu=False)
        + 'layer { name: "joined" type: "Concat" bottom: "stage1_L1" bottom: "stage1_L2" bottom: "features" top: "joined" concat_param { axis: 1 } }\n'
        + _conv('stage2_L1', 'joined', 6, relu=False) + _conv('stage2_L2', 'joined', 4, relu=False)
        + 'layer { name: "net_output" type: "Concat" bottom: "stage2_L2" bottom: "stage2_L1" top: "net_output" concat_param { axis: 1 } }\n')

# Several layers that no layer reads, among them one in the middle.
BRANCHES = POSE[:POSE.index('layer { name: "net_output"')] + _conv('last', 'features', 3)

# Colour from lightness: weights of two layers are set by the script, dilated and transposed convolutions, BatchNorm at the end of blocks.
COLOUR = ('name: "colour"\n' + _input(16, 24, 1).replace('input: "data"', 'input: "data_l"') + _conv('conv1', 'data_l', 8, 'kernel_size: 3 pad: 1 stride: 2')
          + 'layer { name: "conv1_norm" type: "BatchNorm" bottom: "conv1" top: "conv1_norm" batch_norm_param { } }\n'
          + _conv('conv5', 'conv1_norm', 8, 'kernel_size: 3 pad: 2 dilation: 2')
          + 'layer { name: "conv8" type: "Deconvolution" bottom: "conv5" top: "conv8" convolution_param { num_output: 6 kernel_size: 4 pad: 1 stride: 2 } }\n'
          'layer { name: "conv8_relu" type: "ReLU" bottom: "conv8" top: "conv8" }\n' + _conv('conv8_313', 'conv8', 7, 'kernel_size: 1', relu=False)
          + 'layer { name: "conv8_313_rh" type: "Scale" bottom: "conv8_313" top: "conv8_313_rh" scale_param { bias_term: false filler { type: "constant" value: 2.606 } } }\n'
          'layer { name: "class8_313_rh" type: "Softmax" bottom: "conv8_313_rh" top: "class8_313_rh" }\n'
          + _conv('class8_ab', 'class8_313_rh', 2, 'kernel_size: 1 stride: 1 dilation: 1', relu=False))


def fill(net, seed=1):
    """Give a caffe.Net random weights with which values keep their size from layer to layer."""
    random = np.random.RandomState(seed)
    for layer in net.layers:
        for i, blob in enumerate(layer.blobs):
            shape = blob.shape
            if layer.type == 'BatchNorm':
                values = [random.randn(*shape) * 0.1, random.rand(*shape) + 0.5, np.ones(shape)][i]
            elif layer.type in ('Scale', 'Normalize') and i == 0:
                values = random.rand(*shape) + 0.5
            elif len(shape) > 1:
                values = random.randn(*shape) / np.sqrt(np.prod(shape[1:]))
            else:
                values = random.randn(*shape) * 0.1
            blob.data[...] = values

_IMAGE, _WIDE, _BOXES = [(2, 4, 9, 7)], [(2, 3, 6, 5), (2, 3, 6, 5)], [(1, 3, 6, 5), (1, 3, 60, 50)]
_PRIOR = 'min_size: 10 max_size: 20 aspect_ratio: 2 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2'

# Layers by themselves: type, parameters, shapes of the inputs. OpenCV 4.6 computes some of them as Caffe does, refuses some, and computes some otherwise.
LAYERS = [
    ('AbsVal', '', _IMAGE), ('BNLL', '', _IMAGE), ('ELU', 'elu_param { alpha: 0.3 }', _IMAGE), ('Sigmoid', '', _IMAGE), ('TanH', '', _IMAGE), ('ReLU6', '', _IMAGE),
    ('ReLU', 'relu_param { negative_slope: 0.3 }', _IMAGE), ('Exp', 'exp_param { base: 2 scale: 0.5 shift: 0.2 }', _IMAGE),
    ('Power', 'power_param { power: 3 scale: 0.5 shift: 0.2 }', _IMAGE), ('Threshold', 'threshold_param { threshold: 0.5 }', _IMAGE), ('Bias', '', _IMAGE),
    ('Tile', 'tile_param { tiles: 2 }', _IMAGE), ('ArgMax', '', _IMAGE), ('Reduction', '', _IMAGE), ('Clip', 'clip_param { min: 0.2 max: 0.7 }', _IMAGE),
    ('Log', '', _IMAGE), ('Log', 'log_param { base: 10 }', _IMAGE), ('Log', 'log_param { scale: 2 }', _IMAGE), ('Log', 'log_param { shift: 2 }', _IMAGE),
    ('LRN', 'lrn_param { local_size: 3 alpha: 2 }', _IMAGE), ('LRN', 'lrn_param { local_size: 3 alpha: 2 k: 1.5 }', _IMAGE), ('LRN', 'lrn_param { local_size: 3 }', _IMAGE),
    ('LRN', 'lrn_param { local_size: 3 alpha: 2 k: 2 norm_region: WITHIN_CHANNEL }', _IMAGE),
    ('MVN', '', _IMAGE), ('MVN', 'mvn_param { across_channels: true }', _IMAGE), ('MVN', 'mvn_param { eps: 0.1 }', _IMAGE),
    ('MVN', 'mvn_param { eps: 0.1 normalize_variance: false }', _IMAGE),
    ('PReLU', '', _IMAGE), ('PReLU', 'prelu_param { channel_shared: true }', _IMAGE), ('PReLU', 'prelu_param { channel_shared: true filler { value: 0.3 } }', _IMAGE),
    ('Normalize', 'norm_param { across_spatial: false channel_shared: false }', _IMAGE), ('Normalize', '', _IMAGE), ('Normalize', 'norm_param { channel_shared: true }', _IMAGE), ('Normalize', 'norm_param { across_spatial: false }', _IMAGE), ('Normalize', 'norm_param { across_spatial: true channel_shared: true scale_filler { type: "constant" value: 20 } }', _IMAGE),
    ('Scale', 'scale_param { axis: 2 bias_term: true }', _IMAGE), ('Scale', 'scale_param { num_axes: 0 }', _IMAGE),
    ('BatchNorm', '', _IMAGE), ('BatchNorm', 'batch_norm_param { use_global_stats: false }', _IMAGE),
    ('InnerProduct', 'inner_product_param { num_output: 5 axis: 2 }', _IMAGE), ('InnerProduct', 'inner_product_param { num_output: 5 transpose: true }', _IMAGE),
    ('Convolution', 'convolution_param { num_output: 6 kernel_size: 3 stride: 2 dilation: 2 pad: 2 group: 2 }', _IMAGE),
    ('Convolution', 'convolution_param { num_output: 6 kernel_h: 1 kernel_w: 3 pad_w: 1 }', _IMAGE),
    ('Convolution', 'convolution_param { num_output: 6 kernel_h: 1 kernel_w: 3 pad_h: 0 pad_w: 1 }', _IMAGE),
    ('Deconvolution', 'convolution_param { num_output: 6 kernel_size: 4 stride: 2 pad: 1 group: 2 }', _IMAGE),
    ('Deconvolution', 'convolution_param { num_output: 6 kernel_size: 3 dilation: 2 }', _IMAGE),
    ('Pooling', 'pooling_param { kernel_size: 3 stride: 2 pad: 1 }', _IMAGE), ('Pooling', 'pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }', _IMAGE),
    ('Pooling', 'pooling_param { kernel_size: 3 stride: 2 round_mode: FLOOR }', _IMAGE), ('Pooling', 'pooling_param { pool: STOCHASTIC kernel_size: 2 }', _IMAGE),
    ('Softmax', 'softmax_param { axis: 2 }', _IMAGE), ('Flatten', 'flatten_param { end_axis: 2 }', _IMAGE), ('Reshape', 'reshape_param { shape { dim: 2 dim: 2 } axis: 1 num_axes: 1 }', _IMAGE),
    ('Permute', 'permute_param { order: 0 order: 2 order: 3 order: 1 }', _IMAGE), ('Permute', 'permute_param { order: 1 }', _IMAGE),
    ('Concat', 'concat_param { axis: 2 }', _WIDE), ('Concat', 'concat_param { concat_dim: 2 }', _WIDE),
    ('Eltwise', 'eltwise_param { operation: SUM coeff: 2 coeff: -1 }', _WIDE), ('Eltwise', 'eltwise_param { operation: PROD }', _WIDE),
    ('PriorBox', 'prior_box_param { clip: false %s }' % _PRIOR, _BOXES), ('PriorBox', 'prior_box_param { clip: true flip: false %s }' % _PRIOR, _BOXES),
    ('PriorBox', 'prior_box_param { %s }' % _PRIOR, _BOXES), ('PriorBox', 'prior_box_param { clip: false img_size: 70 %s }' % _PRIOR, _BOXES),
    ('PriorBox', 'prior_box_param { clip: false min_size: 10 }', _BOXES), ('PriorBox', 'prior_box_param { clip: false min_size: 9.5 variance: 0.3 }', _BOXES),
]


def single(kind, param, shapes):
    """A net of one layer, y, over inputs x0, x1 and so on."""
    text = ''.join('layer { name: "x%d" type: "Input" top: "x%d" input_param { shape { %s } } }\n' % (i, i, ' '.join('dim: %d' % d for d in shape)) for i, shape in enumerate(shapes))
    return text + 'layer { name: "y" type: "%s" %s top: "y" %s }\n' % (kind, ' '.join('bottom: "x%d"' % i for i in range(len(shapes))), param)
