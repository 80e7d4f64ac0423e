"""The module caffe under the engine's name: swcaffe is caffe, swcaffe.io is caffe.io, and so on."""

import importlib
import importlib.abc
import importlib.util
import sys

import caffe


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds swcaffe.NAME as caffe.NAME."""

    def find_spec(self, name, path, target=None):
        if name.startswith('swcaffe.') and importlib.util.find_spec('caffe' + name[len('swcaffe'):]):
            return importlib.util.spec_from_loader(name, _Alias())
        return None

    def create_module(self, spec):
        module = importlib.import_module('caffe' + spec.name[len('swcaffe'):])
        self.own = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.own  # which the import system has replaced


sys.meta_path.insert(0, _Alias())
sys.modules[__name__] = caffe
