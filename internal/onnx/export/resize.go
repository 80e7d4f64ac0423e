package export

import (
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// The rules in this file resize images and put pixels into larger ones. Segmentation and detection nets of forks have them.

// interp is a Resize with corners on corners, behind a Slice if the layer cuts pixels off.
func interp(l *layer) error {
	p, x := l.p.GetInterpParam(), l.in[0]
	var in [2]int
	for i := range in {
		in[i] = l.bottom[0].Dim(2+i) + int(p.GetPadBeg()) + int(p.GetPadEnd())
	}
	if p.GetPadBeg() != 0 || p.GetPadEnd() != 0 {
		first := -int(p.GetPadBeg())
		x = l.node("Slice", []string{x, l.ints("starts", first, first), l.ints("ends", first+in[0], first+in[1]), l.ints("axes", 2, 3)})
	}
	l.set(0, l.resize(x, in, [2]int{l.top[0].Dim(2), l.top[0].Dim(3)}, attr{"mode", "linear"}, attr{"coordinate_transformation_mode", "align_corners"}))
	return nil
}

// resize gives images the size out. The factors leave the batch size open, as a list of sizes would not.
func (l *layer) resize(x string, in, out [2]int, attrs ...attr) string {
	factors := []float32{1, 1, factor(in[0], out[0]), factor(in[1], out[1])}
	return l.node("Resize", []string{x, "", l.array("scales", factors, 4)}, attrs...)
}

// factor returns the smallest float whose product with in is not below out, because Resize rounds the product down.
func factor(in, out int) float32 {
	f := float32(out) / float32(in)
	for float32(in)*f < float32(out) || float64(in)*float64(f) < float64(out) {
		f = math.Nextafter32(f, math.MaxFloat32)
	}
	return f
}

// upsample repeats pixels, or with a second bottom puts them where it says.
func upsample(l *layer) error {
	if len(l.bottom) > 1 {
		l.set(0, l.scatter())
		return nil
	}
	in, out := [2]int{l.bottom[0].Dim(2), l.bottom[0].Dim(3)}, [2]int{l.top[0].Dim(2), l.top[0].Dim(3)}
	l.set(0, l.resize(l.in[0], in, out, attr{"mode", "nearest"}, attr{"coordinate_transformation_mode", "asymmetric"}, attr{"nearest_mode", "floor"}))
	return nil
}

// scatter puts the values of planes at the indices in the second bottom. ONNX's MaxUnpool does not fit: its indices count through the whole
// batch, so that the batch size could not stay open.
func (l *layer) scatter() string {
	from, to := l.dims(l.bottom[0]), l.dims(l.top[0])
	rows, large := []dim{product(from[:2]), product(from[2:])}, product(to[2:])
	x, at := l.reshape(l.in[0], from, rows), l.reshape(l.in[1], l.dims(l.bottom[1]), rows)
	shape := ""
	if rows[0].dynamic {
		planes := l.node("Slice", []string{l.node("Shape", []string{x}), l.ints("first", 0), l.ints("second", 1)})
		shape = l.node("Concat", []string{planes, l.ints("plane", large.n)}, attr{"axis", 0})
	} else {
		shape = l.ints("planes", rows[0].n, large.n)
	}
	zeros := l.fill(shape, 0)
	y := l.node("ScatterElements", []string{zeros, l.integers(at), x}, attr{"axis", 1})
	return l.reshape(y, []dim{rows[0], large}, to)
}

// unpooling puts values at the indices in the second bottom, or at the first pixels of windows. In the second case each pixel of the top reads
// the value whose window begins there, the last one if there are several, or a zero behind the values.
func unpooling(l *layer) error {
	if l.p.GetUnpoolingParam().GetUnpool() != caffepb.UnpoolingParameter_MAX {
		l.set(0, l.unpoolWindows())
		return nil
	}
	if len(l.bottom) > 1 {
		l.set(0, l.scatter())
		return nil
	}
	stride := l.unpoolStride()
	from, to := l.dims(l.bottom[0]), l.dims(l.top[0])
	h, w := from[2].n, from[3].n
	source := make([]int, to[2].n*to[3].n)
	for i := range source {
		source[i] = h * w
	}
	for i := range h * w {
		row, col := min(i/w*stride[0], to[2].n-1), min(i%w*stride[1], to[3].n-1)
		source[row*to[3].n+col] = i
	}
	rows := []dim{product(from[:2]), {n: h * w}}
	x := l.node("Pad", []string{l.reshape(l.in[0], from, rows), l.ints("pads", 0, 0, 0, 1)})
	y := l.node("Gather", []string{x, l.ints("source", source...)}, attr{"axis", 1})
	l.set(0, l.reshape(y, []dim{rows[0], product(to[2:])}, to))
	return nil
}

func (l *layer) unpoolStride() [2]int {
	p := l.p.GetUnpoolingParam()
	if p.StrideH != nil {
		return [2]int{int(p.GetStrideH()), int(p.GetStrideW())}
	}
	return [2]int{int(p.GetStride()), int(p.GetStride())}
}

// unpoolWindows adds each value to its window: a ConvTranspose by channel with ones, of which the top keeps a part. If the top is larger, the kernel has zeros at its ends: a Pad in their
// place would have zeros that ONNX Runtime does not see where a MaxPool reads them. AVE divides the values before by the numbers of pixels that their windows have in the top.
func (l *layer) unpoolWindows() string {
	p, stride := l.p.GetUnpoolingParam(), l.unpoolStride()
	kernel := [2]int{int(p.GetKernelSize()), int(p.GetKernelSize())}
	if p.KernelH != nil {
		kernel = [2]int{int(p.GetKernelH()), int(p.GetKernelW())}
	}
	x, c := l.in[0], l.bottom[0].Dim(1)
	var in, out, full [2]int
	for i := range in {
		in[i], out[i] = l.bottom[0].Dim(2+i), l.top[0].Dim(2+i)
		full[i] = (in[i]-1)*stride[i] + kernel[i]
	}
	if p.GetUnpool() == caffepb.UnpoolingParameter_AVE {
		part := make([]float32, in[0]*in[1])
		inside := func(axis, i int) int { return max(0, min(kernel[axis], out[axis]-i*stride[axis])) }
		for i := range part {
			if n := inside(0, i/in[1]) * inside(1, i%in[1]); n > 0 {
				part[i] = 1 / float32(n)
			}
		}
		x = l.node("Mul", []string{x, l.array("parts", part, 1, 1, in[0], in[1])})
	}
	high, wide := kernel[0]+max(0, out[0]-full[0]), kernel[1]+max(0, out[1]-full[1])
	one := make([]float32, high*wide)
	for i := range kernel[0] {
		copy(one[i*wide:], slices.Repeat([]float32{1}, kernel[1]))
	}
	y := l.node("ConvTranspose", []string{x, l.array("window", slices.Repeat(one, c), c, 1, high, wide)}, attr{"strides", []int{stride[0], stride[1]}}, attr{"group", c})
	if full[0] > out[0] || full[1] > out[1] {
		y = l.node("Slice", []string{y, l.ints("starts", 0, 0), l.ints("ends", out[0], out[1]), l.ints("axes", 2, 3)})
	}
	return y
}
