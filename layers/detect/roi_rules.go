package detect

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	register := func(name, doc string, rule binRule, setUp func(l *regionPooling) error) {
		layers.Register(layers.Type{
			Name: name, Doc: doc,
			Couples: layers.Always(layers.Rows, ""), NamedRows: []int{1},
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				return &roiPooling{regionPooling{Base: layers.Base{Param: p, Device: d}, rule: rule}, setUp}
			},
			Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), NoForceBackward: []int{1}, ZeroGradient: true,
		})
	}
	register("ROIPooling", "maxima of the bins of regions", maxBins, func(l *regionPooling) error {
		p := l.Param.GetRoiPoolingParam()
		return l.setBins(int(p.GetPooledH()), int(p.GetPooledW()), p.GetSpatialScale())
	})
	register("ROIAlign", "means of bilinear samples in the bins of regions", sampledBins, func(l *regionPooling) error {
		p := l.Param.GetRoiAlignParam()
		return l.setBins(int(p.GetPooledH()), int(p.GetPooledW()), p.GetSpatialScale())
	})
	register("PSROIPooling", "means of the bins of regions, each from channels of its own", meanBins, func(l *regionPooling) error {
		p := l.Param.GetPsroiPoolingParam()
		l.outputs, l.spread = int(p.GetOutputDim()), true
		if l.outputs < 1 || p.GetGroupSize() < 1 {
			return fmt.Errorf("output_dim and group_size must be positive, they are %d and %d", l.outputs, p.GetGroupSize())
		}
		return l.setBins(int(p.GetGroupSize()), int(p.GetGroupSize()), p.GetSpatialScale())
	})
}

// roiPooling is the ROIPooling layer of Fast R-CNN (Girshick 2015), the PSROIPooling layer of R-FCN (Dai et al. 2016), and the ROIAlign layer
// of Mask R-CNN (He et al. 2017).
type roiPooling struct {
	regionPooling
	setUp func(l *regionPooling) error
}

func (l *roiPooling) SetUp(_, _ []*blob.Blob) error { return l.setUp(&l.regionPooling) }

// span is a bin's pixels: rows and columns from a first one to before a last one.
type span struct{ top, bottom, left, right int }

// pixelsOf returns the pixels of bin k of a region that starts at a place along an axis of n pixels, with bins of some size.
func pixelsOf(start, size float32, k, n int) (first, end int) {
	return within(floor(float32(k)*size+start), n), within(ceil(float32(k+1)*size+start), n)
}

// wholePixelsOf is pixelsOf for a start that is an integer. It rounds before it adds the start, as Fast R-CNN does.
func wholePixelsOf(start, size float32, k, n int) (first, end int) {
	return within(floor(float32(k)*size)+start, n), within(ceil(float32(k+1)*size)+start, n)
}

// maxBins takes the maximum of the pixels of a bin, 0 if it has none. A region's corners are rounded to pixels, which belong to it.
var maxBins = binRule{
	traces: true,
	forward: func(l *regionPooling, plane, roi []float32, row, col int) (best, from float32) {
		x1, y1, x2, y2 := roundAway(roi[1]*l.scale), roundAway(roi[2]*l.scale), roundAway(roi[3]*l.scale), roundAway(roi[4]*l.scale)
		var s span
		s.top, s.bottom = wholePixelsOf(y1, max(y2-y1+1, 1)/float32(l.bins[0]), row, l.size[0])
		s.left, s.right = wholePixelsOf(x1, max(x2-x1+1, 1)/float32(l.bins[1]), col, l.size[1])
		from = -1
		for y := s.top; y < s.bottom; y++ {
			for x := s.left; x < s.right; x++ {
				if at := y*l.size[1] + x; from < 0 || plane[at] > best {
					best, from = plane[at], float32(at)
				}
			}
		}
		return best, from
	},
	backward: func(_ *regionPooling, plane, _ []float32, _, _ int, from, dy float32) {
		if from >= 0 {
			plane[int(from)] += dy
		}
	},
}

