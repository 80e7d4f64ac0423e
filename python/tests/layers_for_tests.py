"""Python layers that test_python_layer.py and test_main.py name in prototxts."""

import numpy as np

import caffe


class TenTimes(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].data.shape)

    def forward(self, bottom, top):
        top[0].data[...] = 10 * bottom[0].data

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = 10 * top[0].diff


class Squares(caffe.Layer):
    """EuclideanLoss: the sum of squared differences / (2 * items)."""

    def setup(self, bottom, top):
        if len(bottom) != 2:
            raise Exception('two bottoms are needed')

    def reshape(self, bottom, top):
        if bottom[0].count != bottom[1].count:
            raise Exception('the bottoms need equal counts')
        self.diff = np.zeros(bottom[0].shape, np.float32)
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.diff[...] = bottom[0].data - bottom[1].data
        top[0].data[...] = np.sum(self.diff ** 2) / bottom[0].num / 2

    def backward(self, top, propagate_down, bottom):
        for i, sign in (0, 1), (1, -1):
            if propagate_down[i]:
                bottom[i].diff[...] = sign * top[0].diff[0] * self.diff / bottom[i].num


class OwnSquares(Squares):
    """Squares whose backward takes no notice of the loss weight in top[0].diff, as in Caffe's example of a loss layer."""

    def backward(self, top, propagate_down, bottom):
        for i, sign in (0, 1), (1, -1):
            if propagate_down[i]:
                bottom[i].diff[...] = sign * self.diff / bottom[i].num


class Scaled(caffe.Layer):
    """y = w * x with a weight per column, and a decay of param_str."""

    def setup(self, bottom, top):
        self.blobs.add_blob(bottom[0].shape[1])
        self.blobs[0].data[...] = float(self.param_str)

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = self.blobs[0].data * bottom[0].data

    def backward(self, top, propagate_down, bottom):
        self.blobs[0].diff[...] += (top[0].diff * bottom[0].data).sum(0)
        bottom[0].diff[...] = self.blobs[0].data * top[0].diff


class Facts(caffe.Layer):
    """The phase, for a test of what a layer knows of itself."""

    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape()

    def forward(self, bottom, top):
        top[0].data[()] = self.phase


class Counts(caffe.Layer):
    """A data layer: 0 1 2, 3 4 5, ..."""

    def setup(self, bottom, top):
        self.next = 0
        top[0].reshape(3)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        top[0].data[...] = range(self.next, self.next + 3)
        self.next += 3

    def backward(self, top, propagate_down, bottom):
        pass


class Best(caffe.Layer):
    """The positions with the largest values, as many as param_str says for the phase, as regions (0, x, y, x, y). Its tops get their shapes in
    forward, as those of Faster R-CNN's proposal layer do."""

    def setup(self, bottom, top):
        self.counts = eval(self.param_str_)
        top[0].reshape(1, 5)
        top[1].reshape(1, 1, 1, 1)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        values = bottom[0].data[0, -1]
        order = values.ravel().argsort()[::-1][:self.counts[str(self.phase)]]
        y, x = np.unravel_index(order, values.shape)
        regions = np.stack([0 * x, x, y, x, y], 1)
        top[0].reshape(*regions.shape)
        top[0].data[...] = regions
        top[1].reshape(len(order), 1)
        top[1].data[...] = values.ravel()[order, np.newaxis]

    def backward(self, top, propagate_down, bottom):
        pass


class Rebalance(caffe.Layer):
    """Copies its first bottom, and multiplies the gradient by its second one, with broadcasting."""

    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].data.shape)

    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data[...]

    def backward(self, top, propagate_down, bottom):
        for i in range(len(bottom)):
            if propagate_down[i]:
                bottom[0].diff[...] = top[0].diff[...] * bottom[1].data[...]


class Fails(caffe.Layer):
    """Raises in the method that param_str names."""

    def check(self, name):
        if name == self.param_str:
            raise LookupError('in ' + name)

    def setup(self, bottom, top):
        self.check('setup')

    def reshape(self, bottom, top):
        self.check('reshape')
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        self.check('forward')
        if self.param_str == 'wrong shape':
            top[0].data[...] = np.zeros(17)
        if self.param_str == 'wrong type':
            top[0].data[...] = 'text'
        if self.param_str == 'wrong reshape':
            top[0].reshape(-3)

    def backward(self, top, propagate_down, bottom):
        self.check('backward')


class Bare(caffe.Layer):
    def setup(self, bottom, top):
        pass


class NoLayer:
    pass
