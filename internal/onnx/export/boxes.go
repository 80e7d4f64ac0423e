package export

import "github.com/swcaffe/swcaffe/internal/onnx/onnxpb"

// The functions in this file are shared by the layers that choose boxes. A NonMaxSuppression lists kept boxes class by class, so that mark turns
// its list into marks of the boxes by falling score. The places of the marks (NonZero) are then in the order of Caffe's rows.

// number makes a constant of one value.
func (l *layer) number(what string, v float32) string { return l.array(what, []float32{v}, 1) }

// part is a Slice of one axis.
func (l *layer) part(v string, axis, first, end int) string {
	return l.node("Slice", []string{v, l.ints("first", first), l.ints("end", end), l.ints("axis", axis)})
}

// mark returns an array of the shape of rows of scores, with ones for the boxes that a NonMaxSuppression of one class kept.
func (l *layer) mark(scores, kept string) string {
	places := l.node("Gather", []string{kept, l.ints("columns", 0, 2)}, attr{"axis", 1})
	zeros := l.fill(l.node("Shape", []string{scores}), 0)
	return l.node("ScatterND", []string{zeros, places, l.ones(l.length(kept))})
}

// length returns the extent of a value's first axis.
func (l *layer) length(v string) string { return l.part(l.node("Shape", []string{v}), 0, 0, 1) }

// ones returns a vector of ones.
func (l *layer) ones(length string) string {
	return l.fill(length, 1)
}

// corners returns the first and last corners of boxes of centres and sides.
func (l *layer) corners(centres, sides string) []string {
	half := l.node("Mul", []string{sides, l.number("half", 0.5)})
	return []string{l.node("Sub", []string{centres, half}), l.node("Add", []string{centres, half})}
}

// table returns the top of a layer of detections, 1 x 1 x detections x 7, of images (integers), labels, scores, and boxes of 4 values.
func (l *layer) table(images, labels, scores, boxes string) string {
	column := func(v string) string { return l.node("Reshape", []string{v, l.ints("column", -1, 1)}) }
	images = l.node("Cast", []string{images}, float)
	rows := l.node("Concat", []string{column(images), column(labels), column(scores), boxes}, attr{"axis", 1})
	return l.node("Reshape", []string{l.node("Concat", []string{rows, l.nothing(rows)}, attr{"axis", 0}), l.ints("rows", 1, 1, -1, 7)})
}

// nothing returns a row of image, -1, -1, ... for each image if there are no rows, otherwise no row.
func (l *layer) nothing(rows string) string {
	images := l.length(l.in[0])
	numbers := l.node("Transpose", []string{l.node("NonZero", []string{l.ones(images)})}, attr{"perm", []int{1, 0}})
	column := l.node("Cast", []string{numbers}, float)
	minus := l.node("Sub", []string{l.node("Mul", []string{column, l.number("zero", 0)}), l.number("one", 1)})
	all := l.node("Concat", []string{column, l.repeat(minus, 6, 1)}, attr{"axis", 1})
	none := l.node("Cast", []string{l.node("Equal", []string{l.length(rows), l.ints("zero", 0)})}, attr{"to", int(onnxpb.TensorProto_INT64)})
	return l.node("Slice", []string{all, l.ints("first", 0), l.node("Mul", []string{images, none}), l.ints("axis", 0)})
}
