package detect

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "PriorBox", Doc: "the prior boxes of the cells of a map, and their variances",
		Couples: layers.Always(layers.NoItems, ""),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &priorBox{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// priorBox is SSD's PriorBox layer. Bottom 0 is a map, bottom 1 the net's images. Each cell of the map has, for every min_size s, a square of
// side s; if there is a max_size m, a square of side sqrt(s * m); and for every other aspect ratio a a box of s*sqrt(a) x s/sqrt(a). Sides are
// in pixels. As in SSD, their fractions are dropped. The top has shape 1 x 2 x 4P: the boxes in units of the image, then the variances.
type priorBox struct {
	layers.Base
	sides         [][2]float32 // width and height of the boxes of a cell, in pixels
	variance      [4]float32
	image         [2]int     // height and width; 0: those of bottom 1
	step          [2]float32 // along y and x; 0: the image's extent over the map's
	cells, pixels [2]int     // of the map and the image in the last Reshape
	table         []float32  // CPE path: the top
	move          part.Mover
}

func (l *priorBox) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetPriorBoxParam()
	if err := l.setSides(p); err != nil {
		return err
	}
	if err := l.setVariance(p.GetVariance()); err != nil {
		return err
	}
	switch {
	case p.ImgH != nil || p.ImgW != nil:
		if p.ImgSize != nil {
			return errors.New("either img_size or img_h and img_w may be given, not both")
		}
		l.image = [2]int{int(p.GetImgH()), int(p.GetImgW())}
	case p.ImgSize != nil:
		l.image = [2]int{int(p.GetImgSize()), int(p.GetImgSize())}
	}
	if given := p.ImgH != nil || p.ImgW != nil || p.ImgSize != nil; given && min(l.image[0], l.image[1]) < 1 {
		return fmt.Errorf("the image's height and width must be positive, they are %d and %d", l.image[0], l.image[1])
	}
	switch {
	case p.StepH != nil || p.StepW != nil:
		if p.Step != nil {
			return errors.New("either step or step_h and step_w may be given, not both")
		}
		l.step = [2]float32{p.GetStepH(), p.GetStepW()}
	case p.Step != nil:
		l.step = [2]float32{p.GetStep(), p.GetStep()}
	}
	if given := p.StepH != nil || p.StepW != nil || p.Step != nil; given && !(l.step[0] > 0 && l.step[1] > 0) {
		return fmt.Errorf("the steps along y and x must be positive, they are %g and %g", l.step[0], l.step[1])
	}
	return nil
}

// setSides lists the boxes of a cell.
func (l *priorBox) setSides(p *caffepb.PriorBoxParameter) error {
	least, largest := p.GetMinSize(), p.GetMaxSize()
	if len(least) == 0 {
		return errors.New("min_size is not set")
	}
	if len(largest) > 0 && len(largest) != len(least) {
		return fmt.Errorf("there must be as many values of max_size as of min_size: %d and %d", len(largest), len(least))
	}
	ratios := ratiosOf(p)
	for i, s := range least {
		if !(s >= 1) {
			return fmt.Errorf("min_size must be at least one pixel, it is %g", s)
		}
		side := math.Trunc(float64(s))
		l.sides = append(l.sides, [2]float32{float32(side), float32(side)})
		if len(largest) > 0 {
			if !(largest[i] > s) {
				return fmt.Errorf("max_size must be greater than min_size: %g and %g", largest[i], s)
			}
			middle := float32(math.Sqrt(side * math.Trunc(float64(largest[i]))))
			l.sides = append(l.sides, [2]float32{middle, middle})
		}
		for _, r := range ratios {
			if !(r > 0) {
				return fmt.Errorf("aspect_ratio must be positive, it is %g", r)
			}
			root := math.Sqrt(float64(r))
			l.sides = append(l.sides, [2]float32{float32(side * root), float32(side / root)})
		}
	}
	return nil
}

// ratiosOf lists the aspect ratios other than 1, each once, with flip followed by its inverse.
func ratiosOf(p *caffepb.PriorBoxParameter) []float32 {
	ratios := []float32{1}
next:
	for _, r := range p.GetAspectRatio() {
		for _, other := range ratios {
			if math.Abs(float64(r-other)) < 1e-6 {
				continue next
			}
		}
		if ratios = append(ratios, r); p.GetFlip() {
			ratios = append(ratios, 1/r)
		}
	}
	return ratios[1:]
}

func (l *priorBox) setVariance(v []float32) error {
	switch len(v) {
	case 0:
		l.variance = [4]float32{0.1, 0.1, 0.1, 0.1}
	case 1:
		l.variance = [4]float32{v[0], v[0], v[0], v[0]}
	case 4:
		l.variance = [4]float32(v)
	default:
		return fmt.Errorf("there must be 1 or 4 values of variance, there are %d", len(v))
	}
	for _, value := range l.variance {
		if !(value > 0) {
			return fmt.Errorf("variance must be positive, it is %g", value)
		}
	}
	return nil
}

func (l *priorBox) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	cells, pixels := [2]int{bottom[0].Dim(2), bottom[0].Dim(3)}, l.image
	if pixels[0] == 0 {
		if bottom[1].NumAxes() != 4 {
			return fmt.Errorf("bottom[1] must have 4 axes (num, channels, height, width), its shape is %s", bottom[1].ShapeString())
		}
		pixels = [2]int{bottom[1].Dim(2), bottom[1].Dim(3)}
	}
	if min(cells[0], cells[1], pixels[0], pixels[1]) < 1 {
		return fmt.Errorf("there are no prior boxes: the map has shape %s, the image %d x %d pixels", bottom[0].ShapeString(), pixels[0], pixels[1])
	}
	values := cells[0] * cells[1] * len(l.sides) * 4
	if l.cells == cells && l.pixels == pixels {
		top[0].Reshape(1, 2, values)
		return nil
	}
	if err := l.Device.CheckShape("the top", []int{1, 2, values}); err != nil {
		return err
	}
	top[0].Reshape(1, 2, values)
	l.cells, l.pixels = cells, pixels
	if l.MPE() {
		return nil
	}
	l.table = pages.Make[float32](2 * values)
	l.list(l.table)
	var err error
	l.move, err = part.NewMover(&l.Base, 1, len(l.table))
	return err
}

// list writes the boxes and variances.
func (l *priorBox) list(top []float32) {
	p, half := l.Param.GetPriorBoxParam(), len(top)/2
	step := l.step
	if step[0] == 0 {
		step = [2]float32{float32(l.pixels[0]) / float32(l.cells[0]), float32(l.pixels[1]) / float32(l.cells[1])}
	}
	at := 0
	for y := range l.cells[0] {
		for x := range l.cells[1] {
			cx, cy := float64((float32(x)+p.GetOffset())*step[1]), float64((float32(y)+p.GetOffset())*step[0])
			for _, s := range l.sides {
				w, h := float64(s[0])/2, float64(s[1])/2
				iw, ih := float64(l.pixels[1]), float64(l.pixels[0])
				b := box.Box{XMin: float32((cx - w) / iw), YMin: float32((cy - h) / ih), XMax: float32((cx + w) / iw), YMax: float32((cy + h) / ih)}
				if p.GetClip() {
					b = b.Clip(1, 1)
				}
				b.Put(top[at:])
				copy(top[half+at:], l.variance[:])
				at += 4
			}
		}
	}
}

func (l *priorBox) Forward(_, top []*blob.Blob) error {
	if l.MPE() {
		l.list(top[0].Data())
		return nil
	}
	return l.move.Run(top[0].Data(), l.table)
}

// Traits implements Planned.
func (l *priorBox) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *priorBox) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }
