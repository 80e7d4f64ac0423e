"""caffe.dnn without OpenCV: values by hand, faults, and install."""

import os
import subprocess
import sys
import unittest
import warnings

import numpy as np

import caffe
import caffe.dnn
import dnn_nets
from caffe import _caffe
from common import TIMEOUT, Case

DOUBLE = '''input: "data" input_shape { dim: 1 dim: 2 dim: 1 dim: 3 }
layer { name: "conv" type: "Convolution" bottom: "data" top: "twice"
  convolution_param { num_output: 1 kernel_size: 1 weight_filler { type: "constant" value: 2 } bias_filler { type: "constant" value: -10 } } }
layer { name: "relu" type: "ReLU" bottom: "twice" top: "twice" }
layer { name: "sum" type: "InnerProduct" bottom: "twice" top: "sum" inner_product_param { num_output: 1 weight_filler { type: "constant" value: 1 } } }
'''


class DNN(Case):
    def net(self, text=DOUBLE):
        return caffe.dnn.readNetFromCaffe(text.encode())

    def python(self, code):
        run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=TIMEOUT, cwd=self.dir,
                             env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(caffe.__file__))))
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_forward(self):
        net = self.net()
        net.setInput(np.arange(6, dtype=np.uint8).reshape(1, 2, 1, 3))
        self.assertEqual(net.forward().tolist(), [[4]])
        self.assertEqual(net.forward('twice').tolist(), [[[[-4, 0, 4]]]])  # the Convolution's own values, before the ReLU
        both = net.forward(['relu', 'twice'])
        self.assertEqual([b.tolist() for b in both], [[[[[0, 0, 4]]]], [[[[-4, 0, 4]]]]])
        both[0][...] = 7  # a copy
        self.assertEqual(net.forward('relu').tolist(), [[[[0, 0, 4]]]])
        net.setInput(np.arange(6).reshape(1, 2, 1, 3), 'data', 10.0, (0, 3))
        self.assertEqual(net.forward('twice').tolist(), [[[[-10, 30, 70]]]])
        self.assertEqual(net.getLayerNames(), ('twice', 'relu', 'sum'))
        self.assertEqual([net.getLayerId(n) for n in ('_input', 'twice', 'conv', 'sum', 'none')], [0, 1, 1, 3, -1])
        net.setInput(np.ones((1, 2, 2, 5), np.float32))
        self.assertEqual(net.forward('relu').shape, (1, 1, 2, 5))  # which the InnerProduct cannot take
        self.assertRaisesRegex(RuntimeError, 'sum', net.forward)

    def test_profile(self):
        net = self.net(dnn_nets.POSE)
        self.assertEqual(net.getPerfProfile()[0], 0)
        net.setInput(np.ones((1, 3, 24, 32), np.float32))
        for names in '', ['conv1', 'net_output']:
            net.forward(names)
            total, timings = net.getPerfProfile()
            self.assertEqual((type(total), timings.dtype, len(timings)), (int, np.float64, len(net.getLayerNames())))
            self.assertGreater(timings[net.getLayerId('conv1') - 1], 0)
            self.assertGreater(timings[net.getLayerId('stage2_L1') - 1], 0)
            self.assertEqual(total, int(timings.sum()))
        net.forward('conv1')
        self.assertEqual(np.count_nonzero(net.getPerfProfile()[1]), 1)

    def test_faults(self):
        net = self.net()
        self.assertRaisesRegex(RuntimeError, 'setInput has not set the input data', net.forward)
        for blob, name in (np.ones((2, 1, 3)), ''), (np.ones((1, 2, 1, 3)), 'other'), (None, ''), (np.array([['a']]), ''), (np.zeros((0, 2, 1, 3)), ''):
            self.assertRaises(ValueError, net.setInput, blob, name)
        self.assertRaisesRegex(ValueError, 'at most 4', net.setInput, np.ones((1, 2, 1, 3)), mean=(1, 2, 3, 4, 5))
        self.assertRaisesRegex(ValueError, 'up to 4 channels', net.setInput, np.ones((1, 5, 1, 3)), mean=1)
        net.setInput(np.ones((1, 2, 1, 3)))
        self.assertRaisesRegex(ValueError, 'no layer .none.: its layers are _input, twice, relu, sum', net.forward, 'none')
        self.assertRaisesRegex(ValueError, '_input', net.forward, '_input')
        self.assertRaisesRegex(RuntimeError, 'ThreadPoolExecutor', net.forwardAsync)
        self.assertRaises(NotImplementedError, net.setInputsNames, ['x'])
        self.assertRaisesRegex(RuntimeError, 'empty', caffe.dnn.Net().forward)
        self.assertRaisesRegex(ValueError, 'has 2 blobs, 1 are given', setattr, net.getLayer(1), 'blobs', [np.ones(2)])
        self.assertRaisesRegex(ValueError, r'shape \(3,\), given for one of shape \(1, 2, 1, 1\)', setattr, net.getLayer(1), 'blobs', [np.ones(3), np.ones(1)])
        self.assertRaisesRegex(RuntimeError, r'the buffer of the prototxt:2:.*kernel', self.net, DOUBLE.replace('\nlayer', '\nlayer { kernel: 3 }\nlayer', 1))
        self.assertRaisesRegex(RuntimeError, 'the buffer of the caffemodel', caffe.dnn.readNetFromCaffe, DOUBLE.encode(), b'nonsense')
        self.assertRaisesRegex(RuntimeError, 'nowhere.prototxt', caffe.dnn.readNetFromCaffe, 'nowhere.prototxt')
        self.assertRaises(TypeError, caffe.dnn.readNetFromCaffe, np.zeros(8, np.float32))
        for arguments in ('net.pb', 'net.pbtxt'), ('net.foo', '', 'tensorflow'):
            self.assertRaisesRegex(ValueError, 'none of Caffe', caffe.dnn.readNet, *arguments)
        self.assertRaisesRegex(RuntimeError, 'nowhere.onnx', caffe.dnn.readNetFromONNX, 'nowhere.onnx')
        self.assertRaisesRegex(RuntimeError, 'nowhere.onnx', caffe.dnn.readNet, 'nowhere.onnx')
        self.assertRaisesRegex(RuntimeError, 'model.onnx', caffe.dnn.readNetFromONNX, b'nonsense')
        self.assertRaises(ValueError, caffe.dnn.readNetFromONNX, b'')
        for arguments in (), (b'',), ('',), (None, b''):
            self.assertRaises((ValueError, RuntimeError), caffe.dnn.readNetFromCaffe, *arguments)

    def test_preferable(self):
        net = self.net()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter('always')
            _caffe._warned.clear()
            for _ in range(2):
                net.setPreferableBackend(caffe.dnn.DNN_BACKEND_OPENCV)
                net.setPreferableTarget(caffe.dnn.DNN_TARGET_CPU)
                net.setPreferableBackend(caffe.dnn.DNN_BACKEND_CUDA)
                net.setPreferableTarget(caffe.dnn.DNN_TARGET_CUDA)
                net.enableFusion(False)
        self.assertEqual([str(w.message).split(' has')[0] for w in seen], ['setPreferableBackend(5)', 'setPreferableTarget(6)'])

    def test_images(self):
        image = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
        blob = caffe.dnn.blobFromImage(image, 2, mean=(1, 2, 3), swapRB=True)
        self.assertEqual((blob.shape, blob.dtype), ((1, 3, 2, 3), np.float32))
        self.assertEqual(blob[0, :, 0, 0].tolist(), [2, -2, -6])
        self.assertEqual(caffe.dnn.blobFromImage(image, size=(1, 2), ddepth=0).tolist(), [[[[3], [12]], [[4], [13]], [[5], [14]]]])
        self.assertEqual(caffe.dnn.blobFromImage(image[:, :, 0], 1, (2, 1), crop=True).tolist(), [[[[3, 7]]]])
        floats = image.astype(np.float32)
        caffe.dnn.blobFromImage(floats, 5, mean=9)
        np.testing.assert_array_equal(floats, image)  # the image stays as it is
        back, = caffe.dnn.imagesFromBlob(caffe.dnn.blobFromImage(image))
        np.testing.assert_array_equal(back, image)
        self.assertEqual(caffe.dnn.imagesFromBlob(blob[:, :1])[0].shape, (2, 3))
        for wrong in None, [image], image.astype(np.float64), image > 3:
            self.assertRaises(TypeError, caffe.dnn.blobFromImage, wrong)
        for wrong in image[:0], image[:, :, :2], image[np.newaxis], image[0, 0]:
            self.assertRaises(ValueError, caffe.dnn.blobFromImage, wrong)
        self.assertRaises(TypeError, caffe.dnn.blobFromImage, floats, ddepth=0)
        for options in dict(ddepth=6), dict(ddepth=0, mean=1), dict(ddepth=0, scalefactor=2), dict(size=(0, 3)), dict(size=(-1, 3)):
            self.assertRaises(ValueError, caffe.dnn.blobFromImage, image, **options)
        for size in (3,), 3, (2.5, 3), 'ab':
            self.assertRaises(TypeError, caffe.dnn.blobFromImage, image, size=size)
        self.assertRaises(ValueError, caffe.dnn.blobFromImages, [])
        self.assertRaises(ValueError, caffe.dnn.blobFromImages, [image, image[:, :, 0]])
        for wrong in np.zeros((3, 4, 5), np.float32), np.zeros((1, 3, 4, 5)):
            self.assertRaises(ValueError, caffe.dnn.imagesFromBlob, wrong)

    def test_boxes(self):
        boxes = [[0, 0, 10, 10], [1, 1, 10, 10], [50, 50, 5, 5]]
        kept = caffe.dnn.NMSBoxes(boxes, [0.7, 0.9, 0.8], 0.5, 0.4)
        self.assertEqual((kept.tolist(), kept.dtype), ([1, 2], np.int32))
        self.assertEqual(caffe.dnn.NMSBoxes(boxes, [0.7, 0.9, 0.8], 0.9, 0.4), ())
        self.assertEqual(caffe.dnn.NMSBoxes([], [], 0.5, 0.4), ())
        self.assertEqual(caffe.dnn.NMSBoxes(boxes, [0.7, 0.9, 0.8], 0.5, 0.4, top_k=1).tolist(), [1])
        for wrong in (boxes, [1, 2], 0.5, 0.4), (boxes, [1, 2, 3], -1, 0.4), (boxes, [1, 2, 3], 0.5, -1), (boxes, [1, 2, 3], 0.5, 0.5, 0):
            self.assertRaises(ValueError, caffe.dnn.NMSBoxes, *wrong)
        self.assertRaises(TypeError, caffe.dnn.NMSBoxes, [[1, 2, 3]], [1], 0.5, 0.4)

    def test_models(self):
        prototxt = self.write(dnn_nets.AGE)
        image = np.zeros((50, 60, 3), np.uint8)
        model = caffe.dnn.ClassificationModel(prototxt)
        self.assertEqual([p.shape for p in model.predict(image)], [(1, 8)])  # the prototxt's size
        model = caffe.dnn.ClassificationModel(caffe.dnn.readNet(prototxt)).setInputSize(35, 35).setInputScale(0.5).setInputMean((1, 2, 3)).setInputSwapRB(True)
        self.assertEqual(len(model.setInputCrop(True).classify(image)), 2)
        model.setInputParams(0.5)
        self.assertRaisesRegex(ValueError, 'setInputSize', model.classify, image)
        self.assertRaisesRegex(NotImplementedError, r"'prob' \(Softmax\)", caffe.dnn.DetectionModel(prototxt).detect, image)
        self.assertRaisesRegex(ValueError, 'one output', caffe.dnn.ClassificationModel(self.net(dnn_nets.BRANCHES)).classify, image)

    SCRIPT = '''
import sys
sys.path.insert(0, '.')
import caffe.dnn
dnn = caffe.dnn.install()
import cv2
assert cv2.dnn is dnn and caffe.dnn.install() is dnn
import numpy as np
net = cv2.dnn.readNetFromCaffe('net.prototxt')
net.setInput(cv2.dnn.blobFromImage(np.zeros((1, 3, 3), np.uint8))[:, :2])
assert net.forward().tolist() == [[0]], net.forward()
assert isinstance(cv2.dnn.readNet('net.prototxt'), caffe.dnn.Net)
model = cv2.dnn_ClassificationModel(net)
assert isinstance(model, caffe.dnn.ClassificationModel)
%s
print('fine')
'''

    def test_install_newer(self):
        """A cv2.dnn whose readNetFromCaffe does nothing keeps its other functions."""
        self.write(DOUBLE)
        os.mkdir(os.path.join(self.dir, 'cv2'))
        self.write('from . import dnn', 'cv2/__init__.py')
        self.write('''import caffe.dnn
def readNetFromCaffe(prototxt): raise NotImplementedError
def readNet(model, config='', framework=''): return 'theirs', model, config, framework
class Model:
    def __init__(self, *arguments): self.arguments = arguments
class ClassificationModel(Model): pass
class DetectionModel(Model): pass
def blobFromImage(image): return caffe.dnn.blobFromImage(image)
own = blobFromImage
''', 'cv2/dnn.py')
        code = self.SCRIPT % '''
assert cv2.dnn.blobFromImage is cv2.dnn.own and cv2.dnn.NMSBoxes is caffe.dnn.NMSBoxes
assert cv2.dnn.readNet('a.onnx') == ('theirs', 'a.onnx', '', ''), cv2.dnn.readNet('a.onnx')
assert cv2.dnn.readNet('a.pb', 'a.pbtxt', 'tensorflow') == ('theirs', 'a.pb', 'a.pbtxt', 'tensorflow')
assert cv2.dnn_DetectionModel('a.weights', 'a.cfg').arguments == ('a.weights', 'a.cfg')
'''
        self.assertEqual(self.python(code), 'fine\n')

    def test_install_without_dnn(self):
        self.write(DOUBLE)
        self.write('', 'cv2.py')
        self.assertEqual(self.python(self.SCRIPT % 'import cv2.dnn\nassert cv2.dnn is caffe.dnn'), 'fine\n')

    def test_install_without_cv2(self):
        code = '''
import sys
sys.modules['cv2'] = None
import caffe.dnn
try:
    caffe.dnn.install()
except ImportError as absent:
    print('fine')'''
        self.assertEqual(self.python(code), 'fine\n')


if __name__ == '__main__':
    unittest.main()
