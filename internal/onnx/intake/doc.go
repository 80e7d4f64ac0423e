// Package intake makes nets of Caffe, prototxt and weights, of ONNX models.
//
// Net is its entry. A model that package export wrote carries the net's prototxt. If exporting that net again, with the model's weights, gives
// the same graph, the net is exactly the one that was exported (recorded.go). Any other model is translated operator by operator
// (translate.go): constants are folded, reshapes, transposes and paddings wait for the node that reads them (value.go), and a rule for each operator
// (rules.go lists them) adds layers of Caffe (layer.go). Each new layer is set up at once, so that its type checks the parameters and gives
// the shapes of the tops.
package intake
