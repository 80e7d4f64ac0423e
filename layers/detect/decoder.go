package detect

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers"
)

// predictions are the extents of a batch of predictions.
type predictions struct {
	images, priors, classes int
	codes                   int // of a prior: 1, or one for each class
}

// read takes the extents from the bottoms: codes, scores and priors.
func (p *predictions) read(bottom []*blob.Blob) error {
	for i, b := range bottom[:2] {
		if b.NumAxes() < 1 {
			return fmt.Errorf("bottom[%d] must have at least one axis, its shape is %s", i, b.ShapeString())
		}
	}
	if bottom[0].Dim(0) != bottom[1].Dim(0) {
		return fmt.Errorf("location and confidence predictions must be of as many images: bottom[0] has shape %s, bottom[1] %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	if b := bottom[2]; b.NumAxes() < 3 || b.Dim(0) != 1 || b.Dim(1) != 2 || b.CountFrom(2)%4 != 0 {
		return fmt.Errorf("bottom[2] must have the shape 1 2 4P of P prior boxes, its shape is %s", b.ShapeString())
	}
	p.images, p.priors = bottom[0].Dim(0), bottom[2].CountFrom(2)/4
	if n := bottom[0].CountFrom(1); n != 4*p.priors*p.codes {
		return fmt.Errorf("number of priors must match number of location predictions: %d priors with %d codes of 4 values need %d values, bottom[0] has shape %s", p.priors, p.codes, 4*p.priors*p.codes, bottom[0].ShapeString())
	}
	if n := bottom[1].CountFrom(1); n != p.priors*p.classes {
		return fmt.Errorf("number of priors must match number of confidence predictions: %d priors with %d classes need %d values, bottom[1] has shape %s", p.priors, p.classes, p.priors*p.classes, bottom[1].ShapeString())
	}
	return nil
}

// decoder decodes all predictions of a batch.
type decoder struct {
	box.Coder
	predictions
	clip                bool // boxes, to the image
	cut                 int  // priors of a tile
	kernel              *stream.Units
	codes, prior, boxes []float32
}

func (d *decoder) reshape(b *layers.Base, p predictions) {
	if d.predictions == p {
		return
	}
	d.predictions = p
	if b.MPE() {
		return
	}
	m, name, width := b.Device.Machine, b.Param.GetType()+" decoding", 4*p.codes
	d.cut = max(1, min(p.priors, stream.UnitLimit(m)/(2*width+8), 256))
	d.kernel = stream.NewUnits(m, name, p.images*tiles(p.priors, d.cut), p.images*p.priors*width, d.tile)
}

// tiles returns the number of tiles of cut values that n values need.
func tiles(n, cut int) int { return (n + cut - 1) / cut }

// tile decodes the predictions of a tile of priors of an image.
func (d *decoder) tile(w *stream.UnitWorker, unit int) {
	across, width := tiles(d.priors, d.cut), 4*d.predictions.codes
	first := unit % across * d.cut
	n, at := min(d.cut, d.priors-first), (unit/across*d.priors+first)*width
	prior, _ := w.Load(stream.Span(d.prior, 4*first, 4*n))
	variance, _ := w.Load(stream.Span(d.prior, 4*(d.priors+first), 4*n))
	codes, _ := w.Load(stream.Span(d.codes, at, n*width))
	boxes, _ := w.Place(stream.Span(d.boxes, at, n*width))
	w.Cost(16*n*d.predictions.codes, 2*n*d.predictions.codes)
	if w.Values() {
		d.decode(boxes, codes, prior, variance, n)
	}
}

// decode decodes the predictions of n priors.
func (d *decoder) decode(boxes, codes, prior, variance []float32, n int) {
	for i := range n * d.predictions.codes {
		p := i / d.predictions.codes * 4
		b := d.Decode(box.Of(prior[p:]), [4]float32(variance[p:]), [4]float32(codes[4*i:]))
		if d.clip {
			b = b.Clip(1, 1)
		}
		b.Put(boxes[4*i:])
	}
}

// run decodes codes into boxes.
func (d *decoder) run(boxes, codes, prior []float32) error {
	d.boxes, d.codes, d.prior = boxes, codes, prior
	if d.kernel != nil {
		return d.kernel.Run()
	}
	n := 4 * d.priors * d.predictions.codes
	for at := 0; at < len(codes); at += n {
		d.decode(boxes[at:], codes[at:], prior, prior[4*d.priors:], d.priors)
	}
	return nil
}
