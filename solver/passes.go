package solver

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// replica is the training net of a further core group. It shares the weights of the first core group's net, and has its own gradients and
// blobs.
type replica struct {
	net    *swnet.Net
	device *layers.Device
	pack   *pack
	part   float32
	loss   float64
	beside *background
}

// group runs a worker's passes, on one net or on one net per core group. Core groups split the worker's items (swCaffe, algorithm 1). Their
// gradients are added in the order of the groups.
type group struct {
	net    *swnet.Net
	pack   *pack
	part   float32 // the first core group's fraction of the step's items
	others []*replica
	total  []float32 // sum of all core groups' statistics
	own    []float32 // one core group's statistics
}

// addReplicas builds the nets of the other core groups.
func (v *Solver) addReplicas(source netSource) error {
	for i, m := range v.opt.CoreGroups {
		d := v.newDevice(v.seed)
		d.Machine, d.Log = m, layers.NoLog()
		d.Share = v.share(i + 1)
		n, err := source.build(swnet.Options{Device: d, Economise: true, Budget: &v.budget, WeightCopies: 1})
		if err != nil {
			return fmt.Errorf("core group %d: %w", i+1, err)
		}
		v.group.others = append(v.group.others, &replica{net: n, device: d})
	}
	return nil
}

// prepare packs the gradients and computes each net's fraction of the items. spare is passed to newPack.
func (g *group) prepare(share layers.Share, spare int) error {
	g.pack = newPack(g.net, spare)
	g.total, g.own = make([]float32, g.pack.count), make([]float32, g.pack.count)
	var err error
	if g.part, err = part(g.net, share); err != nil {
		return err
	}
	g.net.ScaleLoss(g.part)
	for _, r := range g.others {
		if r.part, err = part(r.net, share); err != nil {
			return err
		}
		r.net.ScaleLoss(r.part)
		r.pack = newPack(r.net, 0)
		shareWeights(r.net, g.net)
		r.beside = inBackground(r.pass)
	}
	return nil
}

// shareWeights makes n use the weights of first, except for the statistics.
func shareWeights(n, first *swnet.Net) {
	for i := range n.NumLayers() {
		if s, ok := n.Layer(i).(layers.RunningStatistics); ok && len(s.Statistics()) > 0 {
			continue
		}
		for k, b := range n.Layer(i).Params() {
			b.ShareData(first.Layer(i).Params()[k])
		}
	}
}

// part returns a net's fraction of a step's items: those of all workers if they split batches, else those of one worker.
func part(n *swnet.Net, share layers.Share) (float32, error) {
	if share.Ranks <= 1 && share.Groups <= 1 {
		return 1, nil
	}
	found, where := float32(0), ""
	for i := range n.NumLayers() {
		s, ok := n.Layer(i).(layers.Sharer)
		if !ok || s.Window().Stride == 0 {
			continue
		}
		w := s.Window()
		p := float32(w.Count) / float32(w.Stride)
		if !share.Split {
			p *= float32(max(1, share.Ranks))
		}
		if where != "" && p != found {
			return 0, fmt.Errorf("layers %q and %q give this worker different fractions of their batches, %g and %g: make both batch sizes multiples of the number of workers",
				where, n.LayerName(i), found, p)
		}
		found, where = p, n.LayerName(i)
	}
	if where == "" {
		return 0, fmt.Errorf("net %q has no data layer whose items several workers can share", n.Name())
	}
	return found, nil
}

// forwardBackward runs one pass. It returns the loss of the worker's items, weighted by their fraction of the step's items. If done is not
// nil, it is called for each layer once the layer's gradients are complete.
func (g *group) forwardBackward(done func(layer int)) (float64, error) {
	if len(g.others) == 0 {
		loss, err := g.net.Forward()
		if err != nil {
			return 0, err
		}
		return loss * float64(g.part), g.net.Backward(done)
	}
	if err := g.prepareWeights(); err != nil {
		return 0, err
	}
	for _, r := range g.others {
		r.beside.begin()
	}
	loss, err := g.net.ForwardBackward()
	for i, r := range g.others {
		if failed := r.beside.wait(); failed != nil && err == nil {
			err = fmt.Errorf("core group %d: %w", i+1, failed)
		}
	}
	if err != nil {
		return 0, err
	}
	loss *= float64(g.part)
	for _, r := range g.others {
		loss += r.loss * float64(r.part)
		vec.Add(g.pack.diff, g.pack.diff, r.pack.diff)
	}
	g.averageStatistics()
	if done != nil {
		for i := g.net.NumLayers() - 1; i >= 0; i-- {
			done(i)
		}
	}
	return loss, nil
}

