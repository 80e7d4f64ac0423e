// Package detect has the layers of object detection. SSD's are PriorBox, MultiBoxLoss, DetectionOutput and DetectionEvaluate (Liu et al. 2016);
// those of networks in two stages are Proposal, ROIPooling, ROIAlign and PSROIPooling; YOLO's boxes are decoded in yolo_output.go, and RegionLoss and
// Yolov3 (yolo_loss.go) are the losses that train its nets.
//
// A net of SSD predicts, for each prior box, four values of a code and a score for each class. PriorBox lists the prior boxes and their variances, as
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
// Networks in two stages predict regions first. Proposal (Faster R-CNN, Ren et al. 2015) makes regions of the scores and steps of anchors: rows of
// image, x1, y1, x2 and y2. ROIPooling, ROIAlign and PSROIPooling pool the pixels of each region into a fixed number of bins (roi.go, and the rules
// of the bins in roi_rules.go).
//
// Package internal/base/box has the arithmetic of boxes.
package detect
