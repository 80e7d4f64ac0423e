package kernels

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// forward sets the expected results; finish is the function that the kernel applies to each result of a channel.
func (j *convJob) forward(st shape.Strategy, finish func(channel int, v float64) float64) {
	s := newSums(j.y.n)
	if j.Bias {
		for i := range s.value {
			v := float64(j.bias.start[i/j.ref.plane%j.Out])
			s.value[i], s.size[i] = v, max(v, -v)
		}
	}
	j.ref.add(s, shape.Forward, j.x.start, j.w.start, nil)
	j.y.allowed = s.allow(st, exact(j.Values), j.x.start, j.w.start, j.C/j.Group*j.ref.kernel)
	for i, v := range s.value {
		s.value[i] = finish(i/j.ref.plane%j.Out, v)
	}
	j.y.want, j.y.written = s.value, true
}

// finish returns a run with a Finish that scales and shifts by channel, exactly if values are coarse.
func (j *convJob) finish(k *plan.Conv, st shape.Strategy, blocked bool) *run {
	floor := j.Add
	j.forward(st, func(channel int, v float64) float64 {
		if floor {
			v = max(0, v)
		}
		return 2*v + float64(channel)
	})
	for i := range j.y.allowed {
		if j.y.allowed[i] > 0 {
			j.y.allowed[i] = 2*j.y.allowed[i] + 4*unit*float64(j.Out)
		}
	}
	finish := func(y []float32, _, first int) {
		for i := range y {
			channel := first
			switch {
			case blocked:
				channel = first*lanes + i%lanes
			case j.ref.plane == 1:
				channel += i
			}
			y[i] = 2*y[i] + float32(channel)
		}
	}
	return &run{func() error {
		return k.Run(shape.Forward, conv.Arrays{X: j.x.data, W: j.w.data, Bias: j.biases(), Y: j.y.data, Floor: floor, Finish: finish})
	}, k.Scratch(shape.Forward)}
}

// weights sets the expected gradient of the weights, added to earlier values if add is set, and of the biases.
func (j *convJob) weights(st shape.Strategy, add, biases bool) {
	s := newSums(j.dw.n)
	if j.adds(j.dw, add); add {
		s.startAt(j.dw.start)
	}
	j.ref.add(s, shape.WeightGradient, j.x.start, nil, j.dy.start)
	dy := j.ref.sizesOf(j.dy.start)
	j.dw.want, j.dw.written = s.value, true
	j.dw.allowed = s.allow(st, exact(j.Values), j.x.start, dy, j.N*j.ref.plane)
	if !biases {
		return
	}
	b := newSums(j.Out)
	b.startAt(j.db.start)
	for i, v := range j.dy.start {
		o := i / j.ref.plane % j.Out
		b.value[o] += float64(v)
		b.size[o] += math.Abs(float64(dy[i]))
		b.terms[o]++
	}
	j.db.written = true
	j.db.want, j.db.allowed = b.value, b.allow(st, exact(j.Values), []float32{1}, dy, j.N*j.ref.plane)
}

// input sets the expected gradient of the images, added to earlier values if add is set. where: only where `above` is positive.
func (j *convJob) input(st shape.Strategy, add, where bool) {
	s := newSums(j.dx.n)
	if j.adds(j.dx, add); add {
		s.startAt(j.dx.start)
	}
	j.ref.add(s, shape.InputGradient, nil, j.w.start, j.dy.start)
	j.dx.allowed = s.allow(st, exact(j.Values), j.w.start, j.ref.sizesOf(j.dy.start), j.Out/j.Group*j.ref.kernel)
	if where {
		for i, v := range j.above.start {
			if !(v > 0) {
				s.value[i], j.dx.allowed[i] = 0, 0
			}
		}
	}
	j.dx.want, j.dx.written = s.value, true
}

// both sets both expected gradients, for Grads.
func (j *convJob) both(k *plan.Conv, st shape.Strategy) *run {
	where, biases := j.Thin, j.Bias && k.Does(shape.WeightGradient, op.SumBiases)
	j.weights(st, j.Add, biases)
	j.input(st, false, where)
	return &run{func() error {
		return k.Run(shape.BothGradients, conv.Arrays{
			X: j.x.data, W: j.w.data, DY: j.dy.data, DX: j.dx.data, DW: j.dw.data, DB: some(j.db, biases), Add: j.Add, Above: some(j.above, where),
		})
	}, k.GradsScratch()}
}
