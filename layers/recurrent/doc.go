// Package recurrent has the layers that process sequences: RNN, LSTM, LSTMUnit, and the LSTM of the original SWCaffe.
//
// RNN and LSTM embed the type recurrent, and each implements its cell. recurrent.go has the weights and shapes, recurrent_passes.go the
// loops over time steps, recurrent_ops.go the matrix products. Caffe unrolls a net of layers; here the steps are parts of arrays.
package recurrent
