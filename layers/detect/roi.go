package detect

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// regionPooling is embedded by the layers that pool regions of interest. Bottom 0 holds images, bottom 1 regions as rows of image, x1, y1, x2
// and y2. The top is regions x outputs x bins of a region's height x bins of its width.
type regionPooling struct {
	layers.Base
	rule    axisRule
	maxima  bool // of a bin's pixels; otherwise their weighted mean
	outputs int  // channels of the top; 0 means those of the images
	bins    [2]int
	scale   float32 // from a region's coordinates to pixels
	// spread: each bin of an output reads a channel of its own, which is channel (output*bins + bin) of the images.
	spread bool

	images, channels, regions int
	size                      [2]int     // of an image
	trace                     *blob.Blob // the pixel that each maximum came from
	shape                     []int
	taps                      []tap
	cuts                      [2][]axisBin // of rows and of columns, by region and bin

	cut               int // regions of a tile
	forward, backward *stream.Units
	x, rois, y, arg   []float32
}

// tap is a pixel's place along an axis, and its weight there.
type tap struct {
	at     int
	weight float32
}

// axisBin is what a bin reads along one axis: some taps, and what their sum is divided by. A bin's pixels are all pairs of a row and a column.
type axisBin struct {
	from, to int
	over     float32
}

// cutRegions finds the pixels of all bins, by rows and by columns. It does nothing where only costs are modelled.
func (l *regionPooling) cutRegions() error {
	if !l.Device.Machine.Values() {
		return nil
	}
	l.taps = l.taps[:0]
	for axis := range l.cuts {
		l.cuts[axis] = l.cuts[axis][:0]
		for r := range l.regions {
			roi := l.rois[r*roiValues:][:roiValues]
			if v := roi[0]; !(v >= 0 && v < float32(l.images)) {
				return layers.WrongValue("region %d is of image %g, but there are %d images", r, v, l.images)
			}
			for k := range l.bins[axis] {
				b := axisBin{from: len(l.taps)}
				l.taps, b.over = l.rule(l, roi, axis, k, l.taps)
				b.to = len(l.taps)
				l.cuts[axis] = append(l.cuts[axis], b)
			}
		}
	}
	return nil
}

// bin is one bin of a region.
type bin struct {
	rows, cols []tap
	over       float32
}

func (l *regionPooling) binOf(region, row, col int) bin {
	r, c := &l.cuts[0][region*l.bins[0]+row], &l.cuts[1][region*l.bins[1]+col]
	return bin{l.taps[r.from:r.to], l.taps[c.from:c.to], r.over * c.over}
}

// mean returns the weighted mean of a bin's pixels in a plane.
func (b *bin) mean(plane []float32, width int) (sum float32) {
	for _, y := range b.rows {
		line := plane[y.at*width:][:width]
		for _, x := range b.cols {
			sum += y.weight * x.weight * line[x.at]
		}
	}
	return sum / b.over
}

// largest returns the maximum of a bin's pixels and its place, or 0 and -1 if there are none.
func (b *bin) largest(plane []float32, width int) (best, from float32) {
	from = -1
	for _, y := range b.rows {
		line := plane[y.at*width:][:width]
		for _, x := range b.cols {
			if v := line[x.at]; from < 0 || v > best {
				best, from = v, float32(y.at*width+x.at)
			}
		}
	}
	return best, from
}

