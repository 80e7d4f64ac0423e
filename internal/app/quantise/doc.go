// Package quantise makes nets for 8-bit integers (package cpe/kernel/quant) of trained ones: it folds batch normalisations into weights, measures the
// ranges of layers' inputs, chooses scales, corrects biases, and reports what rounding costs in each layer.
package quantise
