// Package detect has SSD's layers (Liu et al. 2016): PriorBox, MultiBoxLoss, DetectionOutput and DetectionEvaluate.
//
// A net predicts, for each prior box, four values of a code and a score for each class. PriorBox lists the prior boxes and their variances, as
// 1 x 2 x 4P values. The predictions' bottoms have N x 4P and N x CP values (with share_location: false N x 4CP), prior by prior. Objects are
// rows of image, class, instance, xmin, ymin, xmax, ymax and difficult; rows of image -1 are padding. Detections are rows of image, class,
// score, xmin, ymin, xmax and ymax.
//
// MultiBoxLoss matches priors with objects, selects the hardest negatives and computes both losses. DetectionOutput decodes the predictions
// and suppresses what overlaps. DetectionEvaluate says which detections are right; the solver makes average precisions of them.
//
// On the CPE path the work on all priors is done by kernels: overlaps, losses, gradients, decoding, scores by class. Their cost depends on
// shapes alone. Matching, mining and suppression, whose work depends on data, run on one core: on a modelled machine on the MPE, free of charge.
//
// Package internal/box has the arithmetic of boxes.
package detect
