"""Pictures of nets.

draw_net and draw_net_to_file draw SVG, PNG and Graphviz's dot with the engine and need no other program; it also knows nets in old
formats. Other formats are drawn by Graphviz, by way of pydotplus or pydot. get_pydot_graph returns Caffe's graph for pydot, with a
box for each layer and an octagon for each blob.
"""

from . import _pictures
from . import proto as _proto


def __getattr__(name):
    if name == 'caffe_pb2':  # Caffe's module has this name of its import, and scripts use it
        return _proto.caffe_pb2
    raise AttributeError('module %r has no attribute %r' % (__name__, name))

LAYER_STYLE_DEFAULT = {'shape': 'record', 'fillcolor': '#6495ED', 'style': 'filled'}
NEURON_LAYER_STYLE = {'shape': 'record', 'fillcolor': '#90EE90', 'style': 'filled'}
BLOB_STYLE = {'shape': 'octagon', 'fillcolor': '#E0E0E0', 'style': 'filled'}

_COLOUR = {'Convolution': '#FF5050', 'Deconvolution': '#FF5050', 'Pooling': '#FF9900', 'InnerProduct': '#CC33FF'}
_LEARNING = ('Convolution', 'Deconvolution', 'InnerProduct')


def get_pooling_types_dict():
    """Return the name of each pooling method by its number."""
    return {number: name for name, number in _proto.caffe_pb2.PoolingParameter.PoolMethod.items()}


def get_edge_label(layer):
    """Return the label of the arrows from a layer to its tops: its batch size or number of outputs."""
    if layer.type == 'Data':
        return 'Batch ' + str(layer.data_param.batch_size)
    if layer.type in ('Convolution', 'Deconvolution'):
        return str(layer.convolution_param.num_output)
    if layer.type == 'InnerProduct':
        return str(layer.inner_product_param.num_output)
    return '""'


def get_layer_lr_mult(layer):
    """Return the learning-rate multipliers of a layer's weights and bias."""
    if layer.type not in _LEARNING:
        raise ValueError('%s layers do not have a learning rate multiplier' % layer.type)
    if len(layer.param) > 2:
        raise ValueError('layer %s: %d params, want at most 2' % (layer.name, len(layer.param)))
    rates = [p.lr_mult for p in layer.param]
    return tuple(rates + [1.0] * (2 - len(rates)))


def get_layer_label(layer, rankdir, display_lrm=False):
    """Return the label of a layer: name, type and what decides its output's size, in one line if rankdir is vertical."""
    lines = [layer.name]
    if layer.type == 'Pooling':
        p = layer.pooling_param
        lines.append('(Pooling %s)' % get_pooling_types_dict()[p.pool])
        window = [p.kernel_size, p.stride, p.pad]
    else:
        lines.append('(%s)' % layer.type)
        c = layer.convolution_param
        window = [c.kernel_size[0] if c.kernel_size else 1, c.stride[0] if c.stride else 1, c.pad[0] if c.pad else 0]
    if layer.type in ('Convolution', 'Deconvolution', 'Pooling'):
        lines += ['kernel size: %d' % window[0], 'stride: %d' % window[1], 'pad: %d' % window[2]]
    if display_lrm and layer.type in _LEARNING and any(get_layer_lr_mult(layer)):
        lines.append('lr mult: %.1f, %.1f' % get_layer_lr_mult(layer))
    # Quotes, because dot would take a colon for its own.
    return '"%s"' % (' ' if rankdir in ('TB', 'BT') else r'\n').join(lines)


def choose_color_by_layertype(layertype):
    """Return the colour of the boxes of a layer type."""
    return _COLOUR.get(layertype, '#6495ED')


def _in_phase(layer, phase):
    if layer.include and layer.exclude:
        raise ValueError('layer %s has both include and exclude specified.' % layer.name)
    if layer.include:
        return any(rule.phase == phase for rule in layer.include)
    return not any(rule.phase == phase for rule in layer.exclude)


def get_pydot_graph(caffe_net, rankdir, label_edges=True, phase=None, display_lrm=False):
    """Return a pydot graph of a NetParameter. rankdir is LR, TB, BT or RL; phase TRAIN or TEST leaves the other's layers out."""
    pydot = _import_pydot()
    graph = pydot.Dot(caffe_net.name or 'Net', graph_type='digraph', rankdir=rankdir)
    nodes, edges = {}, []
    for layer in caffe_net.layer:
        if phase is not None and not _in_phase(layer, phase):
            continue
        key = layer.name + '_' + layer.type
        in_place = len(layer.bottom) == 1 and list(layer.bottom) == list(layer.top)
        style = NEURON_LAYER_STYLE if in_place else dict(LAYER_STYLE_DEFAULT, fillcolor=choose_color_by_layertype(layer.type))
        nodes[key] = pydot.Node(get_layer_label(layer, rankdir, display_lrm), **style)
        for blob in list(layer.bottom) + list(layer.top):
            nodes[blob + '_blob'] = pydot.Node('"%s"' % blob, **BLOB_STYLE)
        edges += [(blob + '_blob', key, '""') for blob in layer.bottom]
        edges += [(key, blob + '_blob', get_edge_label(layer) if label_edges else '""') for blob in layer.top]
    for node in nodes.values():
        graph.add_node(node)
    for source, target, label in edges:
        graph.add_edge(pydot.Edge(nodes[source], nodes[target], label=label))
    return graph


def _import_pydot():
    try:
        import pydotplus
        return pydotplus
    except ImportError:
        pass
    try:
        import pydot
        return pydot
    except ImportError as e:
        raise ImportError('a pydot graph, or a picture other than svg, png and dot, needs python3-pydot (Debian), pydot or '
                          'pydotplus (pip), and Graphviz') from e


def draw_net(caffe_net, rankdir, ext='png', phase=None, display_lrm=False):
    """Return the bytes of a picture of a NetParameter. ext is svg, png, dot or, with Graphviz, any format of it.

    rankdir is the direction from inputs to outputs: LR, TB, BT or RL. phase TRAIN or TEST draws only this phase's layers. display_lrm
    shows the learning-rate multipliers.
    """
    if ext in ('svg', 'png', 'dot'):
        return _pictures.draw_net(caffe_net.SerializeToString(), rankdir, ext, phase, display_lrm)
    return get_pydot_graph(caffe_net, rankdir, phase=phase, display_lrm=display_lrm).create(format=ext)


def draw_net_to_file(caffe_net, filename, rankdir='LR', phase=None, display_lrm=False):
    """Write a picture of a NetParameter to a file, in the format of its ending; see draw_net. '.raw' is Graphviz's source."""
    picture = draw_net(caffe_net, rankdir, filename[filename.rfind('.') + 1:], phase, display_lrm)
    with open(filename, 'wb') as f:
        f.write(picture)
