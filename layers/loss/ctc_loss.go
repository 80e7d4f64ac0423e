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
	register := func(name string, bottoms layers.Arity) {
		layers.Register(layers.Type{
			Name: name, Doc: "mean of -log of the probability of a sequence of labels, over all ways to place it in the time steps",
			Couples: layers.OverTime,
			Params:  []string{"ctc_loss_param"},
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				return &ctcLoss{Base: layers.Base{Param: p, Device: d}}
			},
			Bottoms: bottoms, Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{1, 2, 3},
		})
	}
	register("CtcLoss", layers.Exactly(2))
	register("CTCLoss", layers.Exactly(3))
	register("WarpCTCLoss", layers.Between(2, 4))
}

// ctcLoss is connectionist temporal classification (Graves et al. 2006). Bottom 0 has scores of time steps x items x classes. The form says
// what the other bottoms are, and where sequences end. The loss is the mean over items of -log p; an item whose labels have no room in its time
// steps counts 0.
//
// The gradient is not divided by the number of items, as in the forks, on which their nets' learning rates depend.
type ctcLoss struct {
	layers.Base
	form                  ctcForm
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

func (l *ctcLoss) SetUp(bottom, _ []*blob.Blob) error {
	l.prob, l.slope = l.Device.NewBlob(0), l.Device.NewBlob(0)
	return l.setForm(len(bottom))
}

func (l *ctcLoss) Reshape(bottom, top []*blob.Blob) error {
	x := bottom[0]
	if err := l.setClasses(x); err != nil {
		return err
	}
	items := x.Dim(1)
	length, err := l.form.check(l, items, bottom[1:])
	if err != nil {
		return err
	}
	top[0].Reshape()
	l.prob.ReshapeLike(x)
	l.slope.ReshapeLike(x)
	if err := l.op.reshape(&l.Base, [3]int{l.steps * items, l.classes, 1}); err != nil {
		return err
	}
	if l.items == items && l.length == length && len(l.paths) > 0 && len(l.paths[0].ahead) == l.steps*(2*length+1) {
		return nil
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
	l.sum = stream.NewUnits(m, l.Param.GetType(), items, items*l.room()*8, l.item)
	l.gradient.scale = streams.Make(l.gradient.pass(l.Param.GetType()+" gradient", x.Count()))
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

func (l *ctcLoss) Forward(bottom, top []*blob.Blob) error {
	if l.Device.Machine.Values() {
		if err := l.form.read(l, bottom[1:]); err != nil {
			return err
		}
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
	for i, down := range propagateDown[1:] {
		if down {
			return fmt.Errorf("the layer cannot backpropagate to sequences and labels (bottom %d)", i+1)
		}
	}
	return l.gradient.backward(l.MPE(), l.slope.Data(), 1, top[0], propagateDown[:2], bottom)
}
