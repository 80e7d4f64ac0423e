"""Nets and solvers.

A Net or Solver holds a handle of the engine's object. The engine closes a net when Python drops the last of the net and its solver;
blobs and arrays of it live on. A net or solver serves one thread at a time: a call from a second thread raises RuntimeError.
"""

import ctypes
import html
import itertools
import os
import weakref
from collections import OrderedDict, namedtuple

import numpy as np

from . import _library
from ._blob import Blob, BlobVec, _table
from ._layer import Layer, _Opening, _EngineLayer
from ._library import call, check, functions, path

TRAIN, TEST = 0, 1

LayerTime = namedtuple('LayerTime', 'name type forward backward')
LayerTime.__doc__ = 'The mean time of a layer, in milliseconds.'

Iteration = namedtuple('Iteration', 'iteration loss rate')
Iteration.__doc__ = 'A finished iteration: the number of iterations done, its loss and its learning rate.'


class _Held(_library.Unique):
    """An object of the engine, with its handle."""
    _handle = 0

    def __del__(self, functions=functions):
        handle, self._handle = self._handle, 0
        if handle:
            functions.release(handle)


_HOOKS = ('before_forward', 'after_forward', 'before_backward', 'after_backward')  # numbered as in cmd/internal/python
_objects = weakref.WeakValueDictionary()  # solvers with callbacks and nets with hooks, by the handles by which the engine calls them


def _check_integer(kind, name, value):
    if not isinstance(value, (int, np.integer)):  # True is TEST, as in Caffe
        raise TypeError('%s: %s must be an integer, it is %r' % (kind, name, value))


def _stages(kind, stages):
    """Return an argument stages as a list."""
    if stages is None:
        return []
    if isinstance(stages, str) or not all(isinstance(s, str) for s in stages):
        raise TypeError('%s: stages must be a list of strings, it is %r' % (kind, stages))
    return list(stages)


