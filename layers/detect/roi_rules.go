package detect

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	register := func(name, doc string, rule axisRule, setUp func(l *regionPooling) error) {
		layers.Register(layers.Type{
			Name: name, Doc: doc,
			Couples: layers.Always(layers.Rows, ""), NamedRows: []int{1},
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				return &roiPooling{regionPooling{Base: layers.Base{Param: p, Device: d}, rule: rule}, setUp}
			},
			Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), NoForceBackward: []int{1}, ZeroGradient: true,
		})
	}
	register("ROIPooling", "maxima of the bins of regions", wholePixels, func(l *regionPooling) error {
		p := l.Param.GetRoiPoolingParam()
		l.maxima = true
		return l.setBins(int(p.GetPooledH()), int(p.GetPooledW()), p.GetSpatialScale())
	})
	register("ROIAlign", "means of bilinear samples in the bins of regions", samples, func(l *regionPooling) error {
		p := l.Param.GetRoiAlignParam()
		return l.setBins(int(p.GetPooledH()), int(p.GetPooledW()), p.GetSpatialScale())
	})
	register("PSROIPooling", "means of the bins of regions, each from channels of its own", touchedPixels, func(l *regionPooling) error {
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

// axisRule finds the pixels that bin k of a region reads along an axis, 0 for rows and 1 for columns, each with its weight. It appends them to taps, and returns the number that
// the weighted sum is divided by.
type axisRule func(l *regionPooling, roi []float32, axis, k int, taps []tap) ([]tap, float32)

// pixels appends the pixels from a first one to before an end, of an axis of n.
func pixels(taps []tap, first, end float32, n int) ([]tap, float32) {
	from, to := within(first, n), within(end, n)
	for at := from; at < to; at++ {
		taps = append(taps, tap{at: at, weight: 1})
	}
	return taps, float32(max(1, to-from))
}

// wholePixels is the rule of ROIPooling: a region's corners are rounded to pixels, which belong to it. Places in the region are rounded before they are
// added to its start, as Fast R-CNN does.
func wholePixels(l *regionPooling, roi []float32, axis, k int, taps []tap) ([]tap, float32) {
	from, to := roundAway(roi[2-axis]*l.scale), roundAway(roi[4-axis]*l.scale)
	size := max(to-from+1, 1) / float32(l.bins[axis])
	return pixels(taps, floor(float32(k)*size)+from, ceil(float32(k+1)*size)+from, l.size[axis])
}

// touchedPixels is the rule of PSROIPooling: a bin reads all pixels that it touches.
func touchedPixels(l *regionPooling, roi []float32, axis, k int, taps []tap) ([]tap, float32) {
	from, to := roundAway(roi[2-axis])*l.scale, (roundAway(roi[4-axis])+1)*l.scale
	size := max(to-from, 0.1) / float32(l.bins[axis])
	return pixels(taps, floor(float32(k)*size+from), ceil(float32(k+1)*size+from), l.size[axis])
}

// samples is the rule of ROIAlign: linear interpolation in the middles of a bin's parts. Samples more than a pixel outside of the image count as 0.
func samples(l *regionPooling, roi []float32, axis, k int, taps []tap) ([]tap, float32) {
	from := roi[2-axis] * l.scale
	size, n := max(roi[4-axis]*l.scale-from, 1)/float32(l.bins[axis]), l.size[axis]
	parts := float32(l.Param.GetRoiAlignParam().GetSamplingRatio())
	if parts <= 0 {
		parts = ceil(size)
	}
	if !(parts >= 1) { // the region is not a number
		return taps, 1
	}
	start, step := from+float32(k)*size, size/parts
	// Only samples inside are visited, however large a region is, and one on either side that rounding may bring there.
	first, end := max(0, floor((-1-start)/step-1.5)), min(parts, ceil((float32(n)-start)/step+1.5))
	for i := float64(first); i < float64(end); i++ { // float32 could not count so far
		place := start + (float32(i)+0.5)*size/parts
		if !(place >= -1 && place <= float32(n)) || n == 0 {
			continue
		}
		place = min(max(place, 0), float32(n-1))
		at := int(place)
		rest := place - float32(at)
		taps = append(taps, tap{at, 1 - rest}, tap{min(at+1, n-1), rest})
	}
	return taps, parts
}

// roundAway rounds to the nearest integer, halves away from zero, as C does.
func roundAway(v float32) float32 { return float32(math.Round(float64(v))) }

// within limits v to 0 <= v <= n. NaN becomes 0.
func within(v float32, n int) int {
	if !(v > 0) {
		return 0
	}
	return int(min(v, float32(n)))
}

func floor(v float32) float32 { return float32(math.Floor(float64(v))) }
func ceil(v float32) float32  { return float32(math.Ceil(float64(v))) }
