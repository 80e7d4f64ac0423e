package vision

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// spatialWindow is a convolution's kernel, stride, padding and dilation along each spatial axis, outermost first.
type spatialWindow struct{ kernel, stride, pad, dilation []int }

// onePixel is the window of a convolution without spatial axes.
var onePixel = spatialWindow{kernel: []int{1}, stride: []int{1}, pad: []int{0}, dilation: []int{1}}

// readWindow reads kernel, stride, pad and dilation. Each is given once for all axes, once per axis, or for two axes as _h and _w.
func readWindow(p *caffepb.ConvolutionParameter, axes int) (w spatialWindow, err error) {
	if w.kernel, err = spatialParam("kernel", axes, p.GetKernelSize(), p.KernelH, p.KernelW, 0); err != nil {
		return w, err
	}
	if w.stride, err = spatialParam("stride", axes, p.GetStride(), p.StrideH, p.StrideW, 1); err != nil {
		return w, err
	}
	if w.pad, err = spatialParam("pad", axes, p.GetPad(), p.PadH, p.PadW, 0); err != nil {
		return w, err
	}
	if w.dilation, err = readDilation(p, axes); err != nil {
		return w, err
	}
	for i := range axes {
		switch {
		case w.kernel[i] < 1:
			return w, fmt.Errorf("kernel dimensions must be positive, spatial axis %d has %d", i, w.kernel[i])
		case w.stride[i] < 1:
			return w, fmt.Errorf("stride dimensions must be positive, spatial axis %d has %d", i, w.stride[i])
		case w.dilation[i] < 1:
			return w, fmt.Errorf("dilation must be positive, spatial axis %d has %d", i, w.dilation[i])
		}
		if most := max(w.kernel[i], w.stride[i], w.pad[i], w.dilation[i]); most > blob.MaxCount {
			return w, fmt.Errorf("kernel %d, stride %d, pad %d and dilation %d of spatial axis %d must be at most %d", w.kernel[i], w.stride[i], w.pad[i], w.dilation[i], i, blob.MaxCount)
		}
	}
	return w, nil
}

// readDilation reads dilation, or hole, hole_h and hole_w, as DeepLab's fork of Caffe names it.
func readDilation(p *caffepb.ConvolutionParameter, axes int) ([]int, error) {
	if p.Hole == nil && p.HoleH == nil && p.HoleW == nil {
		return spatialParam("dilation", axes, p.GetDilation(), nil, nil, 1)
	}
	if n := len(p.GetDilation()); n > 0 {
		return nil, fmt.Errorf("either dilation or hole may be specified, not both: dilation is %d, hole %d", p.GetDilation()[0], max(p.GetHole(), p.GetHoleH(), p.GetHoleW()))
	}
	var all []uint32
	if p.Hole != nil {
		all = []uint32{p.GetHole()}
	}
	return spatialParam("hole", axes, all, p.HoleH, p.HoleW, 1)
}

// spatialParam returns the value of a field for every axis. missing is the default. As in Caffe, if only one of _h and _w is given, the
// other is 0.
func spatialParam(name string, axes int, all []uint32, h, w *uint32, missing int) ([]int, error) {
	values := make([]int, axes)
	if h != nil || w != nil {
		if axes != 2 {
			return nil, fmt.Errorf("%s_h and %s_w are for 2 spatial axes, there are %d", name, name, axes)
		}
		if len(all) > 0 {
			return nil, fmt.Errorf("either %s_size or %s_h/%s_w may be specified, not both", name, name, name)
		}
		for i, v := range []*uint32{h, w} {
			if v != nil {
				values[i] = int(*v)
			}
		}
		return values, nil
	}
	if n := len(all); n > 1 && n != axes {
		return nil, fmt.Errorf("%s must be specified once, or once per spatial dimension: %d times for %d axes", name, n, axes)
	}
	for i := range values {
		switch len(all) {
		case 0:
			values[i] = missing
		case 1:
			values[i] = int(all[0])
		default:
			values[i] = int(all[i])
		}
	}
	return values, nil
}

// tooLarge returns the error for a kernel that does not fit an axis of the input.
func (w *spatialWindow) tooLarge(axis, in, out int) error {
	return fmt.Errorf("spatial axis %d: kernel %d (dilation %d) is too large for the input's %d with padding %d: the output's size would be %d",
		axis, w.kernel[axis], w.dilation[axis], in, w.pad[axis], out)
}
