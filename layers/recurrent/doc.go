// Package recurrent has the layers that go along sequences: RNN, LSTM, LSTMUnit, and the LSTM of the original swCaffe.
//
// RNN and LSTM are cells of one mechanism, recurrent: recurrent.go has its weights and shapes, recurrent_passes.go the loops over the steps,
// recurrent_ops.go the products. Where Caffe unrolls a net of layers, steps here are parts of arrays.
package recurrent
