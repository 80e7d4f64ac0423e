"""Puts this module in cv2.dnn's place."""

import importlib
import sys

_REPLACED = 'readNetFromCaffe', 'readNet', 'Model', 'ClassificationModel', 'DetectionModel'


def install():
    """Let cv2.dnn read nets of Caffe with this engine, and return cv2.dnn.

    readNetFromCaffe, and for Caffe's files readNet and the models, are this module's. For other files and nets readNet and the models
    stay OpenCV's, if it has them. Whatever else cv2.dnn has, such as blobFromImage, stays, and what it lacks is added. If cv2 has no dnn,
    this module becomes cv2.dnn. A second call changes nothing.

    ImportError: there is no cv2.
    """
    cv2 = importlib.import_module('cv2')
    dnn = importlib.import_module('caffe.dnn')
    theirs = getattr(cv2, 'dnn', None)
    if theirs is None:
        cv2.dnn = sys.modules['cv2.dnn'] = theirs = dnn
    if theirs is not dnn and getattr(theirs, 'readNetFromCaffe', None) is not dnn.readNetFromCaffe:
        for name in dir(dnn):
            if not name.startswith('_') and name != 'install' and not hasattr(theirs, name):
                setattr(theirs, name, getattr(dnn, name))
        theirs.readNetFromCaffe = dnn.readNetFromCaffe
        theirs.readNet = _choose(theirs.readNet, dnn.readNet, dnn)
        for name in _REPLACED[2:]:
            setattr(theirs, name, _choose(getattr(theirs, name), getattr(dnn, name), dnn))
    for name in _REPLACED[2:]:
        setattr(cv2, 'dnn_' + name, getattr(theirs, name))
    return theirs


def _choose(theirs, ours, dnn):
    """Return a function that passes its arguments on: those that are Caffe's to ours, others to theirs."""
    if theirs is ours:
        return ours

    def chosen(model, config='', *rest, **named):
        framework = rest[0] if rest else named.get('framework', '')
        if isinstance(model, dnn.Net) or isinstance(model, str) and model == 'caffe' or dnn._kind(model, config, framework):
            return ours(model, config, *rest, **named)
        arguments = (config,) if not isinstance(config, str) or config else ()
        return theirs(model, *arguments, *rest, **named)

    chosen.__name__, chosen.__doc__ = ours.__name__, ours.__doc__
    return chosen
