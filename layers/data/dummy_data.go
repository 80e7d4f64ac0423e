package data

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "DummyData", Doc: "tops filled by fillers: constants once, the others anew in every pass",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &dummyData{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.AtLeast(1), NoGradient: true, Effects: drawnDummies,
	})
}

// constant is the filler of tops that are filled once.
const constant = "constant"

// dummyData is Caffe's DummyData layer.
type dummyData struct {
	layers.Base
	fillers []*caffepb.FillerParameter // one per top
	refill  []bool
	windows []layers.Window // the worker's part of each top
	rounds  []*blob.Blob    // the values of all workers together, if there are several
}

func (l *dummyData) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetDummyDataParam()
	n := len(p.GetDataFiller())
	if n != 0 && n != 1 && n != len(top) {
		return fmt.Errorf("number of data fillers must be 0, 1 or equal to the number of tops: %d; you specified %d", len(top), n)
	}
	for i, t := range top {
		f := &caffepb.FillerParameter{}
		if n > 0 {
			f = p.DataFiller[min(i, n-1)]
		}
		l.fillers = append(l.fillers, f)
		l.refill = append(l.refill, f.GetType() != constant)
		shape, err := dummyShape(p, i, len(top))
		if err != nil {
			return err
		}
		if err := l.Device.CheckShape(fmt.Sprintf("top %d", i), shape); err != nil {
			return err
		}
		if err := l.share(t, shape); err != nil {
			return fmt.Errorf("top %d: %w", i, err)
		}
		if !l.refill[i] && l.Device.Machine.Values() { // once, so that a program can write other values before the first Forward
			if err := l.fill(i, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// share gives a top the shape of the worker's part.
func (l *dummyData) share(t *blob.Blob, shape []int) error {
	t.Reshape(shape...)
	if l.Device.Share.Alone() {
		return nil
	}
	if len(shape) == 0 {
		return errors.New("a top without axes cannot be shared between workers")
	}
	w, err := l.Device.Share.Window(shape[0])
	if err != nil {
		return err
	}
	round := blob.New(append([]int{w.Stride}, shape[1:]...)...)
	t.Reshape(append([]int{w.Count}, shape[1:]...)...)
	l.windows, l.rounds = append(l.windows, w), append(l.rounds, round)
	return nil
}

// dummyShape returns the shape of top i, from shape or from the older num, channels, height and width. Each is given once, or once per top.
func dummyShape(p *caffepb.DummyDataParameter, i, tops int) ([]int, error) {
	legacy := [][]uint32{p.GetNum(), p.GetChannels(), p.GetHeight(), p.GetWidth()}
	if n := len(p.GetShape()); n > 0 {
		if n != 1 && n != tops {
			return nil, fmt.Errorf("must specify 'shape' once, or once per top blob (%d): it is specified %d times", tops, n)
		}
		for _, f := range legacy {
			if len(f) > 0 {
				return nil, errors.New("shape and the older num, channels, height, width cannot both be given")
			}
		}
		return part.ShapeOf(p.Shape[min(i, n-1)])
	}
	var shape []int
	for k, f := range legacy {
		if n := len(f); n != 1 && n != tops {
			return nil, fmt.Errorf("must specify '%s' once, or once per top blob (%d): it is specified %d times", [...]string{"num", "channels", "height", "width"}[k], tops, n)
		}
		shape = append(shape, int(f[min(i, len(f)-1)]))
	}
	return shape, nil
}

func (l *dummyData) Reshape(_, _ []*blob.Blob) error { return nil }

func (l *dummyData) Forward(_, top []*blob.Blob) error {
	for i, t := range top {
		if l.refill[i] && l.Device.Machine.Values() {
			if err := l.fill(i, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// Window implements Sharer. It returns the part of the first top.
func (l *dummyData) Window() layers.Window {
	if len(l.windows) == 0 {
		return layers.Window{}
	}
	return l.windows[0]
}

// fill fills a top with the worker's part of the values that a single worker would get.
func (l *dummyData) fill(i int, t *blob.Blob) error {
	if len(l.rounds) == 0 {
		return layers.Fill(t, l.fillers[i], l.Device.Random)
	}
	round, w := l.rounds[i], l.windows[i]
	if err := layers.Fill(round, l.fillers[i], l.Device.Random); err != nil {
		return err
	}
	size := round.CountFrom(1)
	copy(t.Data(), round.Data()[w.First*size:(w.First+w.Count)*size])
	return nil
}

func (l *dummyData) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// drawnDummies is the effect of layers with tops that are filled in every pass.
func drawnDummies(p *caffepb.LayerParameter) string {
	for _, f := range p.GetDummyDataParam().GetDataFiller() {
		if f.GetType() != constant {
			return "fills tops anew in every pass"
		}
	}
	return ""
}
