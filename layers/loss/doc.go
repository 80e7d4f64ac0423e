// Package loss has the layers that judge a net's results: the losses, Softmax, which is part of one, Accuracy and SegAccuracy.
//
// probabilityLoss is the base of SoftmaxWithLoss and similar losses, which apply a softmax to the scores. itemLoss is the base of losses
// that sum a term for each score. Both divide the sum as loss_param's normalization says (loss.go). FocalLoss, SmoothL1Loss, CenterLoss and
// TripletLoss are layers of forks of Caffe.
package loss
