package loss

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "CtcLoss", Doc: "mean of -log of the probability of a sequence of labels, over all ways to place it in the time steps",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &ctcLoss{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// ctcLoss is the CtcLoss layer of WarpCTC's fork: connectionist temporal classification (Graves et al. 2006). Bottom 0 has scores of
// time steps x items x classes, bottom 1 labels of items x length, in which the blank fills up. The loss is the mean over items of -log p; an
// item with more labels than time steps counts 0.
//
// The gradient is not divided by the number of items, as in the fork, on which its nets' learning rates depend.
type ctcLoss struct {
	layers.Base
	classes, steps, blank int
	items, length         int
	paths                 []ctcPaths // of each item
	losses                []float64

	op          softmaxOp
	prob, slope *blob.Blob
	sum         *stream.Units
	gradient    pairGradient
	probData    []float32
	slopeData   []float32
}

func (l *ctcLoss) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetCtcLossParam()
	l.classes, l.steps, l.blank = int(p.GetAlphabetSize()), int(p.GetTimeStep()), int(p.GetBlankLabel())
	if l.classes < 1 || l.steps < 1 {
		return fmt.Errorf("alphabet_size and time_step must be positive, they are %d and %d", l.classes, l.steps)
	}
	if l.blank < 0 || l.blank >= l.classes {
		return fmt.Errorf("blank_label must be one of the %d classes, it is %d", l.classes, l.blank)
	}
	l.prob, l.slope = l.Device.NewBlob(0), l.Device.NewBlob(0)
	return nil
}

func (l *ctcLoss) Reshape(bottom, top []*blob.Blob) error {
	x, labels := bottom[0], bottom[1]
	if x.NumAxes() < 3 || x.Dim(0) != l.steps || x.CountFrom(2) != l.classes {
		return fmt.Errorf("bottom[0] must have scores of time_step %d x items x alphabet_size %d, its shape is %s", l.steps, l.classes, x.ShapeString())
	}
	if labels.NumAxes() < 2 || labels.Dim(0) != x.Dim(1) {
		return fmt.Errorf("bottom[1] must have rows of labels for each of %d items, its shape is %s", x.Dim(1), labels.ShapeString())
	}
	items, length := x.Dim(1), labels.CountFrom(1)
	top[0].Reshape()
	l.prob.ReshapeLike(x)
	l.slope.ReshapeLike(x)
	if err := l.op.reshape(&l.Base, [3]int{l.steps * items, l.classes, 1}); err != nil || l.items == items && l.length == length {
		return err
	}
	l.items, l.length = items, length
	l.paths, l.losses = make([]ctcPaths, items), make([]float64, items)
	for i := range l.paths {
		l.paths[i] = newCTCPaths(l.steps, length)
	}
	if l.MPE() {
		return nil
	}
	m, streams := l.Device.Machine, part.StreamsOf(&l.Base)
	if err := stream.CheckUnit(m, l.Param.GetType(), 2*l.steps*l.classes+l.room()); err != nil {
		return err
	}
	l.sum = stream.NewUnits(m, l.Param.GetType(), items, items*l.room()*8, l.item)
	l.gradient.scale = streams.Make(l.gradient.pass("CtcLoss gradient", x.Count()))
	return streams.Err
}

// room is the number of float32 values that the float64 arrays of an item's paths take.
func (l *ctcLoss) room() int { return 2 * (l.steps + 2) * (2*l.length + 1) }

// item computes an item's loss and slopes.
func (l *ctcLoss) item(w *stream.UnitWorker, n int) {
	row := l.items * l.classes
	prob, probStride := w.Load(stream.Rect(l.probData, n*l.classes, l.steps, row, l.classes))
	slope, slopeStride := w.Place(stream.Rect(l.slopeData, n*l.classes, l.steps, row, l.classes))
	w.Scratch(l.room())
	w.Cost(l.steps*(2*l.length+1)*20, l.steps*(2*l.length+1)*12)
	if w.Values() {
		l.losses[n] = -l.paths[n].sum(prob, slope, l.classes, probStride, slopeStride)
	}
}

// readLabels sets the paths of each item.
func (l *ctcLoss) readLabels(labels []float32) error {
	for i, v := range labels {
		if !(v >= 0 && int(v) < l.classes) {
			return fmt.Errorf("label %g of item %d is out of range: there are %d classes (0 to %d)", v, i/l.length, l.classes, l.classes-1)
		}
	}
	for n := range l.paths {
		l.paths[n].read(labels[n*l.length:][:l.length], l.blank)
	}
	return nil
}

func (l *ctcLoss) Forward(bottom, top []*blob.Blob) error {
	if err := l.readLabels(bottom[1].Data()); err != nil {
		return err
	}
	l.probData, l.slopeData = l.prob.Data(), l.slope.Data()
	if err := l.op.forward(bottom[0].Data(), l.probData); err != nil {
		return err
	}
	if l.MPE() {
		row := l.items * l.classes
		for n := range l.paths {
			l.losses[n] = -l.paths[n].sum(l.probData[n*l.classes:], l.slopeData[n*l.classes:], l.classes, row, row)
		}
	} else if err := l.sum.Run(); err != nil {
		return err
	}
	var sum float64
	for _, loss := range l.losses {
		sum += loss
	}
	top[0].Data()[0] = float32(sum / float64(max(1, l.items)))
	return nil
}

// Traits implements Planned. Forward keeps the slopes.
func (l *ctcLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing, Keeps: []*blob.Blob{l.slope}}
}

func (l *ctcLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	return l.gradient.backward(l.MPE(), l.slope.Data(), 1, top[0], propagateDown, bottom)
}
