// Package loss has the layers that judge a net's results: the losses, Softmax, which is part of one, and Accuracy.
//
// Losses over labels divide by what loss.go says for each way of normalisation. probabilityLoss is the mechanism of SoftmaxWithLoss
// and its like, itemLoss that of losses which add up terms of single scores.
package loss