class Net(_Held):
    """A net.

        Net('net.prototxt', caffe.TEST)
        Net('net.prototxt', 'weights.caffemodel', caffe.TEST)
        Net('net.prototxt', caffe.TEST, level=0, stages=['deploy'], weights='weights.caffemodel')

    weights may be a caffemodel or an HDF5 file, or several separated by commas. with Net(...) as net: closes the net at the end.

    RuntimeError: a file that cannot be read, or a fault in it; the text has the file, the line and the layer. TypeError: wrong arguments.
    """

    def __init__(self, network_file, *args, phase=None, level=0, stages=None, weights=None):
        args = list(args)
        if args and isinstance(args[0], (str, os.PathLike)):
            if len(args) > 2 or weights is not None:
                raise TypeError('Net(network_file, weights, phase) takes no further weights')
            weights = args.pop(0)
        names = ['phase', 'level', 'stages', 'weights']
        if len(args) > len(names):
            raise TypeError('Net takes a file, a phase, a level, stages and weights: %d arguments given' % (1 + len(args)))
        given = {'phase': phase, 'level': level, 'stages': stages, 'weights': weights}
        for name, value in zip(names, args):
            if given[name] not in (None, 0):
                raise TypeError('Net got %s twice' % name)
            given[name] = value
        if given['phase'] is None:
            raise TypeError('Net needs a phase, caffe.TRAIN or caffe.TEST')
        for name in 'phase', 'level':
            _check_integer('Net', name, given[name])
        stages = _stages('Net', given['stages'])
        files = given['weights']
        with _Opening() as layers:
            if files == '':
                raise RuntimeError('Net: the name of the file of weights is empty')
            reply = call('net', {'file': path(network_file), 'phase': int(given['phase']), 'level': int(given['level']),
                                 'stages': stages, 'weights': '' if files is None else path(files)})
        self._build(reply, layers)

    @classmethod
    def _of(cls, reply, layers):
        net = cls.__new__(cls)
        net._build(reply, layers)
        net._of_solver = True
        return net

    def _build(self, reply, layers):
        self._handle = reply['handle']
        self._name, self._phase = reply['name'], reply['phase']
        self._python = layers  # the objects of Python layers live as long as the net
        self._blob_names = reply['names']
        self._blobs = [Blob._of(h, n) for h, n in zip(reply['blobs'], self._blob_names)]
        self._inputs, self._outputs = reply['inputs'], reply['outputs']
        self._bottoms = [l['bottoms'] for l in reply['layers']]
        self._tops = [l['tops'] for l in reply['layers']]
        self._layer_names = [l['name'] for l in reply['layers']]
        self._layers = []
        for l in reply['layers']:
            blobs = BlobVec([Blob._of(h) for h in l['blobs']])
            self._layers.append(layers[l['python']] if 'python' in l else _EngineLayer(l['name'], l['type'], blobs))
        self._losses = [float(weight) for weight in reply['losses']]
        self._hooks = {name: [] for name in _HOOKS}
        self._of_solver = False
        self._fed = None

    # What the net consists of.

    @property
    def name(self):
        """The name in the prototxt."""
        return self._name

    @property
    def blobs(self):
        """An OrderedDict of the blobs by name, in the order of the layers that make them."""
        return self._cached('blobs', lambda: OrderedDict(zip(self._blob_names, self._blobs)))

    @property
    def layers(self):
        """A list of the layers in order, with the Split layers that the net inserts. A Python layer is its object."""
        return self._layers

    @property
    def layer_dict(self):
        """An OrderedDict of the layers by name."""
        return self._cached('layer_dict', lambda: OrderedDict(zip(self._layer_names, self._layers)))

    @property
    def params(self):
        """An OrderedDict of the weights by layer name, each a list of Blobs, without layers that have none."""
        return self._cached('params', lambda: OrderedDict((n, l.blobs) for n, l in zip(self._layer_names, self._layers) if len(l.blobs)))

    @property
    def inputs(self):
        """The names of the input blobs: the tops of Input layers."""
        return self._cached('inputs', lambda: [self._blob_names[i] for i in self._inputs])

    @property
    def outputs(self):
        """The names of the blobs that no layer reads, sorted."""
        return self._cached('outputs', lambda: [self._blob_names[i] for i in self._outputs])

    @property
    def bottom_names(self):
        """An OrderedDict of the names of each layer's bottoms."""
        return self._cached('bottom_names', lambda: self._wiring(self._bottoms))

    @property
    def top_names(self):
        """An OrderedDict of the names of each layer's tops."""
        return self._cached('top_names', lambda: self._wiring(self._tops))

    @property
    def blob_loss_weights(self):
        """An OrderedDict of the weights in the loss by blob name; 0: the blob is no loss."""
        return self._cached('blob_loss_weights', lambda: OrderedDict(zip(self._blob_names, self._losses)))

    @property
    def _blob_loss_weights(self):
        return self._losses

    def _cached(self, name, make):
        values = self.__dict__.setdefault('_values', {})
        if name not in values:
            values[name] = make()
        return values[name]

    def _wiring(self, ids):
        return OrderedDict((name, [self._blob_names[i] for i in list_]) for name, list_ in zip(self._layer_names, ids))

    def _bottom_ids(self, layer):
        return self._bottoms[layer]

    def _top_ids(self, layer):
        return self._tops[layer]

    # Running.

    def _forward(self, start, end):
        """Run the layers of these numbers. Return their loss."""
        loss = ctypes.c_double()
        before, after = self._hooks['before_forward'], self._hooks['after_forward']
        if not (before or after):
            if self._python:
                with _library.Signals():
                    check(functions.forward(self._handle, start, end, loss))
            else:
                check(functions.forward(self._handle, start, end, loss))
            return loss.value
        total = 0.0
        for layer in range(start, end + 1):
            for hook in before:
                hook(layer)
            check(functions.forward(self._handle, layer, layer, loss))
            total += loss.value
            for hook in after:
                hook(layer)
        return total

    def _backward(self, start, end):
        """Run Backward of the layers of these numbers, from the later to the earlier one."""
        before, after = self._hooks['before_backward'], self._hooks['after_backward']
        if not (before or after):
            if self._python:
                with _library.Signals():
                    check(functions.backward(self._handle, start, end))
            else:
                check(functions.backward(self._handle, start, end))
            return
        for layer in range(start, end - 1, -1):
            for hook in before:
                hook(layer)
            check(functions.backward(self._handle, layer, layer))
            for hook in after:
                hook(layer)

    def _index(self, layer):
        try:
            return self._layer_names.index(layer)
        except ValueError:
            raise ValueError('net %r has no layer %r' % (self._name, layer)) from None

    def _give(self, values, names, what, attribute):
        """Copy arrays to the data or diff of the net's inputs or outputs."""
        if set(values) != set(names):
            begin = 'Input blob arguments do not match net inputs' if what == 'Input' else 'Top diff arguments do not match net outputs'
            raise Exception('%s: given %s, the net has %s' % (begin, sorted(values), sorted(names)))
        for name, value in values.items():
            blob = self.blobs[name]
            if value is None:
                raise TypeError('%s must be an array, it is None' % name)
            value = np.asarray(value)
            if value.ndim and blob.shape and value.shape[0] != blob.shape[0]:
                raise Exception('%s is not batch sized: %r has %d items, the net %d' % (what, name, value.shape[0], blob.shape[0]))
            getattr(blob, attribute)[...] = value

    def forward(self, blobs=None, start=None, end=None, **kwargs):
        """Run the net, or the layers from start to end (names, both included).

        Keyword arguments are arrays for the inputs, of the inputs' shapes; all inputs must be given, or none. Return a dict of the
        values (arrays, views of the engine's memory) of the outputs, or with end of that layer's tops, and of the blobs named in blobs.

        ValueError: an unknown layer. Exception: keyword arguments that do not match the inputs, or their batch.
        """
        first = 0 if start is None else self._index(start)
        last = len(self._layers) - 1 if end is None else self._index(end)
        names = self.outputs if end is None else self.top_names[end]
        if kwargs:
            self._give(kwargs, self.inputs, 'Input', 'data')
        self._forward(first, last)
        return {name: self.blobs[name].data for name in dict.fromkeys([*names, *(blobs or ())])}

    def backward(self, diffs=None, start=None, end=None, **kwargs):
        """Run the net's Backward, or that of the layers from start down to end (names, both included; start is the later layer).

        Keyword arguments are gradients of the outputs. Return a dict of the gradients of the inputs, or with end of that layer's
        bottoms, and of the blobs named in diffs. Gradients of weights add up until clear_param_diffs.
        """
        first = len(self._layers) - 1 if start is None else self._index(start)
        last = 0 if end is None else self._index(end)
        names = self.inputs if end is None else self.bottom_names[end]
        if kwargs:
            self._give(kwargs, self.outputs, 'Diff', 'diff')
        self._backward(first, last)
        return {name: self.blobs[name].diff for name in dict.fromkeys([*names, *(diffs or ())])}

    def forward_all(self, blobs=None, **kwargs):
        """Run the net on any number of items, batch by batch.

        Keyword arguments are arrays (items x ...) for the inputs. Return a dict of arrays (items x ...) of the outputs and of the blobs
        named in blobs. The last batch is filled up with zeros.

        ValueError: no arrays. Exception: keyword arguments that do not match the inputs.
        """
        if not kwargs:
            raise ValueError('forward_all needs arrays for the inputs of net %r: %s' % (self._name, self.inputs))
        results = {name: [] for name in dict.fromkeys([*self.outputs, *(blobs or ())])}
        for batch in self._batch(kwargs):
            self._collect(results, self.forward(blobs=blobs, **batch))
        return self._trim(results, kwargs)

    def forward_backward_all(self, blobs=None, diffs=None, **kwargs):
        """Run the net forward and backward on any number of items, batch by batch.

        Keyword arguments are arrays (items x ...) for inputs, and gradients for outputs. Return two dicts: arrays of outputs and of the
        blobs named in blobs, and gradients of inputs and of the blobs named in diffs.

        ValueError: no arrays. Exception: keyword arguments that do not match inputs and outputs.
        """
        if not kwargs:
            raise ValueError('forward_backward_all needs arrays for the inputs or outputs of net %r: %s, %s' % (self._name, self.inputs, self.outputs))
        results = {name: [] for name in dict.fromkeys([*self.outputs, *(blobs or ())])}
        gradients = {name: [] for name in dict.fromkeys([*self.inputs, *(diffs or ())])}
        given = {n: v for n, v in kwargs.items() if n in self.inputs}
        tops = {n: v for n, v in kwargs.items() if n in self.outputs}
        unknown = set(kwargs) - set(given) - set(tops)
        if unknown:
            raise Exception('Input blob arguments do not match net inputs: %s' % sorted(unknown))
        for batch, top in itertools.zip_longest(self._batch(given), self._batch(tops), fillvalue={}):
            self._collect(results, self.forward(blobs=blobs, **batch))
            self._collect(gradients, self.backward(diffs=diffs, **top))
        return self._trim(results, kwargs), self._trim(gradients, kwargs)

    def _collect(self, results, values):
        for name, value in values.items():
            results[name].extend(np.array(value) if value.ndim else [value.copy()])

    def _trim(self, results, given):
        """Leave out the items that filled up the last batch."""
        items = len(next(iter(given.values()))) if given else 0
        for name, value in results.items():
            value = np.asarray(value)
            results[name] = value[:items] if items and len(value) > items else value
        return results

    def _batch(self, blobs):
        """Cut arrays into batches of the net's batch size. Fill up the last one with zeros."""
        if not blobs:
            return
        blobs = {name: np.asarray(value) for name, value in blobs.items()}
        items = len(next(iter(blobs.values())))
        name, first = next(iter(self.blobs.items()))
        size = first.shape[0]
        if size == 0:
            raise ValueError('net %r: blob %r has batches of no items' % (self._name, name))
        for at in range(0, items, size):
            batch = {name: value[at:at + size] for name, value in blobs.items()}
            missing = size - (min(at + size, items) - at)
            if missing:
                batch = {name: np.concatenate([value, np.zeros((missing,) + value.shape[1:], value.dtype)]) for name, value in batch.items()}
            yield batch

    def reshape(self):
        """Pass the shapes of the inputs on to all layers. forward does so as well."""
        call('reshape', {'handle': self._handle})

    def clear_param_diffs(self):
        """Set the gradients of all weights to zero."""
        call('clear', {'handle': self._handle})

    def set_input_arrays(self, data, labels):
        """Give the MemoryData layer, which must be the first, items to hand out: data (items x channels x height x width) and labels
        (items), float32 and C-contiguous. The net reads the arrays themselves; it keeps them alive.

        TypeError: no arrays. RuntimeError: arrays of another type or shape, a first layer that is no MemoryData layer, or a number of
        items that is no multiple of its batch size.
        """
        for what, array in ('data array', data), ('labels array', labels):
            if not isinstance(array, np.ndarray):
                raise TypeError('%s must be a numpy array, it is a %s' % (what, type(array).__name__))
            if array.dtype != np.float32:
                raise RuntimeError('%s must be float32, it is %s' % (what, array.dtype))
            if not array.flags.c_contiguous:
                raise RuntimeError('%s must be C contiguous' % what)
        if data.ndim != 4:
            raise RuntimeError('data array must be 4-d, it has %d axes' % data.ndim)
        if self._layers[0].type == 'MemoryData':
            item = self._blobs[self._tops[0][0]].shape[1:]
            if data.shape[1:] != item:
                raise RuntimeError('data array has wrong channels, height or width: %s, the layer has %s' % (data.shape[1:], item))
        if data.shape[0] != labels.size:
            raise RuntimeError('data and labels must have the same first dimension: %d and %d' % (data.shape[0], labels.size))
        check(functions.feed(self._handle, data.ctypes.data, data.size, labels.ctypes.data, labels.size))
        self._fed = data, labels

    _set_input_arrays = set_input_arrays

    # Weights.

    def copy_from(self, trained_filename):
        """Copy weights from a caffemodel or HDF5 file into the layers of the same names.

        RuntimeError: a file that cannot be read, or a layer with other shapes.
        """
        call('copy_from', {'handle': self._handle, 'file': path(trained_filename)})

    def share_with(self, other):
        """Use the weights of another net's layers of the same names from now on."""
        if not isinstance(other, Net):
            raise TypeError('share_with needs a Net, not %r' % (other,))
        call('share_with', {'handle': self._handle, 'other': other._handle})

    def save(self, filename):
        """Write the net with its weights to a caffemodel."""
        call('save', {'handle': self._handle, 'file': path(filename)})

    def save_hdf5(self, filename, write_diff=False):
        """Write the weights, and with write_diff their gradients, to an HDF5 file."""
        call('save_hdf5', {'handle': self._handle, 'file': path(filename), 'diffs': bool(write_diff)})

    def load_hdf5(self, filename):
        """Copy weights from an HDF5 file into the layers of the same names."""
        call('load_hdf5', {'handle': self._handle, 'file': path(filename)})

    # Hooks. Those of a solver's nets are called by its runs, too.

    def _hook(self, kind, f):
        if not callable(f):
            raise TypeError('%s needs a function of a layer\'s number, not %r' % (kind, f))
        self._hooks[kind].append(f)
        if self._of_solver:
            _objects[self._handle] = self  # before the engine can ask for the hooks
            call('hooks', {'handle': self._handle, 'key': self._handle})

    def before_forward(self, f):
        """Call f(layer number) before every layer's forward."""
        self._hook('before_forward', f)

    def after_forward(self, f):
        """Call f(layer number) after every layer's forward."""
        self._hook('after_forward', f)

    def before_backward(self, f):
        """Call f(layer number) before every layer's backward."""
        self._hook('before_backward', f)

    def after_backward(self, f):
        """Call f(layer number) after every layer's backward."""
        self._hook('after_backward', f)

    # Beyond Caffe.

    def time(self, iterations=10):
        """Run the net forward and backward and return a list of LayerTime: name, type, and the mean milliseconds forward and backward.
        Gradients of weights add up meanwhile."""
        return [LayerTime(t['name'], t['type'], t['forward'], t['backward'])
                for t in call('times', {'handle': self._handle, 'count': iterations})]

    def close(self):
        """Release the net. Blobs and arrays of it stay valid, other uses raise ValueError. A solver's net lives until its solver goes.

        RuntimeError: the net runs, in another thread or because a layer or callback closes it.
        """
        if self._handle:
            call('close', {'handle': self._handle})
            self._handle = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _rows(self):
        for name, layer in zip(self._layer_names, self._layers):
            shapes = ['%s %s' % (t, ' x '.join(map(str, self.blobs[t].shape))) for t in self.top_names[name] if t in self.blobs]
            yield name, layer.type, ', '.join(shapes), ', '.join(' x '.join(map(str, b.shape)) for b in layer.blobs)

    def __repr__(self):
        try:
            weights = '%d weights' % sum(b.count for blobs in self.params.values() for b in blobs)
        except RuntimeError:
            weights = 'in use by another thread'
        return '<caffe.Net %r, %s, %d layers, %d blobs, %s>' % (
            self._name, ('TRAIN', 'TEST')[self._phase], len(self._layers), len(self._blobs), weights)

    def _repr_html_(self):
        """A drawing of the net and a table of layers and shapes, for notebooks. While another thread uses the net, only its repr."""
        try:
            rows = _table(['layer', 'type', 'tops', 'weights'], self._rows(), repr(self))
            svg = call('picture', {'handle': self._handle})
        except (RuntimeError, ValueError) as unusable:  # in use by another thread, or closed
            return '<p>%s: %s</p>' % (html.escape(repr(self)), html.escape(str(unusable)))
        return '<div style="overflow: auto; max-height: 40em">%s</div>%s' % (svg[svg.index('<svg'):], rows)


