package data

import (
	"errors"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// batchLayer is embedded by layers that take their batches from a prefetcher.
type batchLayer struct {
	layers.Base
	batches   *data.Prefetcher
	augmenter *augment.Augmenter // nil: none
	last      *data.Batch        // the batch that Forward has handed out
	window    layers.Window
	shape     [4]int
	copies    [2]part.Mover // data, labels
	repaired  repairs
}

// open starts a prefetcher for the worker's share of the batches. If that fails, it closes the source.
func (l *batchLayer) open(top []*blob.Blob, c data.Config) error {
	window, err := l.Device.Share.Window(c.BatchSize)
	if err != nil {
		return errors.Join(err, c.Source.Close())
	}
	if s, ok := c.Source.(interface{ Len() int }); ok {
		if err := l.Device.Share.CheckItems("the source", s.Len()); err != nil {
			return errors.Join(err, c.Source.Close())
		}
	}
	l.window = window
	l.augmenter.SetBatch(window.Stride)
	c.BatchSize, c.First, c.Stride = window.Count, window.First, window.Stride
	c.Repaired = l.warnRepaired
	if l.batches, err = data.NewPrefetcher(c); err != nil {
		return errors.Join(err, c.Source.Close())
	}
	return l.resize(top, l.batches.Shape())
}

// transformer reads transform_param. The augmenter, which it also keeps, does the steps resize_param and noise_param; it is nil without them. SSD's data layers
// without boxes ignore its other fields, and so does this one, with a warning.
func (l *batchLayer) transformer() (*data.Transformer, *augment.Augmenter, error) {
	p := l.Param.GetTransformParam()
	for _, f := range []struct {
		name string
		set  bool
	}{{"distort_param", p.GetDistortParam() != nil}, {"expand_param", p.GetExpandParam() != nil}, {"emit_constraint", p.GetEmitConstraint() != nil}} {
		if f.set && l.Device.Log != nil {
			l.Device.Log.Warnf("layer %q: transform_param's %s does nothing in a layer of type %s, as in SSD", l.Param.GetName(), f.name, l.Param.GetType())
		}
	}
	t, err := data.NewImageTransformer(p, l.Param.GetPhase())
	if err != nil || len(p.GetResizeParam()) == 0 && p.GetNoiseParam() == nil {
		return t, nil, err
	}
	l.augmenter, err = augment.New(&caffepb.TransformationParameter{ResizeParam: p.ResizeParam, NoiseParam: p.NoiseParam}, nil)
	return t, l.augmenter, err
}

// resize gives the tops the shape of a batch and prepares the copies.
func (l *batchLayer) resize(top []*blob.Blob, shape [4]int) (err error) {
	l.shape = shape
	top[0].Reshape(shape[:]...)
	if len(top) > 1 {
		top[1].Reshape(shape[0])
	}
	for i, b := range top {
		if l.copies[i], err = part.NewMover(&l.Base, shape[0], b.CountFrom(1)); err != nil {
			return err
		}
	}
	return nil
}

// Reshape restores the shape of the last batch.
func (l *batchLayer) Reshape(_, top []*blob.Blob) error {
	top[0].Reshape(l.shape[:]...)
	if len(top) > 1 {
		top[1].Reshape(l.shape[0])
	}
	return nil
}

// Forward hands out the next batch. As in Caffe, the batch has the shape of its first item.
func (l *batchLayer) Forward(_, top []*blob.Blob) error {
	_, err := l.take(top)
	return err
}

// take copies the next batch to the tops and returns it, or nil on a machine that moves no values. The batch is valid until the next take.
func (l *batchLayer) take(top []*blob.Blob) (*data.Batch, error) {
	if !l.Device.Machine.Values() {
		return nil, l.charge(top)
	}
	before := l.batches.Position()
	b, err := l.batches.Next()
	if l.last = b; err != nil {
		return nil, err
	}
	if items, _ := l.batches.Items(0); items > 0 {
		tellRestart(&l.Base, "Restarting data prefetching from start.", before+l.batches.Skip, l.batches.Position()+l.batches.Skip, items)
	}
	if b.Shape != l.shape {
		if err := l.resize(top, b.Shape); err != nil {
			return nil, err
		}
	}
	for i, values := range [][]float32{b.Data, b.Labels}[:len(top)] {
		if err := l.copies[i].Run(top[i].Data(), values); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// charge accounts for the copies on a machine that moves no values.
func (l *batchLayer) charge(top []*blob.Blob) error {
	for i := range top {
		if err := l.copies[i].Run(nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Backward does nothing: data has no gradient.
func (l *batchLayer) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// Position implements Positioner.
func (l *batchLayer) Position() uint64 { return l.batches.Position() }

// SetPosition implements Positioner.
func (l *batchLayer) SetPosition(items uint64) error {
	l.last = nil
	l.batches.SetPosition(items)
	return nil
}

// ItemName implements ItemNamer.
func (l *batchLayer) ItemName(k int) string {
	if l.last == nil {
		return ""
	}
	return l.last.Name(k)
}

// Items implements Finite.
func (l *batchLayer) Items(most uint64) (uint64, error) { return l.batches.Items(most) }

// tellRestart logs, as Caffe does, that the items from one position to another include the last one of a set, after which the first one follows. A
// batch that is larger than the set says so once.
func tellRestart(l *layers.Base, text string, from, to, items uint64) {
	if log := l.Device.Log; to/items > from/items && log != nil {
		log.Info(text)
	}
}

// Window implements Sharer.
func (l *batchLayer) Window() layers.Window { return l.window }

// DataWait implements DataWaiter.
func (l *batchLayer) DataWait() time.Duration { return l.batches.Waited() }

// DataAhead implements DataWaiter.
func (l *batchLayer) DataAhead() float64 { return l.batches.Values() }

// ObserveData implements DataWaiter.
func (l *batchLayer) ObserveData(f func(work string, worker int, begun time.Time)) {
	l.batches.Observe(f)
}

// Examine looks at items as Prefetcher.Examine does.
func (l *batchLayer) Examine(most int, told func(done, of int)) (*data.Examination, error) {
	return l.batches.Examine(most, told)
}

// Close stops the prefetcher and closes the source. The log says how many damaged images there were.
func (l *batchLayer) Close() error {
	if l.batches == nil {
		return nil
	}
	err := l.batches.Close()
	l.countRepaired()
	return err
}
