// Package neuron has the layers that compute a function of single values: ReLU, PReLU, ELU, Sigmoid, TanH, Swish, AbsVal, Power, Exp, Log,
// BNLL, Clip and Threshold.
//
// All but PReLU are a neuronLayer (neuron.go) with a neuronRule: the function and its derivative, once by element for the MPE path, and
// once by tile, with vector instructions, for the CPE path.
package neuron