// spreadMean adds a bin's part to the gradient of a plane.
func (b *bin) spreadMean(plane []float32, width int, dy float32) {
	for _, y := range b.rows {
		line := plane[y.at*width:][:width]
		for _, x := range b.cols {
			line[x.at] += y.weight * x.weight * dy / b.over
		}
	}
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
	if l.maxima {
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
	if held := pixels + l.size[1]; held < room { // a plane, and a line of sums
		room -= held
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
	w.Load(stream.Span(l.rois, first*roiValues, n*roiValues)) // for the costs: cuts has what regions read
	y, stride := w.Place(l.tileOf(l.y, first, n, output))
	var arg []float32
	if l.maxima {
		arg, _ = w.Place(l.tileOf(l.arg, first, n, output))
	}
	planes := 1
	if l.spread {
		planes = bins
	}
	buffer := w.Buffer(pixels)
	var line []float32
	if !l.spread && !l.maxima {
		line = w.Scratch(l.size[1])
	}
	for image := range l.images {
		for k := range planes {
			channel := output*planes + k
			plane, _ := w.Fetch(buffer, stream.Span(l.x, (image*l.channels+channel)*pixels, pixels))
			w.Cost(n*bins/planes*8, 0)
			if !w.Values() {
				continue
			}
			for r := range n {
				if l.image(first+r) != image {
					continue
				}
				if !l.spread && !l.maxima {
					l.means(y[r*stride:], plane, first+r, line)
					continue
				}
				for b := k; b < bins; b += planes {
					bin := l.binOf(first+r, b/l.bins[1], b%l.bins[1])
					if l.maxima {
						y[r*stride+b], arg[r*stride+b] = bin.largest(plane, l.size[1])
					} else {
						y[r*stride+b] = bin.mean(plane, l.size[1])
					}
				}
			}
		}
	}
}

// means computes the means of all bins of a region in a plane, rows first: what columns add is the same for all bins of a row.
func (l *regionPooling) means(y, plane []float32, region int, line []float32) {
	width := l.size[1]
	cols := l.cuts[1][region*l.bins[1]:][:l.bins[1]]
	lo, hi := width, 0
	for _, x := range l.taps[cols[0].from:cols[len(cols)-1].to] {
		lo, hi = min(lo, x.at), max(hi, x.at+1)
	}
	lo = min(lo, hi) // without columns nothing is summed
	for row, r := range l.cuts[0][region*l.bins[0]:][:l.bins[0]] {
		clear(line[lo:hi])
		for _, t := range l.taps[r.from:r.to] {
			vec.Axpy(line[lo:hi], plane[t.at*width+lo:t.at*width+hi], t.weight)
		}
		for col, c := range cols {
			var sum float32
			for _, t := range l.taps[c.from:c.to] {
				sum += t.weight * line[t.at]
			}
			y[row*l.bins[1]+col] = sum / (r.over * c.over)
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
	if l.maxima {
		argBuffer = w.Buffer(l.cut * bins)
	}
	for first := 0; first < l.regions; first += l.cut {
		n := min(l.cut, l.regions-first)
		w.Fetch(roiBuffer, stream.Span(l.rois, first*roiValues, n*roiValues))
		dy, stride := w.Fetch(dyBuffer, l.tileOf(l.y, first, n, output))
		if l.maxima {
			arg, _ = w.Fetch(argBuffer, l.tileOf(l.arg, first, n, output))
		}
		w.Cost(n*bins/planes*8, 0)
		if !w.Values() {
			continue
		}
		for r := range n {
			if l.image(first+r) != image {
				continue
			}
			for b := k; b < bins; b += planes {
				var from float32
				if arg != nil {
					from = arg[r*stride+b]
				}
				l.spreadBin(dx, first+r, b, from, dy[r*stride+b])
			}
		}
	}
}

// image returns the image of a region.
func (l *regionPooling) image(region int) int { return int(l.rois[region*roiValues]) }

// spreadBin adds a bin's part to the gradient of a plane. from is where its maximum came from.
func (l *regionPooling) spreadBin(plane []float32, region, b int, from, dy float32) {
	switch {
	case !l.maxima:
		bin := l.binOf(region, b/l.bins[1], b%l.bins[1])
		bin.spreadMean(plane, l.size[1], dy)
	case from >= 0:
		plane[int(from)] += dy
	}
}

// each visits the bins of all regions in order, with the channel that they read. It is the MPE path.
func (l *regionPooling) each(visit func(i int, plane []float32, region, b int)) {
	bins, pixels := l.bins[0]*l.bins[1], l.size[0]*l.size[1]
	for i := range blob.CountOf(l.shape...) {
		r, channel, b := i/bins/l.shape[1], i/bins%l.shape[1], i%bins
		if l.spread {
			channel = channel*bins + b
		}
		visit(i, l.x[(l.image(r)*l.channels+channel)*pixels:][:pixels], r, b)
	}
}

func (l *regionPooling) Forward(bottom, top []*blob.Blob) error {
	l.x, l.rois, l.y = bottom[0].Data(), bottom[1].Data(), top[0].Data()
	if l.maxima {
		l.arg = l.trace.Data()
	}
	if err := l.cutRegions(); err != nil {
		return err
	}
	if l.forward != nil {
		return l.forward.Run()
	}
	l.each(func(i int, plane []float32, region, b int) {
		bin := l.binOf(region, b/l.bins[1], b%l.bins[1])
		if l.maxima {
			l.y[i], l.arg[i] = bin.largest(plane, l.size[1])
		} else {
			l.y[i] = bin.mean(plane, l.size[1])
		}
	})
	return nil
}

// Traits implements Planned. Backward needs the regions.
func (l *regionPooling) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(1), Tops: true}}
	if l.maxima {
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
	if err := l.cutRegions(); err != nil {
		return err
	}
	if l.backward != nil {
		return l.backward.Run()
	}
	clear(l.x)
	l.each(func(i int, plane []float32, region, b int) {
		var from float32
		if l.arg != nil {
			from = l.arg[i]
		}
		l.spreadBin(plane, region, b, from, l.y[i])
	})
	return nil
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
