package detect

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// regionPooling is embedded by the layers that pool regions of interest. Bottom 0 holds images, bottom 1 regions as rows of image, x1, y1, x2
// and y2. The top is regions x outputs x bins of a region's height x bins of its width.
type regionPooling struct {
	layers.Base
	rule    binRule
	outputs int // channels of the top; 0 means those of the images
	bins    [2]int
	scale   float32 // from a region's coordinates to pixels
	// spread: each bin of an output reads a channel of its own, which is channel (output*bins + bin) of the images.
	spread bool

	images, channels, regions int
	size                      [2]int     // of an image
	trace                     *blob.Blob // what each bin's value came from, if the rule needs it
	shape                     []int

	cut               int // regions of a tile
	forward, backward *stream.Units
	x, rois, y, arg   []float32
}

// binRule computes one bin of a region. forward returns its value and, for rules that trace, where it came from. backward adds dy's part to
// the gradient of the plane.
type binRule struct {
	traces   bool
	forward  func(l *regionPooling, plane, roi []float32, row, col int) (value, from float32)
	backward func(l *regionPooling, plane, roi []float32, row, col int, from, dy float32)
}

const roiValues = 5

func (l *regionPooling) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	rois := bottom[1]
	if rois.NumAxes() < 1 || rois.CountFrom(1) != roiValues {
		return fmt.Errorf("bottom[1] must have rows of 5 values (image, x1, y1, x2, y2), its shape is %s", rois.ShapeString())
	}
	x, outputs := bottom[0], l.outputs
	if outputs == 0 {
		outputs = x.Dim(1)
	}
	if need := outputs * l.bins[0] * l.bins[1]; l.spread && x.Dim(1) != need {
		return fmt.Errorf("bottom[0] must have output_dim x group_size x group_size channels, %d x %d x %d = %d; its shape is %s", outputs, l.bins[0], l.bins[1], need, x.ShapeString())
	}
	l.shape = append(l.shape[:0], rois.Dim(0), outputs, l.bins[0], l.bins[1])
	if err := l.Device.CheckShape("the top", l.shape); err != nil {
		return err
	}
	top[0].Reshape(l.shape...)
	if l.rule.traces {
		l.trace.Reshape(l.shape...)
	}
	size := [2]int{x.Dim(2), x.Dim(3)}
	if l.images == x.Dim(0) && l.channels == x.Dim(1) && l.size == size && l.regions == rois.Dim(0) {
		return nil
	}
	l.images, l.channels, l.size, l.regions = x.Dim(0), x.Dim(1), size, rois.Dim(0)
	if l.MPE() {
		return nil
	}
	l.prepare()
	return nil
}

// prepare makes the kernels. Forward, a unit is an output channel of a tile of regions, backward it is a channel of an image.
func (l *regionPooling) prepare() {
	m, pixels, bins := l.Device.Machine, l.size[0]*l.size[1], l.bins[0]*l.bins[1]
	room := stream.UnitLimit(m)
	if pixels < room {
		room -= pixels
	}
	l.cut = max(1, min(room/(2*bins+roiValues), l.regions, 64))
	tiles := (l.regions + l.cut - 1) / l.cut
	l.forward = stream.NewUnits(m, l.Param.GetType(), l.shape[1]*tiles, blob.CountOf(l.shape...)*8, l.poolTile)
	l.backward = stream.NewUnits(m, l.Param.GetType()+" gradient", l.images*l.channels, blob.CountOf(l.shape...)*8, l.gradPlane)
}

// tileOf returns the tile's part of an array with the top's shape, for one output channel.
func (l *regionPooling) tileOf(array []float32, first, n, output int) stream.Piece {
	bins := l.bins[0] * l.bins[1]
	return stream.Rect(array, (first*l.shape[1]+output)*bins, n, l.shape[1]*bins, bins)
}

// poolTile computes an output channel of a tile of regions, image by image.
func (l *regionPooling) poolTile(w *stream.UnitWorker, unit int) {
	tiles := (l.regions + l.cut - 1) / l.cut
	output, first := unit/tiles, unit%tiles*l.cut
	n, bins, pixels := min(l.cut, l.regions-first), l.bins[0]*l.bins[1], l.size[0]*l.size[1]
	rois, _ := w.Load(stream.Span(l.rois, first*roiValues, n*roiValues))
	y, stride := w.Place(l.tileOf(l.y, first, n, output))
	var arg []float32
	if l.rule.traces {
		arg, _ = w.Place(l.tileOf(l.arg, first, n, output))
	}
	planes := 1
	if l.spread {
		planes = bins
	}
	buffer := w.Buffer(pixels)
	for image := range l.images {
		for k := range planes {
			channel := output*planes + k
			plane, _ := w.Fetch(buffer, stream.Span(l.x, (image*l.channels+channel)*pixels, pixels))
			w.Cost(n*bins/planes*8, 0)
			if !w.Values() {
				continue
			}
			for r := range n {
				roi := rois[r*roiValues:][:roiValues]
				at, err := l.imageOf(roi, first+r)
				if err != nil {
					w.Fail(err)
					return
				}
				if at != image {
					continue
				}
				for b := k; b < bins; b += planes {
					v, from := l.rule.forward(l, plane, roi, b/l.bins[1], b%l.bins[1])
					y[r*stride+b] = v
					if arg != nil {
						arg[r*stride+b] = from
					}
				}
			}
		}
	}
}

