package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// whole runs the net with fusion, layouts and memory plan on all numbers of threads. It compares the bits with the first run's,
// and the values with the MPE path's.
func (p *problem) whole() error {
	var first []*run
	for i, t := range p.threads {
		m, err := machine(t)
		if err != nil {
			return err
		}
		n, err := p.build(layers.CPE, m, true)
		if err != nil {
			return fmt.Errorf("economising net on threads %v: %w", t, err)
		}
		runs, again, err := p.runs(n)
		if err == nil && i == 0 {
			first = runs
			err = p.againstMPE(runs, again)
		}
		n.Close()
		if err != nil {
			return fmt.Errorf("economising net on threads %v: %w", t, err)
		}
		for k, r := range runs {
			if err := sameBits(r, first[k]); err != nil {
				return fmt.Errorf("iteration %d on threads %v against threads %v: %w", k+1, t, p.threads[0], err)
			}
		}
	}
	return nil
}

// runs runs two iterations, and a third with another batch size if the problem has one. again is an MPE net with the weights
// before the third iteration, nil if there is none.
func (p *problem) runs(n *swnet.Net) (all []*run, again *swnet.Net, err error) {
	for range 2 {
		r, err := p.iterate(n)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, r)
		if p.use == train {
			step(n)
		}
	}
	if p.again == 0 {
		return all, nil, nil
	}
	m, err := machine(p.threads[0])
	if err != nil {
		return nil, nil, err
	}
	if again, err = p.build(layers.MPE, m, false); err != nil {
		return nil, nil, err
	}
	copyWeights(again, n)
	if rebatch(again, p.again) != nil {
		again.Close()
		return all, nil, nil // the net permits only one batch size
	}
	if err := rebatch(n, p.again); err != nil {
		return nil, nil, fmt.Errorf("batch %d: %w", p.again, err)
	}
	r, err := p.iterate(n)
	if err == nil {
		return append(all, r), again, nil
	}
	defer again.Close()
	if _, refused := p.iterate(again); refused != nil {
		return all, nil, nil
	}
	return nil, nil, fmt.Errorf("batch %d: %w", p.again, err)
}

// againstMPE compares the values of the first iteration and of the one with another batch size with the MPE path's.
func (p *problem) againstMPE(runs []*run, again *swnet.Net) error {
	m, err := machine(p.threads[0])
	if err != nil {
		return err
	}
	n, err := p.build(layers.MPE, m, false)
	if err != nil {
		return err
	}
	defer n.Close()
	if err := p.nearMPE(n, runs[0], 0); err != nil {
		return fmt.Errorf("against the MPE path: %w", err)
	}
	if again == nil {
		return nil
	}
	defer again.Close()
	if p.remembers() {
		return nil
	}
	if err := p.nearMPE(again, runs[2], p.again); err != nil {
		return fmt.Errorf("batch %d after batches of another size, against the MPE path: %w", p.again, err)
	}
	return nil
}

// remembers reports whether an iteration depends on earlier ones by more than the weights: random numbers continue, and recurrent
// layers keep their state.
func (p *problem) remembers() bool {
	return slices.ContainsFunc(p.net.Layer, func(l *caffepb.LayerParameter) bool {
		draws := l.GetType() == "Dropout" || l.GetType() == "Noise" || l.GetPoolingParam().GetPool() == caffepb.PoolingParameter_STOCHASTIC
		return draws && p.use == train || slices.Contains([]string{"LSTM", "RNN", "Lstm"}, l.GetType())
	})
}

// nearMPE compares a run with a run of an MPE net. If they differ by more than the tolerance, it measures how much MPE nets with
// perturbed weights and inputs and added rounding errors differ: a value near a kink may be on its other side, and sums may
// cancel.
func (p *problem) nearMPE(n *swnet.Net, got *run, batch int) error {
	weights, err := p.build(layers.MPE, machines[len(p.threads[0])], false)
	if err != nil {
		return err
	}
	defer weights.Close()
	copyWeights(weights, n) // BatchNorm changes its statistics
	want, err := p.iterate(n)
	if err != nil {
		return err
	}
	moved := newEnvelope(want)
	r := rand.New(rand.NewPCG(p.seed, 3))
	// Losses are of the order of 1, with weights up to 10, and so are the terms of gradients.
	for draw := 0; ; draw++ {
		err := near(got, want, moved, 1e-3, 1e-5)
		if err == nil || draw == 24 {
			return err
		}
		other, err := p.noisy(weights, batch, r)
		if err != nil {
			return err
		}
		moved.widen(want, other)
	}
}

// noisy runs a net with perturbed weights and inputs, and with added rounding errors.
func (p *problem) noisy(from *swnet.Net, batch int, r *rand.Rand) (*run, error) {
	n, err := p.build(layers.MPE, machines[len(p.threads[0])], false)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	copyWeights(n, from)
	if batch > 0 {
		if err := rebatch(n, batch); err != nil {
			return nil, err
		}
	}
	for i := range n.NumLayers() {
		if n.LayerType(i) == "BatchNorm" {
			continue
		}
		for _, w := range n.Layer(i).Params() {
			addNoise(r, w.Data(), noise)
		}
	}
	q := *p
	q.noise = r
	return q.iterateBy(n, newRounder(r, p))
}

// noise is the deviation of the noise, relative to the values' root mean square: that of Winograd sums.
const noise = 1e-4

func addNoise(r *rand.Rand, x []float32, part float64) {
	size := rms(x) * part
	if math.IsNaN(size) || math.IsInf(size, 0) {
		return
	}
	for i := range x {
		x[i] += float32(size * r.NormFloat64())
	}
}