// forward runs a forward pass of all core groups, in turn, and returns its loss as forwardBackward does.
func (g *group) forward() (float64, error) {
	if len(g.others) > 0 {
		if err := g.prepareWeights(); err != nil {
			return 0, err
		}
	}
	loss, err := g.net.Forward()
	loss *= float64(g.part)
	for i, r := range g.others {
		if err != nil {
			break
		}
		if r.loss, err = r.net.Forward(); err != nil {
			err = fmt.Errorf("core group %d: %w", i+1, err)
		}
		loss += r.loss * float64(r.part)
	}
	if err == nil && len(g.others) > 0 {
		g.averageStatistics()
	}
	return loss, err
}

// prepareWeights changes the weights that all core groups share, for layers whose Forward would do so.
func (g *group) prepareWeights() error {
	for i := range g.net.NumLayers() {
		if l, ok := g.net.Layer(i).(layers.WeightPreparer); ok {
			if err := l.PrepareWeights(); err != nil {
				return fmt.Errorf("layer %q: %w", g.net.LayerName(i), err)
			}
		}
	}
	return nil
}

// pass runs a further core group's part of a pass.
func (r *replica) pass() (err error) {
	r.net.ClearParamDiffs()
	r.loss, err = r.net.ForwardBackward()
	return err
}

func (r *replica) close() error {
	if r.beside != nil {
		r.beside.stop()
	}
	return r.net.Close()
}

// levelStatistics copies the first core group's statistics to the others.
func (g *group) levelStatistics() {
	if len(g.others) > 0 {
		g.pack.gather(g.total, 1)
		g.spread(g.total)
	}
}

// averageStatistics gives all core groups the mean of their statistics, weighted by items.
func (g *group) averageStatistics() {
	if g.pack.count == 0 {
		return
	}
	whole := g.whole()
	g.pack.gather(g.total, g.part/whole)
	for _, r := range g.others {
		r.pack.gather(g.own, r.part/whole)
		vec.Add(g.total, g.total, g.own)
	}
	g.spread(g.total)
}

// whole returns the worker's fraction of a step's items.
func (g *group) whole() float32 {
	sum := g.part
	for _, r := range g.others {
		sum += r.part
	}
	return sum
}

// spread sets the statistics of all core groups.
func (g *group) spread(statistics []float32) {
	g.pack.scatter(statistics)
	for _, r := range g.others {
		r.pack.scatter(statistics)
	}
}

// nonFinite describes where a NaN or infinity first appeared, or returns "".
func (g *group) nonFinite() string {
	where := g.net.FirstNonFinite()
	for i, r := range g.others {
		if where == "" && (math.IsNaN(r.loss) || math.IsInf(r.loss, 0)) {
			if where = r.net.FirstNonFinite(); where != "" {
				where += fmt.Sprintf(" of core group %d", i+1)
			}
		}
	}
	return where
}

// stateSize returns the length of a state: the packed weights, followed by the statistics.
func (g *group) stateSize() int { return len(g.pack.data) + g.pack.count }

// state copies the worker's state to dst.
func (g *group) state(dst []float32) { g.pack.gather(dst[copy(dst, g.pack.data):], 1) }

// setState sets the worker's state.
func (g *group) setState(src []float32) { g.spread(src[copy(g.pack.data, src):]) }

// lend calls f while the net has another state.
func (g *group) lend(state []float32, f func() error) error {
	mine := make([]float32, g.stateSize())
	g.state(mine)
	g.setState(state)
	err := f()
	g.setState(mine)
	return err
}
