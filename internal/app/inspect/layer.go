package inspect

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/app/picture"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Summary is a line about a layer.
type Summary struct {
	Name     string        `json:"name"`
	Type     string        `json:"type"`
	Tops     []string      `json:"tops"` // shapes
	Forward  events.Number `json:"forward_ms"`
	Backward events.Number `json:"backward_ms"`
	Weights  int           `json:"weights"`
	Weight   events.Number `json:"weight_rms"`   // root of the mean square of all weights
	Gradient events.Number `json:"gradient_rms"` // of their gradients
	Mark     string        `json:"mark"`         // what is wrong with the gradient, or ""
}

// Layer is what a layer holds.
type Layer struct {
	Summary
	Text       string         `json:"prototxt"`
	Algorithms []string       `json:"algorithms"` // of training, by direction
	Bytes      int            `json:"bytes"`      // of tops and weights, with gradients
	Blobs      []Blob         `json:"blobs"`
	Dead       *events.Number `json:"dead"` // ReLU: share of channels that are 0 in the whole batch
}

// Blob is what a blob holds.
type Blob struct {
	Role      string     `json:"role"` // "weights 0", "top conv1" and so on
	Shape     string     `json:"shape"`
	Values    Histogram  `json:"values"`
	Gradients *Histogram `json:"gradients"` // nil: none
	Picture   []byte     `json:"picture"`   // PNG; nil: the blob has no images
	Shown     int        `json:"shown"`     // tiles in the picture
	Of        int        `json:"of"`        // tiles that there are
}

// Overview is a line about each layer.
type Overview struct {
	Iteration int       `json:"iteration"`
	Layers    []Summary `json:"layers"`
}

// Overview looks at all layers. iteration is the training's.
func (p *Probe) Overview(iteration int) (*Overview, error) {
	if err := p.Look(nil); err != nil {
		return nil, err
	}
	return &Overview{iteration, p.summaries()}, nil
}

// summaries describes the last Look.
func (p *Probe) summaries() []Summary {
	var list []Summary
	for i := range p.own.NumLayers() {
		s := Summary{Name: p.own.LayerName(i), Type: p.train.LayerType(i), Forward: milliseconds(p.took[i].forward.Seconds()), Backward: milliseconds(p.took[i].backward.Seconds())}
		for _, b := range p.own.Tops(i) {
			s.Tops = append(s.Tops, b.ShapeString())
		}
		var weights, gradients float64
		for _, b := range p.own.Layer(i).Params() {
			s.Weights += b.Count()
			weights += squares(b.Data())
			gradients += squares(b.Diff())
		}
		if s.Weights > 0 {
			s.Weight, s.Gradient = events.Number(math.Sqrt(weights/float64(s.Weights))), events.Number(math.Sqrt(gradients/float64(s.Weights)))
		}
		list = append(list, s)
	}
	p.mark(list)
	return list
}

func milliseconds(seconds float64) events.Number { return events.Number(1000 * seconds) }

func squares(values []float32) (sum float64) {
	for _, v := range values {
		sum += float64(v) * float64(v)
	}
	return sum
}

// farOff is the factor to the median of the layers' gradients from which a gradient is marked.
const farOff = 1e4

// mark marks the layers whose gradients are not finite, or far from those of the other layers. Layers whose weights are not trained have
// none.
func (p *Probe) mark(list []Summary) {
	var sizes []float64
	trained := map[int]bool{}
	for _, l := range p.own.Learnable() {
		trained[l.LayerID] = trained[l.LayerID] || l.LRMult != 0
	}
	for i, s := range list {
		if trained[i] {
			sizes = append(sizes, float64(s.Gradient))
		}
	}
	if len(sizes) == 0 {
		return
	}
	slices.Sort(sizes)
	median := sizes[len(sizes)/2]
	for i := range list {
		g := float64(list[i].Gradient)
		switch {
		case !trained[i]:
		case math.IsNaN(g) || math.IsInf(g, 0):
			list[i].Mark = "gradient is not finite"
		case g == 0:
			list[i].Mark = "no gradient"
		case g*farOff < median:
			list[i].Mark = "gradient vanishes"
		case g > farOff*median:
			list[i].Mark = "gradient explodes"
		}
	}
}

// Layer looks at a layer.
func (p *Probe) Layer(name string) (*Layer, error) {
	at := -1
	for i := range p.own.NumLayers() {
		if p.own.LayerName(i) == name {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("the training net has no layer %q", name)
	}
	l := &Layer{}
	var tops []Blob
	err := p.Look(func(i int) {
		if i != at {
			return
		}
		for k, b := range p.own.Tops(i) {
			tops = append(tops, topOf(b, p.own.LayerParam(i).GetTop()[k]))
		}
		if p.own.LayerType(i) == "ReLU" && len(p.own.Tops(i)) == 1 {
			l.Dead = dead(p.own.Tops(i)[0])
		}
	})
	if err != nil {
		return nil, err
	}
	l.Summary = p.summaries()[at]
	l.Text = string(swproto.MarshalText(p.train.LayerParam(at)))
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient} {
		if a := p.train.Algorithm(at, d); a != "" {
			l.Algorithms = append(l.Algorithms, fmt.Sprintf("%v: %s", d, a))
		}
	}
	for k, b := range p.own.Layer(at).Params() {
		l.Blobs = append(l.Blobs, weightOf(b, k))
		l.Bytes += 2 * bytesPerValue * b.Count()
	}
	for _, b := range p.own.Tops(at) {
		l.Bytes += 2 * bytesPerValue * b.Count()
	}
	l.Blobs = append(l.Blobs, tops...)
	return l, nil
}

const bytesPerValue = 4

func weightOf(b *blob.Blob, index int) Blob {
	g := NewHistogram(b.Diff())
	w := Blob{Role: fmt.Sprintf("weights %d", index), Shape: b.ShapeString(), Values: NewHistogram(b.Data()), Gradients: &g}
	w.draw(picture.NewTiles(b.Data(), b.Shape()))
	return w
}

// topOf describes a top. Its picture is of the batch's first item.
func topOf(b *blob.Blob, name string) Blob {
	t := Blob{Role: "top " + name, Shape: b.ShapeString(), Values: NewHistogram(b.Data())}
	if b.NumAxes() == 4 && b.Dim(0) > 0 {
		shape := append([]int{1}, b.Shape()[1:]...)
		t.draw(picture.NewTiles(b.Data()[:b.CountFrom(1)], shape))
	}
	return t
}

func (b *Blob) draw(t *picture.Tiles) {
	if t != nil {
		b.Picture, b.Shown, b.Of = t.PNG(), t.Shown, t.Of
	}
}

// dead returns the share of channels (axis 1) that are 0 in all items.
func dead(b *blob.Blob) *events.Number {
	if b.NumAxes() < 2 || b.Count() == 0 {
		return nil
	}
	items, channels, size := b.Dim(0), b.Dim(1), b.CountFrom(2)
	zero := 0
	for c := range channels {
		alive := false
		for n := range items {
			lo := (n*channels + c) * size
			alive = alive || slices.ContainsFunc(b.Data()[lo:lo+size], func(v float32) bool { return v != 0 })
		}
		if !alive {
			zero++
		}
	}
	share := events.Number(float64(zero) / float64(channels))
	return &share
}
