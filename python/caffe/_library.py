"""The engine: a library written in Go (cmd/libswcaffe), loaded by ctypes.

ctypes lets other threads run Python while a function of the library computes. Objects of the library have handles, numbers that
Blob, Net and Solver release when Python drops them.

Memory. A numpy array of a blob is a view of the engine's memory. The array's base, a Memory, keeps that memory in place until the
last array that refers to it is gone: longer than the blob, its net and its solver if need be. If a blob grows in a reshape, or
begins to share another's memory, views made before keep the old memory with its last values and no longer follow the blob.

Processes. The library is loaded when it is first used. Its threads do not survive os.fork: in a child of a process that has used it, every
call raises RuntimeError. Memory that such a child inherits stays readable.

Exceptions. Python code that the library calls (layers, callbacks) may raise. The exception is put aside, the library returns an
error with its key, and the caller of the library raises the exception itself, with its traceback and a note where it happened.
"""

import atexit
import ctypes
import itertools
import json
import os
import sys
import threading
import traceback

import _signal  # getsignal of signal makes an enum of its result, which takes longer than a step

__all__ = ['call', 'main']


def _path():
    """Return the library's path."""
    ending = {'darwin': 'dylib', 'win32': 'dll'}.get(sys.platform, 'so')
    return os.environ.get('SWCAFFE_LIBRARY') or os.path.join(os.path.dirname(os.path.abspath(__file__)), 'libswcaffe.' + ending)


if not os.path.exists(_path()):
    raise ImportError('%s is missing: build it with "go build -buildmode=c-shared -o %s ./cmd/libswcaffe" in the folder of swcaffe\'s '
                      'sources, or install the wheel' % (_path(), _path()))


class View(ctypes.Structure):
    """Memory of a blob (sw_view)."""
    _fields_ = [('address', ctypes.c_uint64), ('axes', ctypes.c_int64), ('shape', ctypes.c_int64 * 32)]


Event = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint8), ctypes.c_int64,
                         ctypes.POINTER(ctypes.c_int64))

_handle, _int, _number = ctypes.c_uint64, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
_SIGNATURES = {
    'start': (None, Event),
    'stop': (None,),
    'call': (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p),
    'error': (ctypes.c_void_p, _int),
    'free': (None, ctypes.c_void_p),
    'release': (None, _handle),
    'look': (_int, _handle, ctypes.c_int32, ctypes.POINTER(View)),
    'shape': (_int, _handle, ctypes.POINTER(View)),
    'forget': (None, ctypes.c_uint64),
    'reshape': (_int, _handle, ctypes.POINTER(ctypes.c_int64), _int),
    'forward': (_int, _handle, _int, _int, _number),
    'backward': (_int, _handle, _int, _int),
    'feed': (_int, _handle, ctypes.c_void_p, _int, ctypes.c_void_p, _int),
    'step': (_int, _handle, _int, _number, _number),
    'main': (_int, ctypes.POINTER(ctypes.c_char_p), _int),
}


class _Functions:
    """The library's functions, without the sw_ of their names. The first use of one loads the library."""

    def __init__(self):
        self.begun = False  # the library's threads may be there
        self.lock = threading.RLock()

    def __getattr__(self, name):
        if name not in _SIGNATURES:
            raise AttributeError(name)
        with self.lock:
            if name not in vars(self):
                self.load()
        return vars(self)[name]

    def load(self):
        """Load the library and start it."""
        self.begun = True
        library = ctypes.CDLL(_path())
        loaded = {}
        for name, (result, *arguments) in _SIGNATURES.items():
            f = loaded[name] = getattr(library, 'sw_' + name)
            f.restype, f.argtypes = result, arguments
        loaded['start'](_event)
        variables = {k: v for k, v in os.environ.items() if k.startswith(('GLOG_', 'GOOGLE_LOG_', 'SWCAFFE_', 'TERM'))}
        loaded['free'](loaded['call'](b'environment', json.dumps(variables).encode()))
        vars(self).update(loaded)

    def end(self):
        """Objects that are dropped from now on are not released."""
        self.release = self.forget = lambda _: None


_forked = False  # this process is a child of one that has used the library


def _refuse(*_):
    raise RuntimeError('caffe cannot be used in a forked process whose parent has used it: its threads are only in the parent. Use the start method '
                       '"spawn" (multiprocessing.set_start_method("spawn")), or nets, solvers and messages only in the children')


def _after_fork():
    global _forked
    functions.lock = threading.RLock()
    if not functions.begun:
        return
    _forked = True
    for name in _SIGNATURES:
        setattr(functions, name, _refuse)
    functions.end()


def _at_exit():
    if 'stop' in vars(functions) and not _forked:
        functions.stop()
    functions.end()


functions = _Functions()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)

_KINDS = {c.__name__: c for c in (RuntimeError, ValueError, TypeError, IndexError, KeyError, OSError, FileNotFoundError, MemoryError, ImportError)}

_raised = {}  # exceptions of Python code that the library called, by key
_keys = itertools.count(1)


class Place(Exception):
    """Where Python code raised an exception: layer, file and line. It is the cause of the exception for a Python before 3.11, whose tracebacks
    do not print notes."""


class Misuse(Exception):
    """A layer that cannot be made; error is raised with the place in the prototxt."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def _raise(fault):
    """Raise the exception of a fault."""
    error = _raised.pop(fault.get('exception'), None)
    if fault.get('exception') == -1:
        raise KeyboardInterrupt
    if error is None:
        raise _KINDS.get(fault['kind'], RuntimeError)(fault['text'])
    where = fault['text']
    if isinstance(error, Misuse):
        raise error.kind(where.replace('an exception in Python', str(error))) from error.__cause__
    if 'layer ' in where:
        _note(error, where.replace(': an exception in Python', ''))
    raise error


def _note(error, note):
    """Add a note to an exception, once."""
    notes = getattr(error, '__notes__', None)
    if notes is not None:
        if note not in notes:
            notes.append(note)
        return
    try:
        error.__notes__ = [note]
    except AttributeError:  # an exception without attributes
        return
    if sys.version_info < (3, 11) and error.__cause__ is None:
        error.__cause__ = Place(note)


def _take(address):
    """Return and free the JSON at an address."""
    try:
        return json.loads(ctypes.string_at(address))
    finally:
        functions.free(address)


def check(number):
    """Raise the exception of an error number other than 0."""
    if number:
        _raise(_take(functions.error(number))['fault'])


def call(name, arguments=None):
    """Call a function of the library by name. Arguments and result are what JSON can hold. Errors are exceptions."""
    answer = _take(functions.call(name.encode(), json.dumps({} if arguments is None else arguments).encode()))
    if 'fault' in answer:
        _raise(answer['fault'])
    return answer['result']


def path(name):
    """Return a file's name as the library takes it. Raise TypeError if it is none, ValueError if it is no UTF-8."""
    name = os.fsdecode(os.fspath(name))
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError('the name of file %r is no UTF-8' % name) from None
    return name


class Unique:
    """An object of the engine, which exists once and in one process: it cannot be copied or pickled, as in Caffe."""
    __slots__ = ()

    def __reduce__(self):
        raise RuntimeError('%s objects cannot be copied or pickled: they belong to memory of this process. Arrays can, for instance '
                           'blob.data, and Net.save writes weights' % type(self).__name__)


_commands = []  # command lines that run


def main(arguments, called='swcaffe'):
    """Run a command line of swcaffe's binary, such as ['train', '-solver', 'solver.prototxt'], and return its exit code."""
    words = [os.fsencode(w) for w in [called, *arguments]]
    _commands.append(words)
    try:
        return functions.main((ctypes.c_char_p * len(words))(*words), len(words))
    finally:
        _commands.remove(words)


class Memory:
    """Memory of the engine, in place as long as this object lives. It is the base of arrays."""
    __slots__ = ('__array_interface__', '_address', '__weakref__')

    def __init__(self, address, shape):
        self._address = address
        self.__array_interface__ = {'version': 3, 'typestr': '<f4' if sys.byteorder == 'little' else '>f4', 'shape': shape, 'data': (address, False)}

    def __del__(self, functions=functions):
        functions.forget(self._address)


# Events, numbered as in cmd/internal/python.
SET_UP, RESHAPE, FORWARD, BACKWARD, CLOSE, POLL, ON_START, ON_GRADIENTS, RUN_HOOKS = range(9)

handlers = {}  # by event: functions of key, text and flags


@Event
def _event(op, key, text, flags, count, exception):
    """Handle an event. Set exception to 0, or to the key of an exception. Its value before, -1, stays if the handler of a signal raises before
    the first line."""
    try:
        handlers[op](key, text, flags[:count] if count else ())
        exception[0] = 0
    except BaseException as error:
        if _commands:  # nobody will raise it
            text = traceback.format_exception(type(error), error, error.__traceback__)
            sys.stderr.write(''.join(text[-1:] if isinstance(error, Misuse) else text))
        number = next(_keys)
        _raised[number] = error
        exception[0] = number
    if _forked:  # in a layer or callback; the engine's threads, to which this function would return, are in the parent
        sys.stderr.write('caffe: a forked process has left the layer or callback in which it began. It ends here\n')
        os._exit(1)


_signals = sorted(_signal.valid_signals()) if hasattr(_signal, 'valid_signals') else [_signal.SIGINT]


class Signals:
    """While the library calls Python in the main thread, signals wait for a place where their handlers may raise: between two iterations of
    a solver, or after a net's run. So Ctrl-C loses nothing. A second Ctrl-C raises KeyboardInterrupt at once."""
    __slots__ = ('handlers', 'pending')
    current = None

    def __enter__(self):
        self.handlers = {}
        self.pending = []
        if Signals.current is None and threading.current_thread() is threading.main_thread():
            Signals.current = self
            for number in _signals:
                handler = _signal.getsignal(number)
                if callable(handler):
                    self.handlers[number] = handler
                    _signal.signal(number, self.take)
        return self

    def take(self, number, frame):
        """Keep a signal for later."""
        if number == _signal.SIGINT and number in self.pending:
            raise KeyboardInterrupt
        self.pending.append(number)

    def handle(self):
        """Run the handlers of the signals so far. They may raise."""
        while self.pending:
            number = self.pending.pop(0)
            self.handlers[number](number, None)

    def __exit__(self, kind, error, trace):
        if Signals.current is self:
            Signals.current = None
            for number, handler in self.handlers.items():
                _signal.signal(number, handler)
        if kind is None:
            self.handle()


def _poll(key, text, flags):
    """Let Python run the handlers of signals."""
    if Signals.current is not None and threading.current_thread() is threading.main_thread():
        Signals.current.handle()


handlers[POLL] = _poll
