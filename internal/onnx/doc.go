// Package onnx reads, checks and writes ONNX files.
//
// The central type is Model: the message of a file and the name of the file. Read loads it with the tensors that it keeps in other files.
// Check holds a model against the rules of ONNX's own checker. Tensor converts the many encodings of constants to one. Package onnxpb has the
// messages, generated from onnx.proto. Package export writes nets of Caffe as models, and package intake reads models as such nets.
package onnx

//go:generate ./generate.sh
