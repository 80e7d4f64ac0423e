// Package export writes a net of Caffe as an ONNX model that computes what the net computes in phase TEST.
//
// Net is its entry. It walks over the layers of a built net and calls each type's rule (rules.go), which makes one node, or several where ONNX
// has no operator of that kind. A rule works on a layer (layer.go): its parameters, its weights, and the values and shapes of its blobs.
// Files vision.go, pool.go, resize.go, region.go, neuron.go, norm.go, axes.go, sort.go, forks.go and recurrent.go hold the rules; fold.go
// multiplies BatchNorm and Scale layers into the weights before them.
//
// Names. A blob's last value keeps the blob's name. A value that a layer overwrites in place is named BLOB@LAYER, after the layer that wrote
// it, because ONNX gives each value a name of its own. A graph input keeps its name in any case. Weight i of a layer is LAYER[i]. The node that
// writes a layer's top has the layer's name; other nodes of the layer are LAYER/OPERATOR.
//
// Batch. The graph is made for two batch sizes. Axes whose extents differ become the axis "N"; if the two graphs are not equal, some layer
// depends on the batch size, and the model keeps the size of the prototxt.
package export