class SolverParameter(_library.Unique):
    """Fields of a solver's file as they are now. base_lr, max_iter and display can be set while training pauses."""

    def __init__(self, *_, **__):
        raise RuntimeError('this class cannot be instantiated from Python: use solver.param')

    @classmethod
    def _of(cls, solver):
        p = object.__new__(cls)
        p._solver = solver  # which lives as long
        return p

    def _field(name, convert=None, doc=None):
        def get(self):
            return self._solver._state()[name]

        def put(self, value):
            call('set', {'handle': self._solver._handle, 'set': {'field': name, 'value': convert(value)}})
        return property(get, put if convert else None, doc=doc)

    max_iter = _field('max_iter', int, 'The number of iterations at which solve ends.')
    display = _field('display', int, 'The number of iterations between lines of the log; 0: none.')
    base_lr = _field('base_lr', float, 'The learning rate from which the policy starts.')
    layer_wise_reduce = _field('layer_wise_reduce', doc='layer_wise_reduce of the file.')
    snapshot_prefix = _field('snapshot_prefix', doc='The beginning of the names of snapshots.')
    del _field

    def __repr__(self):
        return '<caffe.SolverParameter max_iter=%d base_lr=%g display=%d>' % (self.max_iter, self.base_lr, self.display)


class Solver(_Held):
    """A solver: it trains a net. Use a class of a type, or get_solver, which takes the type of the file.

        solver = caffe.get_solver('solver.prototxt')
        solver.step(100)
        solver.net.blobs['loss'].data

    A solver is an iterator that runs one iteration each and yields (iteration, loss, rate), until max_iter:

        for iteration, loss, rate in solver: ...

    level and stages are the flags of train: the training net's level, in place of the file's train_state, and stages beside the file's.

    Ctrl-C stops step and solve after the present iteration, and then raises KeyboardInterrupt: nothing is lost, step and solve go on
    from there.
    """
    _type = ''

    def __init__(self, param_file, level=0, stages=None):
        _check_integer('Solver', 'level', level)
        with _Opening() as layers:
            reply = call('solver', {'file': path(param_file), 'type': self._type, 'level': int(level), 'stages': _stages('Solver', stages)})
        self._handle = reply['handle']
        self._kind = reply['type']
        python = {key: layer for key, layer in layers.items()}
        self._net = Net._of(reply['net'], python)
        self._test_nets = [Net._of(n, python) for n in reply['tests']]
        self._callbacks = []

    def _state(self):
        return call('state', {'handle': self._handle})

    @property
    def net(self):
        """The training net."""
        return self._net

    @property
    def test_nets(self):
        """The list of test nets. They get the training net's weights when a test begins; see Net.share_with."""
        return self._test_nets

    @property
    def iter(self):
        """The number of iterations done."""
        return self._state()['iter']

    @property
    def param(self):
        """The solver's SolverParameter."""
        return SolverParameter._of(self)

    @property
    def lr(self):
        """The learning rate of the next iteration."""
        return float(self._state()['lr'])

    @property
    def type(self):
        """The type in the file's words: SGD, Adam, ..."""
        return self._kind

    def step(self, iterations):
        """Run some iterations, with the tests, snapshots and lines of the log that fall on them."""
        self._step(iterations)

    def _step(self, iterations):
        loss, rate = ctypes.c_double(), ctypes.c_double()
        if isinstance(iterations, bool) or not isinstance(iterations, (int, np.integer)):
            raise TypeError('step needs a number of iterations, not %r' % (iterations,))
        with _library.Signals():
            check(functions.step(self._handle, int(iterations), loss, rate))
        return loss.value, rate.value

    def solve(self, resume_file=None):
        """Train until max_iter, after restoring a .solverstate if one is given. Write a snapshot at the end, as the file says."""
        with _library.Signals():
            call('solve', {'handle': self._handle, 'file': '' if resume_file is None else path(resume_file)})

    def snapshot(self):
        """Write the weights and the solver's state: PREFIX_iter_N.caffemodel and PREFIX_iter_N.solverstate."""
        call('snapshot', {'handle': self._handle})

    def restore(self, state_file):
        """Continue from a .solverstate and the weights that it names."""
        call('restore', {'handle': self._handle, 'file': path(state_file)})

    def share_weights(self, net):
        """Let a net use the training net's weights from now on: net.share_with(solver.net)."""
        if not isinstance(net, Net):
            raise TypeError('share_weights needs a Net, not %r' % (net,))
        net.share_with(self._net)

    def apply_update(self):
        """Update the weights by the gradients that they have now, as step does after its passes, and count this as an iteration."""
        call('update', {'handle': self._handle})

    def add_callback(self, on_start, on_gradients_ready):
        """Call on_start() before the passes of every iteration, and on_gradients_ready() between the passes and the update."""
        for f in on_start, on_gradients_ready:
            if not callable(f):
                raise TypeError('add_callback needs two functions without arguments, not %r' % (f,))
        _objects[self._handle] = self  # before the engine can ask for them
        self._callbacks.append((on_start, on_gradients_ready))
        call('callbacks', {'handle': self._handle, 'key': self._handle})

    def __iter__(self):
        while self.iter < self.param.max_iter:
            loss, rate = self._step(1)
            yield Iteration(self.iter, loss, rate)

    def __repr__(self):
        return '<caffe.%sSolver, net %r, iteration %d of %d>' % (self._kind, self._net.name, self.iter, self.param.max_iter)


