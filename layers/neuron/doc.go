// Package neuron has the layers that compute a function of single values: ReLU, PReLU, ELU, Sigmoid, TanH, Swish, AbsVal, Power, Exp, Log,
// BNLL, Clip and Threshold.
//
// All but PReLU are one mechanism, neuronLayer (neuron.go), and a neuronRule each, which gives the function and its derivative twice: by
// element for the MPE path, by tile, on vectors, for the CPE path.
package neuron