// gradPlane computes the gradient of a channel of an image, tile of regions by tile.
func (l *regionPooling) gradPlane(w *stream.UnitWorker, unit int) {
	image, channel, bins, pixels := unit/l.channels, unit%l.channels, l.bins[0]*l.bins[1], l.size[0]*l.size[1]
	dx, _ := w.Place(stream.Span(l.x, unit*pixels, pixels))
	if w.Values() {
		clear(dx[:pixels])
	}
	output, k, planes := channel, 0, 1
	if l.spread {
		output, k, planes = channel/bins, channel%bins, bins
	}
	roiBuffer, dyBuffer := w.Buffer(l.cut*roiValues), w.Buffer(l.cut*bins)
	var argBuffer stream.Buffer
	var arg []float32
	if l.rule.traces {
		argBuffer = w.Buffer(l.cut * bins)
	}
	for first := 0; first < l.regions; first += l.cut {
		n := min(l.cut, l.regions-first)
		rois, _ := w.Fetch(roiBuffer, stream.Span(l.rois, first*roiValues, n*roiValues))
		dy, stride := w.Fetch(dyBuffer, l.tileOf(l.y, first, n, output))
		if l.rule.traces {
			arg, _ = w.Fetch(argBuffer, l.tileOf(l.arg, first, n, output))
		}
		w.Cost(n*bins/planes*8, 0)
		if !w.Values() {
			continue
		}
		for r := range n {
			roi := rois[r*roiValues:][:roiValues]
			if int(roi[0]) != image {
				continue
			}
			for b := k; b < bins; b += planes {
				var from float32
				if arg != nil {
					from = arg[r*stride+b]
				}
				l.rule.backward(l, dx, roi, b/l.bins[1], b%l.bins[1], from, dy[r*stride+b])
			}
		}
	}
}

// imageOf returns the image of region r.
func (l *regionPooling) imageOf(roi []float32, r int) (int, error) {
	if v := roi[0]; v >= 0 && int(v) < l.images {
		return int(v), nil
	}
	return 0, layers.WrongValue("region %d is of image %g, but there are %d images", r, roi[0], l.images)
}

// each visits the bins of all regions in order, with the channel that they read. It is the MPE path.
func (l *regionPooling) each(visit func(i int, plane, roi []float32, row, col int)) error {
	bins, pixels := l.bins[0]*l.bins[1], l.size[0]*l.size[1]
	for i := range blob.CountOf(l.shape...) {
		r, output, b := i/bins/l.shape[1], i/bins%l.shape[1], i%bins
		roi := l.rois[r*roiValues:][:roiValues]
		image, err := l.imageOf(roi, r)
		if err != nil {
			return err
		}
		channel := output
		if l.spread {
			channel = output*bins + b
		}
		visit(i, l.x[(image*l.channels+channel)*pixels:][:pixels], roi, b/l.bins[1], b%l.bins[1])
	}
	return nil
}

func (l *regionPooling) Forward(bottom, top []*blob.Blob) error {
	l.x, l.rois, l.y = bottom[0].Data(), bottom[1].Data(), top[0].Data()
	if l.rule.traces {
		l.arg = l.trace.Data()
	}
	if l.forward != nil {
		return l.forward.Run()
	}
	return l.each(func(i int, plane, roi []float32, row, col int) {
		v, from := l.rule.forward(l, plane, roi, row, col)
		if l.y[i] = v; l.arg != nil {
			l.arg[i] = from
		}
	})
}

// Traits implements Planned. Backward needs the regions.
func (l *regionPooling) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(1), Tops: true}}
	if l.rule.traces {
		t.Keeps = []*blob.Blob{l.trace}
	}
	return t
}

func (l *regionPooling) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] && l.Device.Machine.Values() { // regions count as constants, as in Fast R-CNN's layer
		clear(bottom[1].Diff())
	}
	if !propagateDown[0] {
		return nil
	}
	l.x, l.rois, l.y = bottom[0].Diff(), bottom[1].Data(), top[0].Diff()
	if l.backward != nil {
		return l.backward.Run()
	}
	clear(l.x)
	return l.each(func(i int, plane, roi []float32, row, col int) {
		var from float32
		if l.arg != nil {
			from = l.arg[i]
		}
		l.rule.backward(l, plane, roi, row, col, from, l.y[i])
	})
}

// setBins sets the number of bins and the scale.
func (l *regionPooling) setBins(h, w int, scale float32) error {
	if h < 1 || w < 1 {
		return fmt.Errorf("pooled_h and pooled_w must be positive, they are %d and %d", h, w)
	}
	if !(scale > 0) {
		return fmt.Errorf("spatial_scale must be positive, it is %g", scale)
	}
	l.bins, l.scale, l.trace = [2]int{h, w}, scale, l.Device.NewBlob(0)
	return nil
}

// roundAway rounds to the nearest integer, halves away from zero, as C does.
func roundAway(v float32) float32 { return float32(math.Round(float64(v))) }

// within limits v to 0 <= v <= n.
func within(v float32, n int) int { return int(min(max(v, 0), float32(n))) }

func floor(v float32) float32 { return float32(math.Floor(float64(v))) }
func ceil(v float32) float32  { return float32(math.Ceil(float64(v))) }
