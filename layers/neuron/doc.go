// Package neuron has the layers that compute a function of single values: ReLU, PReLU, ELU, Sigmoid, TanH, Swish, AbsVal, Power, Exp, Log,
// BNLL, Clip and Threshold; and those of forks of Caffe: ReLU6, HardSigmoid, HardSwish, Mish and Noise.
//
// All but PReLU and Noise are a neuronLayer (neuron.go) with a neuronRule: the function and its derivative, once by element for the MPE path, and
// once by tile, with vector instructions, for the CPE path.
package neuron