def _on_start(key, text, flags):
    for on_start, _ in _objects[key]._callbacks:
        on_start()


def _on_gradients(key, text, flags):
    for _, on_gradients_ready in _objects[key]._callbacks:
        on_gradients_ready()


def _run_hooks(key, text, flags):
    for hook in _objects[key]._hooks[_HOOKS[flags[0]]]:
        hook(int(text))


_library.handlers.update({_library.ON_START: _on_start, _library.ON_GRADIENTS: _on_gradients, _library.RUN_HOOKS: _run_hooks})


class SGDSolver(Solver):
    """Stochastic gradient descent with momentum. The argument is the solver's file."""
    _type = 'SGD'


class NesterovSolver(SGDSolver):
    """Nesterov's accelerated gradient. The argument is the solver's file."""
    _type = 'Nesterov'


class AdaGradSolver(SGDSolver):
    """AdaGrad (Duchi et al. 2011). The argument is the solver's file."""
    _type = 'AdaGrad'


class RMSPropSolver(SGDSolver):
    """RMSProp (Tieleman and Hinton 2012). The argument is the solver's file."""
    _type = 'RMSProp'


class AdaDeltaSolver(SGDSolver):
    """AdaDelta (Zeiler 2012). The argument is the solver's file."""
    _type = 'AdaDelta'


class AdamSolver(SGDSolver):
    """Adam (Kingma and Ba 2015). The argument is the solver's file."""
    _type = 'Adam'


_solvers = {c._type: c for c in (SGDSolver, NesterovSolver, AdaGradSolver, RMSPropSolver, AdaDeltaSolver, AdamSolver)}


def get_solver(param_file, level=0, stages=None):
    """Return the solver of a file, an object of the class of its type. level and stages are those of the training net; see Solver.

    RuntimeError: a file that cannot be read, or a fault in it; the text has the file and the line.
    """
    solver = Solver(param_file, level, stages)
    solver.__class__ = _solvers[solver._kind]
    return solver
