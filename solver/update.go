package solver

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/rules"
)

// updater applies a rule to every weight of a net.
type updater struct {
	rule    rules.Rule
	param   *caffepb.SolverParameter
	weights []*weightUpdate
	engine  layers.Engine
}

// weightUpdate updates one weight. step and l1 are set before each run of its kernel.
type weightUpdate struct {
	weight    swnet.Learnable
	histories []*blob.Blob
	step      vec.Step // Scale is the clipping factor / iter_size, Decay the weight decay of L2 regularisation * decay_mult
	l1        float32  // weight decay of L1 regularisation * decay_mult
	kernel    *stream.Kernel
	ins, outs [][]float32
}

// newUpdater makes the zeroed histories and the kernels for all weights of n.
func newUpdater(p *caffepb.SolverParameter, n *swnet.Net, d *layers.Device) (*updater, error) {
	r, err := rules.Find(p)
	if err != nil {
		return nil, err
	}
	u := &updater{rule: r, param: p, engine: d.Engine}
	for _, l := range n.Learnable() {
		w := &weightUpdate{weight: l}
		for range r.Histories() {
			w.histories = append(w.histories, blob.New(l.Blob.Shape()...))
		}
		if d.Engine == layers.CPE {
			if err := w.makeKernel(r, d); err != nil {
				return nil, fmt.Errorf("update of layer %q, param %d: %w", l.Layer, l.Index, err)
			}
		}
		u.weights = append(u.weights, w)
	}
	return u, nil
}

// packHistory copies the histories of packed weights to dst, unless dst is empty.
func (u *updater) packHistory(p *pack, dst []float32) {
	if len(dst) > 0 {
		p.histories(u, func(h []float32, lo, hi int) { copy(dst[lo:hi], h) })
	}
}

// unpackHistory copies src to the histories of packed weights, unless src is empty.
func (u *updater) unpackHistory(p *pack, src []float32) {
	if len(src) > 0 {
		p.histories(u, func(h []float32, lo, hi int) { copy(h, src[lo:hi]) })
	}
}

// makeKernel prepares the stream that reads and writes weight, gradient and histories once.
func (w *weightUpdate) makeKernel(r rules.Rule, d *layers.Device) error {
	arrays := make([]stream.Array, 2+r.Histories())
	n := w.weight.Blob.Count()
	w.ins = make([][]float32, len(arrays))
	w.outs = make([][]float32, len(arrays))
	var err error
	w.kernel, err = stream.New(d.Machine, stream.Pass{
		Name: "update", Dims: [3]int{1, 1, n}, Ins: arrays, Outs: arrays, InPlace: len(arrays),
		Cost: stream.Work{Flops: float64(4 + 4*r.Histories()), Specials: float64(r.Histories() - 1)},
		Op: func(t *stream.Tile) {
			weight, g, step := t.Out[0], t.Out[1], w.step
			if w.l1 != 0 {
				w.addSigns(weight, g)
				step.Scale = 1
			}
			r.Update(&step, weight, g, t.Out[2:])
		},
	})
	return err
}

// addSigns scales the gradient of a tile and adds the gradient of L1 regularisation.
func (w *weightUpdate) addSigns(weight, g []float32) {
	vec.Scale(g, g, w.step.Scale)
	for i, v := range weight {
		g[i] += w.l1 * sign(v)
	}
}

func sign(v float32) float32 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// apply updates all weights. It first multiplies gradients by clip (see clipFactor) and divides them by iter_size. Afterwards the diffs
// hold the subtracted updates.
func (u *updater) apply(iter int, learningRate float64, clip float32) error {
	p := u.param
	t := float64(iter + 1)
	step := vec.Step{Scale: clip / float32(max(1, p.GetIterSize())), Momentum: p.GetMomentum(), Beta: p.GetMomentum2(), Delta: p.GetDelta()}
	if p.GetType() == "RMSProp" {
		step.Beta = p.GetRmsDecay()
	}
	step.Correct = float32(math.Sqrt(1-math.Pow(float64(p.GetMomentum2()), t)) / (1 - math.Pow(float64(p.GetMomentum()), t)))
	for _, w := range u.weights {
		w.step = step
		w.l1, w.step.Decay = 0, p.GetWeightDecay()*w.weight.DecayMult
		w.step.Rate = float32(learningRate * float64(w.weight.LRMult) * w.trust(float64(p.GetLarsTrust()), float64(w.step.Decay)))
		if p.GetRegularizationType() == "L1" {
			w.l1, w.step.Decay = w.step.Decay, 0
		}
		if err := u.update(w); err != nil {
			return fmt.Errorf("update of layer %q, param %d: %w", w.weight.Layer, w.weight.Index, err)
		}
	}
	return nil
}

// trust returns LARS's factor of the rate, trust |w| / (|g| + decay |w|) (Y. You, I. Gitman, B. Ginsburg, "Large batch training of
// convolutional networks", 2017, algorithm 1). It returns 1 without LARS, and if one of the norms is 0.
func (w *weightUpdate) trust(trust, decay float64) float64 {
	if trust == 0 {
		return 1
	}
	weight := math.Sqrt(vec.SumSq(w.weight.Blob.Data()))
	gradient := math.Sqrt(vec.SumSq(w.weight.Blob.Diff())) * float64(w.step.Scale)
	if weight == 0 || gradient == 0 {
		return 1
	}
	return trust * weight / (gradient + decay*weight)
}

func (u *updater) update(w *weightUpdate) error {
	if u.engine == layers.MPE {
		w.reference(u.rule)
		return nil
	}
	w.ins[0], w.ins[1] = w.weight.Blob.Data(), w.weight.Blob.Diff()
	for i, h := range w.histories {
		w.ins[2+i] = h.Data()
	}
	copy(w.outs, w.ins)
	return w.kernel.Run(w.ins, w.outs)
}

// reference runs the update on the MPE path.
func (w *weightUpdate) reference(r rules.Rule) {
	weight, g := w.weight.Blob.Data(), w.weight.Blob.Diff()
	h := make([]float64, len(w.histories))
	for i := range weight {
		gradient := float64(g[i])*float64(w.step.Scale) + float64(w.step.Decay)*float64(weight[i]) + float64(w.l1)*float64(sign(weight[i]))
		for k := range h {
			h[k] = float64(w.histories[k].Data()[i])
		}
		step := r.Element(&w.step, gradient, h)
		for k := range h {
			w.histories[k].Data()[i] = float32(h[k])
		}
		g[i] = float32(step)
		weight[i] -= g[i]
	}
}

// clipFactor returns the factor that limits the gradients' L2 norm over all weights to limit (clip_gradients), and the norm before. As in
// Caffe, the norm is that of the sum over iter_size passes.
func clipFactor(weights []swnet.Learnable, limit float32) (factor float32, norm float64) {
	if limit < 0 {
		return 1, 0
	}
	var sum float64
	for _, w := range weights {
		sum += vec.SumSq(w.Blob.Diff())
	}
	norm = math.Sqrt(sum)
	if norm <= float64(limit) {
		return 1, norm
	}
	return float32(float64(limit) / norm), norm
}
