// Package onnxtest computes ONNX graphs, for tests.
//
// Run is its entry: plain loops in float64 over the operators that swcaffe writes and reads, written from ONNX's operator specification. It
// shares no code with swcaffe's layers, so that an exported net can be compared with the net. Speed does not matter here.
package onnxtest
