package export

import "github.com/swcaffe/swcaffe/internal/onnx/onnxpb"

// The attribute "to" of Cast.
var (
	toFloat  = attr{"to", int(onnxpb.TensorProto_FLOAT)}
	toDouble = attr{"to", int(onnxpb.TensorProto_DOUBLE)}
	toIndex  = attr{"to", int(onnxpb.TensorProto_INT64)}
)

// psroiPooling takes the means of bins from sums over rectangles: the sum of an image's pixels above and left of a corner, in double precision, at
// the four corners of a bin. Bin (i, j) of output o reads channel (o * G + i) * G + j.
func psroiPooling(l *layer) error {
	p, x := l.p.GetPsroiPoolingParam(), l.bottom[0]
	group, outputs, height, width := int(p.GetGroupSize()), int(p.GetOutputDim()), x.Dim(2), x.Dim(3)
	sums := l.node("Cast", []string{l.in[0]}, toDouble)
	for axis := 2; axis <= 3; axis++ {
		sums = l.node("CumSum", []string{sums, l.integer("axis", axis)})
	}
	sums = l.node("Pad", []string{sums, l.ints("pads", 0, 0, 1, 1, 0, 0, 0, 0)})
	sums = l.node("Reshape", []string{sums, l.ints("flat", -1)})

	rois := l.regions()
	corner := func(from int, shift float32) string {
		v := l.node("Slice", []string{rois, l.ints("first", from), l.ints("end", from+2), l.ints("axis", 1)})
		rounded := l.node("Mul", []string{l.node("Sign", []string{v}), l.node("Floor", []string{l.plus(l.node("Abs", []string{v}), "half", 0.5)})})
		if shift != 0 {
			rounded = l.plus(rounded, "pixel", shift)
		}
		return l.node("Mul", []string{rounded, l.scalar("scale", p.GetSpatialScale())})
	}
	start, end := corner(1, 0), corner(3, 1)
	size := l.node("Max", []string{l.node("Sub", []string{end, start}), l.scalar("least", 0.1)})
	size = l.node("Div", []string{size, l.scalar("bins", float32(group))})

	firstX, endX := l.bins(start, size, 0, group, width)
	firstY, endY := l.bins(start, size, 1, group, height)
	rows := func(v string) string { return l.node("Reshape", []string{v, l.ints("rows", -1, 1, group, 1)}) }
	columns := func(v string) string { return l.node("Reshape", []string{v, l.ints("columns", -1, 1, 1, group)}) }
	firstX, endX, firstY, endY = columns(firstX), columns(endX), rows(firstY), rows(endY)

	image := l.node("Cast", []string{l.node("Slice", []string{rois, l.ints("first", 0), l.ints("end", 1), l.ints("axis", 1)})}, toIndex)
	image = l.node("Reshape", []string{image, l.ints("images", -1, 1, 1, 1)})
	plane := (height + 1) * (width + 1)
	planes := make([]int, outputs*group*group)
	for k := range planes {
		planes[k] = k * plane
	}
	channels := l.node("Reshape", []string{l.ints("planes", planes...), l.ints("channels", 1, outputs, group, group)})
	base := l.node("Add", []string{l.node("Mul", []string{image, l.integer("image", x.Dim(1)*plane)}), channels})
	at := func(y, x string) string {
		row := l.node("Add", []string{base, l.node("Mul", []string{y, l.integer("row", width+1)})})
		return l.node("Gather", []string{sums, l.node("Add", []string{row, x})}, attr{"axis", 0})
	}
	lower := l.node("Sub", []string{at(endY, endX), at(endY, firstX)})
	upper := l.node("Sub", []string{at(firstY, endX), at(firstY, firstX)})
	sum := l.node("Cast", []string{l.node("Sub", []string{lower, upper})}, toFloat)
	pixels := l.node("Mul", []string{l.node("Sub", []string{endY, firstY}), l.node("Sub", []string{endX, firstX})})
	count := l.node("Max", []string{l.node("Cast", []string{pixels}, toFloat), l.scalar("pixel", 1)})
	l.set(0, l.node("Div", []string{sum, count}))
	return nil
}

// bins returns the first pixels of a region's bins along an axis, and those behind their last ones. start and size have a column for x and one
// for y; column says which.
func (l *layer) bins(start, size string, column, group, extent int) (first, end string) {
	pick := func(v string) string {
		return l.node("Slice", []string{v, l.ints("first", column), l.ints("end", column+1), l.ints("axis", 1)})
	}
	numbers := make([]float32, group+1)
	for k := range numbers {
		numbers[k] = float32(k)
	}
	place := func(round string, numbers []float32) string {
		v := l.node("Add", []string{l.node("Mul", []string{l.array("numbers", numbers, 1, group), pick(size)}), pick(start)})
		v = l.node("Clip", []string{l.node(round, []string{v}), l.array("zero", []float32{0}), l.array("extent", []float32{float32(extent)})})
		return l.node("Cast", []string{v}, toIndex)
	}
	return place("Floor", numbers[:group]), place("Ceil", numbers[1:])
}
