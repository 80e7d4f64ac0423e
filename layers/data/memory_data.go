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
		Name: "MemoryData", Doc: "hands out batches of values from the program",
		Params: []string{"memory_data_param", "transform_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &MemoryData{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Exactly(2), NoGradient: true, Effects: layers.NextBatch,
	})
}

// MemoryData is Caffe's MemoryData layer. Top 0 is items x channels x height x width; top 1 holds the labels. A program asserts a net's
// layer to *MemoryData and calls Feed before the first Forward.
type MemoryData struct {
	layers.Base
	batch, size  int // items per round of all workers, values per item
	window       layers.Window
	data, labels []float32
	at           int    // first item of the next batch
	done         uint64 // items handed out
	resumed      bool   // done comes from SetPosition, and no batch was handed out since
	copies       [2]part.Mover
}

// SetUp gives the tops their shapes.
func (l *MemoryData) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetMemoryDataParam()
	l.batch = int(p.GetBatchSize())
	c, h, w := int(p.GetChannels()), int(p.GetHeight()), int(p.GetWidth())
	l.size = c * h * w
	var err error
	if l.window, err = l.Device.Share.Window(l.batch); err != nil {
		return fmt.Errorf("memory_data_param: %w", err)
	}
	l.batch = l.window.Stride
	if l.batch*l.size == 0 {
		return fmt.Errorf("memory_data_param: batch_size, channels, height and width must be positive, they are %d, %d, %d and %d", l.batch, c, h, w)
	}
	top[0].Reshape(l.window.Count, c, h, w)
	top[1].Reshape(l.window.Count)
	for i, t := range top {
		if l.copies[i], err = part.NewMover(&l.Base, l.window.Count, t.CountFrom(1)); err != nil {
			return err
		}
	}
	return nil
}

// Feed sets the values to hand out from now on, in rounds: data of items x channels x height x width, and one label per item. The number of
// items must be a multiple of the batch size, or of the batches of all workers together. Feed keeps the slices and does not copy them.
// After a resume, the first Feed must repeat the last one of the interrupted run; MemoryData then skips the items already handed out.
func (l *MemoryData) Feed(data, labels []float32) error {
	switch n := len(labels); {
	case n == 0 || n%l.batch != 0:
		return fmt.Errorf("layer %q: %d labels are no multiple of the batch size, %d", l.Param.GetName(), n, l.batch)
	case len(data) != n*l.size:
		return fmt.Errorf("layer %q: %d values for %d labels, which need %d", l.Param.GetName(), len(data), n, n*l.size)
	}
	if !l.resumed {
		l.done = 0
	}
	l.data, l.labels, l.at = data, labels, int(l.done%uint64(len(labels)))
	return nil
}

// Reshape does nothing, since the prototxt gives the shapes.
func (l *MemoryData) Reshape(_, _ []*blob.Blob) error { return nil }

// Forward hands out the next batch.
func (l *MemoryData) Forward(_, top []*blob.Blob) error {
	if !l.Device.Machine.Values() {
		return errors.Join(l.copies[0].Run(nil, nil), l.copies[1].Run(nil, nil))
	}
	if l.data == nil {
		return errors.New("MemoryData has nothing to hand out: a program gives it images (Feed in Go, set_input_arrays in Python); for a command, put an Input layer in its place")
	}
	first := l.at + l.window.First
	end := first + l.window.Count
	for i, values := range [][]float32{l.data[first*l.size : end*l.size], l.labels[first:end]} {
		if err := l.copies[i].Run(top[i].Data(), values); err != nil {
			return err
		}
	}
	l.at = (l.at + l.batch) % len(l.labels)
	l.done += uint64(l.batch)
	l.resumed = false
	return nil
}

// Backward does nothing: data has no gradient.
func (l *MemoryData) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// Items implements Finite.
func (l *MemoryData) Items(uint64) (uint64, error) { return uint64(len(l.labels)), nil }

// Window implements Sharer.
func (l *MemoryData) Window() layers.Window { return l.window }

// Position implements Positioner.
func (l *MemoryData) Position() uint64 { return l.done }

// SetPosition implements Positioner. It may be called before Feed or after it.
func (l *MemoryData) SetPosition(items uint64) error {
	l.done, l.resumed = items, true
	if n := uint64(len(l.labels)); n > 0 {
		l.at = int(items % n)
	}
	return nil
}
