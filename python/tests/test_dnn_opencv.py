"""caffe.dnn beside OpenCV's cv2.dnn: the same files, the same values."""

import json
import os
import subprocess
import sys
import unittest

import numpy as np

import caffe
import caffe.dnn
import dnn_nets
from common import TIMEOUT, Case

try:
    import cv2
    missing = '' if hasattr(cv2.dnn, 'readNetFromCaffe') else 'cv2 %s reads no nets of Caffe (Debian: python3-opencv)' % cv2.__version__
except (ImportError, AttributeError) as absent:
    missing = 'needs OpenCV before version 5 (Debian: python3-opencv): %s' % absent

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'models')
ZOO = 'lenet cifar10_quick cifar10_full cifar10_full_sigmoid cifar10_full_sigmoid_bn cifar10_resnet8 cifar10_mobilenet_v2 mnist_autoencoder ' \
      'mnist_siamese hdf5_classification mobilenet_ssd'.split()


@unittest.skipIf(missing, missing)
class OpenCV(Case):
    def close(self, got, want, message=None):
        """Compare the arrays, or tuples of arrays, of ours and OpenCV's."""
        if isinstance(want, tuple):
            self.assertEqual((type(got), len(got)), (tuple, len(want)), message)
            for g, w in zip(got, want):
                self.close(g, w, message)
            return
        self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype), message)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * max(1, np.abs(want).max()), err_msg=str(message))

    def files(self, text, seed=1):
        """Write a net with random weights and return its two files."""
        prototxt, weights = self.write(text), os.path.join(self.dir, 'net.caffemodel')
        with caffe.Net(prototxt, caffe.TEST) as net:
            dnn_nets.fill(net, seed)
            net.save(weights)
        return prototxt, weights

    def pair(self, text):
        """Return ours and OpenCV's net of a prototxt with random weights."""
        files = self.files(text)
        return caffe.dnn.readNetFromCaffe(*files), cv2.dnn.readNetFromCaffe(*files)

    def same(self, ours, theirs):
        """Compare what is known of layers."""
        names = theirs.getLayerNames()
        self.assertEqual(ours.getLayerNames(), names)
        self.assertEqual(ours.getUnconnectedOutLayersNames(), theirs.getUnconnectedOutLayersNames())
        np.testing.assert_array_equal(ours.getUnconnectedOutLayers(), theirs.getUnconnectedOutLayers())
        self.assertEqual(ours.getUnconnectedOutLayers().dtype, theirs.getUnconnectedOutLayers().dtype)
        self.assertEqual(ours.getLayerTypes(), theirs.getLayerTypes())
        self.assertEqual((ours.empty(), theirs.empty()), (False, False))
        for name in ('_input', 'nothing') + names:
            self.assertEqual(ours.getLayerId(name), theirs.getLayerId(name), name)
        for number, name in enumerate(names, 1):
            a, b = ours.getLayer(number), theirs.getLayer(number)
            self.assertEqual((a.name, a.type), (b.name, b.type))
            self.assertEqual(ours.getLayer(name).name, name)
            if a.type != 'BatchNorm':  # whose blobs OpenCV rewrites
                self.close(a.blobs, tuple(b.blobs), name)
            self.assertEqual(ours.getLayersCount(a.type), theirs.getLayersCount(a.type))

    def blob(self, net, seed=2, batch=None):
        shape = net.net.blobs[net.net.inputs[0]].shape
        return np.random.RandomState(seed).randn(*((batch or shape[0],) + shape[1:])).astype(np.float32)

    def test_constants(self):
        for name in dir(caffe.dnn):
            if name.startswith('DNN_'):
                self.assertEqual(getattr(caffe.dnn, name), getattr(cv2.dnn, name), name)
        self.assertEqual((caffe.dnn.CV_8U, caffe.dnn.CV_32F), (cv2.CV_8U, cv2.CV_32F))

    def test_nets_of_scripts(self):
        for text in dnn_nets.FACES, dnn_nets.AGE, dnn_nets.POSE, dnn_nets.BRANCHES, dnn_nets.COLOUR:
            ours, theirs = self.pair(text)
            self.same(ours, theirs)
            for batch in 1, 2, 1:
                x = self.blob(ours, batch, batch)
                for net in ours, theirs:
                    net.setInput(x)
                self.close(ours.forward(), theirs.forward(), ours)
                self.close(ours.forward(ours.getUnconnectedOutLayersNames()), theirs.forward(theirs.getUnconnectedOutLayersNames()), ours)
                self.close(ours.forwardAndRetrieve(ours.getUnconnectedOutLayersNames()), theirs.forwardAndRetrieve(theirs.getUnconnectedOutLayersNames()), ours)
            self.assertEqual(ours.getPerfProfile()[1].shape, theirs.getPerfProfile()[1].shape)

    def test_zoo(self):
        """Nets of models/, and some of their hidden layers."""
        if not os.path.isdir(MODELS):
            self.skipTest('models/ is not here')
        for name in ZOO:
            with open(os.path.join(MODELS, name, 'deploy.prototxt')) as f:
                ours, theirs = self.pair(f.read())
            self.same(ours, theirs)
            x = self.blob(ours, batch=2)
            for net in ours, theirs:
                net.setInput(x)
            self.close(ours.forward(), theirs.forward(), name)
            theirs.enableFusion(False)  # with which a BatchNorm has the values of a Scale behind it
            names = ours.getLayerNames()
            for hidden in np.random.RandomState(3).choice(names, min(5, len(names)), False):
                self.close(ours.forward(str(hidden)), theirs.forward(str(hidden)), '%s, layer %s' % (name, hidden))

    def test_check_for_opencv(self):
        """check -check_for opencv names the layers that OpenCV refuses or computes otherwise, and no other."""
        paths = []
        for number, (kind, param, shapes) in enumerate(dnn_nets.LAYERS):
            paths.append(self.write(dnn_nets.single(kind, param, shapes), 'net%d.prototxt' % number))
        run = subprocess.run([sys.executable, '-m', 'caffe', 'check'] + paths + ['-check_for', 'opencv', '-json', '-'], stdout=subprocess.PIPE, text=True,
                             timeout=TIMEOUT, env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(caffe.__file__))))
        reports = json.loads(run.stdout)['files']
        self.assertEqual([r['file'] for r in reports], paths)
        for path, report, (kind, param, shapes) in zip(paths, reports, dnn_nets.LAYERS):
            with open(path) as f:
                prototxt, weights = self.files(f.read())
            ours = caffe.dnn.readNetFromCaffe(prototxt, weights)
            random = np.random.RandomState(1)
            inputs = {'x%d' % i: (0.1 + random.rand(*shape)).astype(np.float32) for i, shape in enumerate(shapes)}
            for name, values in inputs.items():
                ours.setInput(values, name)
            want = ours.forward('y')
            try:
                theirs = cv2.dnn.readNetFromCaffe(prototxt, weights)
                for name, values in inputs.items():
                    theirs.setInput(values, name)
                got = theirs.forward('y')
                same = got.shape == want.shape and np.allclose(got, want, rtol=1e-4, atol=1e-4)
            except cv2.error:
                same = False
            self.assertEqual(report['ok'], same, (kind, param, report['faults']))

    def test_hidden_layers(self):
        """A layer's values are its own, before layers that work in place; in any order, alone and together."""
        for text in dnn_nets.AGE, dnn_nets.POSE, dnn_nets.COLOUR:
            ours, theirs = self.pair(text)
            x = self.blob(ours)
            for net in ours, theirs:
                net.setInput(x)
            names = list(ours.getLayerNames())
            np.random.RandomState(4).shuffle(names)
            for name in names[:6]:
                self.close(ours.forward(name), theirs.forward(name), name)
            self.close(ours.forward(names), theirs.forward(names), names)
            self.close(ours.forward(), theirs.forward())
            self.close(ours.forward(outputName=names[0]), theirs.forward(outputName=names[0]))
            self.close(ours.forward(outBlobNames=names[:2]), theirs.forward(outBlobNames=names[:2]))
            self.close(ours.forward([]), theirs.forward([]))

    def test_names(self):
        """A Convolution is named by its top, layers of one name are numbered, in-place layers and Slice count."""
        text = '''input: "data" input_shape { dim: 1 dim: 4 dim: 5 dim: 6 }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv_out" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "twice" type: "ReLU" bottom: "conv_out" top: "conv_out" }
layer { name: "twice" type: "Sigmoid" bottom: "conv_out" top: "conv_out" }
layer { name: "slice" type: "Slice" bottom: "conv_out" top: "a" top: "b" }
layer { name: "a_split" type: "Split" bottom: "a" top: "a1" top: "a2" }
layer { name: "twice" type: "TanH" bottom: "a1" top: "t" }
layer { name: "sum" type: "Eltwise" bottom: "a2" bottom: "b" top: "sum" }
'''
        ours, theirs = self.pair(text)
        x = self.blob(ours)
        for net in ours, theirs:
            net.setInput(x)
        self.same(ours, theirs)
        self.assertEqual(ours.getLayerNames(), ('conv_out', 'twice', 'twice_1', 'slice', 'a_split', 'twice_2', 'sum'))
        self.close(ours.forward(ours.getLayerNames()), theirs.forward(theirs.getLayerNames()))
        self.close(ours.forwardAndRetrieve(['slice', 'sum']), theirs.forwardAndRetrieve(['slice', 'sum']))
        self.close(ours.forward('conv'), theirs.forward('conv_out'))  # the prototxt's name does, too

    def test_sources(self):
        """Nets from paths and from buffers, by either function."""
        prototxt, weights = self.files(dnn_nets.AGE)
        a, b = np.fromfile(prototxt, np.uint8), np.fromfile(weights, np.uint8)
        x = self.blob(caffe.dnn.readNetFromCaffe(prototxt, weights))
        theirs = cv2.dnn.readNetFromCaffe(prototxt, weights)
        theirs.setInput(x)
        want = theirs.forward()
        for read in (lambda m: m.readNetFromCaffe(a, b), lambda m: m.readNetFromCaffe(a.tobytes(), b.tobytes()), lambda m: m.readNetFromCaffe(bytearray(a), bytearray(b)),
                     lambda m: m.readNetFromCaffe(bufferProto=a, bufferModel=b), lambda m: m.readNetFromCaffe(prototxt=prototxt, caffeModel=weights),
                     lambda m: m.readNet(weights, prototxt), lambda m: m.readNet(prototxt, weights), lambda m: m.readNet('caffe', b, a)):
            for module in caffe.dnn, cv2.dnn:
                net = read(module)
                net.setInput(x)
                self.close(net.forward(), want)

    def test_inputs(self):
        """Types, mean and factor of setInput, and other sizes."""
        ours, theirs = self.pair(dnn_nets.POSE)
        random = np.random.RandomState(5)
        for k in range(30):
            shape = (random.randint(1, 3), 3, random.randint(8, 40), random.randint(8, 40))
            x = random.randint(0, 256, shape).astype([np.uint8, np.float32, np.int32, np.float64][k % 4])
            more = [(), ('image',), ('', 1 / 255.), ('', 0.017, (103.94, 116.78, 123.68)), ('image', 2.0, 5)][k % 5]
            for net in ours, theirs:
                net.setInput(x, *more)
            self.close(ours.forward(), theirs.forward(), (shape, x.dtype, more))

    def test_faults(self):
        """What OpenCV refuses is refused."""
        ours, theirs = self.pair(dnn_nets.POSE)
        for net in ours, theirs:
            for refused in (lambda: net.forward(), lambda: net.setInput(np.ones((1, 3, 8, 8), np.float32), 'nothing'), lambda: net.setInput(np.ones((3, 8, 8), np.float32)),
                            lambda: net.getLayer('nothing'), lambda: net.getLayer(99), lambda: net.forwardAsync()):
                self.assertRaises(Exception, refused)
            net.setInput(np.ones((1, 3, 8, 8), np.float32))
            net.forward()
            for refused in lambda: net.forward('nothing'), lambda: net.forward(['conv1', 'nothing']), lambda: net.getParam('conv1', 7):
                self.assertRaises(Exception, refused)
        self.assertEqual((caffe.dnn.Net().empty(), cv2.dnn.Net().empty()), (True, True))
        self.assertEqual((caffe.dnn.Net().getLayerNames(), cv2.dnn.Net().getLayerNames()), ((), ()))

    def test_faces(self):
        """The loop of OpenCV's sample for faces, with detections and without."""
        ours, theirs = self.pair(dnn_nets.FACES)
        random = np.random.RandomState(6)
        seen = set()
        for k in range(6):
            image = random.randint(0, 256, (90, 120, 3)).astype(np.uint8)
            results = []
            for module, net in (caffe.dnn, ours), (cv2.dnn, theirs):
                net.setInput(module.blobFromImage(image, 0.02 / (k + 1), (64, 48), (104, 177, 123), swapRB=False, crop=False))
                results.append(net.forward())
            self.close(*results)
            seen.add(int((results[1][0, 0, :, 2] > 0).sum()))
        self.assertGreater(len(seen), 1)
        quiet = self.pair(dnn_nets.FACES.replace('confidence_threshold: 0.6', 'confidence_threshold: 1.5'))
        for net in quiet:
            net.setInput(self.blob(ours))
        self.close(quiet[0].forward(), quiet[1].forward(), 'no detections')

    def test_colour(self):
        """A script sets the weights of two layers, of one in another shape."""
        ours, theirs = self.pair(dnn_nets.COLOUR)
        points = np.random.RandomState(7).randn(2, 7, 1, 1).astype(np.float32)
        x = self.blob(ours)
        for net in ours, theirs:
            layer = net.getLayer(net.getLayerId('class8_ab'))
            layer.blobs = [points, np.zeros((2, 1), np.float32)]
            net.getLayer(net.getLayerId('conv8_313_rh')).blobs = [np.full([1, 7], 2.606, np.float32)]
            net.setParam(net.getLayerId('conv1'), 1, np.ones((8, 1), np.float32))
            net.setInput(x)
        self.close(ours.forward('class8_ab'), theirs.forward('class8_ab'))
        self.close(ours.getParam('class8_ab'), theirs.getParam(theirs.getLayerId('class8_ab')))

    def test_blob_from_image(self):
        """Random images with all options: types, channels, sizes, means, factors, orders, crops and depths."""
        random = np.random.RandomState(8)
        for k in range(600):
            height, width = random.randint(1, 60, 2)
            channels = random.choice([0, 1, 3, 4])
            image = random.randint(0, 256, (height, width) + ((channels,) if channels else ())).astype(np.uint8)
            if k % 4 == 0:
                image = (image - 100 * random.rand()).astype(np.float32)
            if k % 7 == 0:
                image = image[::-1, ::-1]
            size = [(0, 0), (max(1, width // 2), max(1, height // 2)), (width, height + 3), tuple(int(n) for n in random.randint(1, 70, 2))][random.randint(4)]
            options = dict(scalefactor=float(random.choice([1, 1 / 255, 0.007843, 2.5])), size=size, swapRB=bool(random.randint(2)), crop=bool(random.randint(2)),
                           mean=[(), (104, 117, 123), (1, 2, 3, 4), 5.5, np.array([104.00698793, 116.66876762, 122.67891434])][random.randint(5)])
            if k % 5 == 1:
                options.update(scalefactor=1.0, mean=(), ddepth=cv2.CV_8U)
            results = []
            for module in caffe.dnn, cv2.dnn:
                try:
                    results.append(module.blobFromImage(image.copy(), **options))  # OpenCV may write to an image of floats
                except Exception:
                    results.append(None)
            message = (image.shape, image.dtype, options)
            if results[1] is None:
                self.assertIsNone(results[0], message)
                continue
            self.assertIsNotNone(results[0], message)
            self.assertEqual((results[0].shape, results[0].dtype), (results[1].shape, results[1].dtype), message)
            tolerance = 0 if image.dtype == np.uint8 and options['scalefactor'] == 1 else 2e-6 * np.abs(results[1]).max()
            np.testing.assert_allclose(results[0], results[1], rtol=1e-6, atol=tolerance, err_msg=str(message))

    def test_blob_from_images(self):
        random = np.random.RandomState(9)
        images = [random.randint(0, 256, (h, w, 3)).astype(np.uint8) for h, w in ((9, 11), (5, 30), (20, 7))]
        for given in images, images[:1], tuple(images), np.stack([images[0]] * 2), [images[0][:, :, 0]] * 2:
            for size in (0, 0), (8, 6):
                want = cv2.dnn.blobFromImages(given, 0.5, size, (1, 2, 3), True, True)
                self.close(caffe.dnn.blobFromImages(given, 0.5, size, (1, 2, 3), True, True), want)
                self.close(caffe.dnn.imagesFromBlob(want), cv2.dnn.imagesFromBlob(want))

    def test_boxes(self):
        """Random boxes, some without area, with equal scores, eta and top_k."""
        random = np.random.RandomState(10)
        for k in range(500):
            n = random.randint(0, 30)
            boxes = random.randint(-3, 30, (n, 4)) if k % 2 else random.rand(n, 4) * 20
            scores = random.rand(n) if k % 3 else np.round(random.rand(n), 1)
            args = boxes.tolist(), scores.tolist(), float(random.rand() / 2), float(random.rand()), float(random.choice([1, 0.9, 0.5])), int(random.choice([0, 3, 5]))
            want, got = cv2.dnn.NMSBoxes(*args), caffe.dnn.NMSBoxes(*args)
            self.assertEqual(type(got), type(want))
            np.testing.assert_array_equal(got, want, str(args))

    def test_models(self):
        files = self.files(dnn_nets.AGE)
        image = np.random.RandomState(11).randint(0, 256, (60, 80, 3)).astype(np.uint8)
        for params in {}, dict(scale=1 / 255., size=(35, 35)), dict(scale=0.01, size=(35, 35), mean=(100, 110, 120), swapRB=True, crop=True):
            results = []
            for module in caffe.dnn, cv2.dnn:
                for arguments in files[::-1], (module.readNetFromCaffe(*files),):
                    model = module.ClassificationModel(*arguments)
                    if params:
                        model.setInputParams(**params)
                    softmax = module.ClassificationModel(*arguments)
                    softmax.setInputSize((35, 35))
                    softmax.setInputScale(0.01)
                    softmax.setEnableSoftmaxPostProcessing(True)
                    results.append((model.classify(image), softmax.classify(image), model.predict(image)))
            for got in results[:2]:
                for (a, b), (c, d) in zip(got[:2], results[2][:2]):
                    self.assertEqual((a, type(a), type(b)), (c, type(c), type(d)))
                    self.assertAlmostEqual(b, d, places=5)
                self.close(got[2], results[2][2])

    def test_detection_model(self):
        files = self.files(dnn_nets.FACES)
        random = np.random.RandomState(12)
        count = 0
        for k in range(12):
            image = random.randint(0, 256, (random.randint(20, 90), random.randint(20, 120), 3)).astype(np.uint8)
            arguments = [(), (0.6,), (0.5, 0.2), (0.99999, 0.4)][k % 4]
            results = []
            for module in caffe.dnn, cv2.dnn:
                model = module.DetectionModel(files[1], files[0])
                model.setInputParams(0.02, (64, 48), (104, 177, 123))
                model.setNmsAcrossClasses(k % 3 == 0)
                results.append(model.detect(image, *arguments))
            for got, want in zip(*results):
                self.assertEqual((type(got), len(got)), (type(want), len(want)))
                if len(want):
                    self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
                    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
            count += len(results[1][0])
        self.assertGreater(count, 20)

    def test_onnx(self):
        """An ONNX file, by path and from a buffer: the outputs of OpenCV's reader."""
        for text in dnn_nets.AGE, dnn_nets.POSE:
            prototxt, weights = self.files(text)
            model = os.path.join(self.dir, 'net.onnx')
            self.assertEqual(caffe._library.main(['export_onnx', '-model', prototxt, '-weights', weights, '-o', model]), 0)
            theirs = cv2.dnn.readNetFromONNX(model)
            for source in model, np.fromfile(model, np.uint8):
                ours = caffe.dnn.readNetFromONNX(source)
                x = self.blob(ours)
                for net in ours, theirs:
                    net.setInput(x)
                self.close(ours.forward(), theirs.forward())

    SCRIPT = '''
import cv2, numpy as np
%s
image = cv2.imread('image.png')
(h, w) = image.shape[:2]
net = cv2.dnn.readNetFromCaffe('net.prototxt', 'net.caffemodel')
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setPreferableTarget(cv2.dnn.DNN_TARGET_CPU)
blob = cv2.dnn.blobFromImage(cv2.resize(image, (64, 48)), 0.02, (64, 48), (104.0, 177.0, 123.0))
net.setInput(blob)
detections = net.forward()
t, _ = net.getPerfProfile()
assert t * 1000.0 / cv2.getTickFrequency() > 0
for i in range(0, detections.shape[2]):
    confidence = detections[0, 0, i, 2]
    if confidence > 0.7:
        box = detections[0, 0, i, 3:7] * np.array([w, h, w, h])
        (startX, startY, endX, endY) = (box + 0.5).astype("int")
        print(i, "{:.2f}%%".format(confidence * 100), startX, startY, endX, endY)
model = cv2.dnn_DetectionModel('net.caffemodel', 'net.prototxt')
model.setInputParams(size=(64, 48), mean=(104, 177, 123), scale=0.02)
classes, confidences, boxes = model.detect(image, confThreshold=0.7)
for c, p, (x, y, width, height) in zip(classes.flatten(), confidences.flatten(), boxes):
    print(c, "%%.3f" %% p, x, y, width, height)
print([net.getLayerNames()[i - 1] for i in net.getUnconnectedOutLayers()], type(net).__module__)
'''

    def test_install(self):
        """A script prints the same with the line that installs."""
        self.files(dnn_nets.FACES)
        cv2.imwrite(os.path.join(self.dir, 'image.png'), np.random.RandomState(13).randint(0, 256, (70, 90, 3)).astype(np.uint8))
        printed = []
        for line in '', 'import caffe.dnn; caffe.dnn.install()':
            run = subprocess.run([sys.executable, '-c', self.SCRIPT % line], capture_output=True, text=True, timeout=TIMEOUT, cwd=self.dir,
                                 env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(caffe.__file__))))
            self.assertEqual(run.returncode, 0, run.stderr)
            printed.append(run.stdout.splitlines())
        self.assertGreater(len(printed[0]), 10)
        self.assertEqual(printed[1][:-1], printed[0][:-1])
        self.assertEqual([p[-1].split()[-1] for p in printed], ['cv2.dnn', 'caffe.dnn._net'])


if __name__ == '__main__':
    unittest.main()