// meanSpan returns the pixels of a bin of PSROIPooling, and their number.
func meanSpan(l *regionPooling, roi []float32, row, col int) (span, float32) {
	x1, y1 := roundAway(roi[1])*l.scale, roundAway(roi[2])*l.scale
	x2, y2 := (roundAway(roi[3])+1)*l.scale, (roundAway(roi[4])+1)*l.scale
	var s span
	s.top, s.bottom = pixelsOf(y1, max(y2-y1, 0.1)/float32(l.bins[0]), row, l.size[0])
	s.left, s.right = pixelsOf(x1, max(x2-x1, 0.1)/float32(l.bins[1]), col, l.size[1])
	return s, float32(max(0, s.bottom-s.top) * max(0, s.right-s.left))
}

// meanBins takes the mean of the pixels of a bin, 0 if it has none.
var meanBins = binRule{
	forward: func(l *regionPooling, plane, roi []float32, row, col int) (mean, _ float32) {
		s, n := meanSpan(l, roi, row, col)
		if n == 0 {
			return 0, 0
		}
		for y := s.top; y < s.bottom; y++ {
			for _, v := range plane[y*l.size[1]+s.left : y*l.size[1]+s.right] {
				mean += v
			}
		}
		return mean / n, 0
	},
	backward: func(l *regionPooling, plane, roi []float32, row, col int, _, dy float32) {
		s, n := meanSpan(l, roi, row, col)
		if n == 0 {
			return
		}
		for y := s.top; y < s.bottom; y++ {
			for x := s.left; x < s.right; x++ {
				plane[y*l.size[1]+x] += dy / n
			}
		}
	},
}

// sampledBins takes the mean of bilinear samples in the middles of a bin's parts. Samples more than a pixel outside of the image count as 0.
var sampledBins = binRule{
	forward: func(l *regionPooling, plane, roi []float32, row, col int) (mean, _ float32) {
		n := l.samples(roi, row, col, func(at int, weight float32) { mean += weight * plane[at] })
		return mean / n, 0
	},
	backward: func(l *regionPooling, plane, roi []float32, row, col int, _, dy float32) {
		n := l.samples(roi, row, col, func(int, float32) {})
		l.samples(roi, row, col, func(at int, weight float32) { plane[at] += weight * dy / n })
	},
}

// samples visits the pixels that the samples of a bin read, with their weights, and returns the number of samples.
func (l *regionPooling) samples(roi []float32, row, col int, visit func(at int, weight float32)) float32 {
	x1, y1 := roi[1]*l.scale, roi[2]*l.scale
	height, width := max(roi[4]*l.scale-y1, 1)/float32(l.bins[0]), max(roi[3]*l.scale-x1, 1)/float32(l.bins[1])
	n := int(l.Param.GetRoiAlignParam().GetSamplingRatio())
	rows, cols := n, n
	if n <= 0 {
		rows, cols = int(ceil(height)), int(ceil(width))
	}
	for i := range rows {
		top, upper, ok := corner(y1+float32(row)*height+(float32(i)+0.5)*height/float32(rows), l.size[0])
		for k := range cols {
			left, before, within := corner(x1+float32(col)*width+(float32(k)+0.5)*width/float32(cols), l.size[1])
			if !ok || !within {
				continue
			}
			bottom, right := min(top+1, l.size[0]-1), min(left+1, l.size[1]-1)
			visit(top*l.size[1]+left, upper*before)
			visit(top*l.size[1]+right, upper*(1-before))
			visit(bottom*l.size[1]+left, (1-upper)*before)
			visit(bottom*l.size[1]+right, (1-upper)*(1-before))
		}
	}
	return float32(max(1, rows*cols))
}

// corner returns the pixel before a place along an axis of n pixels and that pixel's weight; the next pixel has the rest. ok is false for
// places more than a pixel outside.
func corner(place float32, n int) (at int, weight float32, ok bool) {
	if !(place >= -1 && place <= float32(n)) || n == 0 {
		return 0, 0, false
	}
	place = min(max(place, 0), float32(n-1))
	at = int(place)
	return at, 1 - (place - float32(at)), true
}
