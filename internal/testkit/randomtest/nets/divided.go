package nets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// divided runs the net's first iteration once more, the batch divided among several workers or core groups, each with a net of its own. Their losses and
// gradients, weighted by items and added up, must be those of the whole batch on the MPE path, unless a net is refused or says that its
// results differ.
func (p *problem) divided() error {
	batch := p.batch()
	if p.workers < 2 || p.use != train || batch < p.workers || p.remembers() || p.weighsItems(batch) {
		return nil
	}
	m, err := machine(p.threads[0])
	if err != nil {
		return err
	}
	whole, err := p.build(layers.MPE, m, false)
	if err != nil {
		return err
	}
	defer whole.Close()
	got, err := p.parts(whole, batch)
	if err != nil || got == nil {
		return err
	}
	weights, err := p.build(layers.MPE, m, false)
	if err != nil {
		return err
	}
	defer weights.Close()
	copyWeights(weights, whole)
	want, err := p.iterate(whole)
	if err != nil {
		return err
	}
	want = want.only(got.names)
	moved := newEnvelope(want)
	r := rand.New(rand.NewPCG(p.seed, 4))
	for draw := 0; ; draw++ {
		err := near(got, want, moved, 1e-3, 1e-5)
		if err == nil {
			return nil
		}
		if draw == 24 {
			return fmt.Errorf("a batch of %d divided among %d, against the whole one: %w", batch, p.workers, err)
		}
		other, err := p.noisy(weights, 0, r)
		if err != nil {
			return err
		}
		moved.widen(want, other.only(got.names))
	}
}

// batch is the number of items: the first extent of the first input.
func (p *problem) batch() int {
	for _, l := range p.net.Layer {
		if l.GetType() == "Input" {
			return int(l.GetInputParam().GetShape()[0].GetDim()[0])
		}
	}
	return 0
}

// weighsItems reports whether a Parameter layer has a weight for every item, which is no batch's part.
func (p *problem) weighsItems(batch int) bool {
	return slices.ContainsFunc(p.net.Layer, func(l *caffepb.LayerParameter) bool {
		return slices.Contains(l.GetParameterParam().GetShape().GetDim(), int64(batch))
	})
}

// parts runs the nets of all workers and returns the sum of what they compute, nil if a net is refused or says that results differ. whole gives the
// weights and the inputs.
func (p *problem) parts(whole *swnet.Net, batch int) (sum *run, err error) {
	p.fill(whole)
	for rank := range p.workers {
		first, end := rank*batch/p.workers, (rank+1)*batch/p.workers
		q := p.clone()
		q.share = layers.Share{Rank: rank, Ranks: p.workers, Split: true}
		if p.seed%2 == 1 {
			q.share = layers.Share{Group: rank, Groups: p.workers}
		}
		for _, l := range q.net.Layer {
			for _, s := range l.GetInputParam().GetShape() {
				if l.GetType() == "Input" && len(s.Dim) > 0 && int(s.Dim[0]) == batch {
					s.Dim[0] = int64(end - first)
				}
			}
		}
		part, err := q.part(whole, batch, first, end)
		if err != nil || part == nil {
			return nil, err
		}
		if sum == nil {
			sum = part
			continue
		}
		for i, values := range part.values {
			for k, v := range values {
				sum.values[i][k] += v
			}
		}
	}
	return sum, nil
}

// part runs a worker's net on items first to end of the batch.
func (p *problem) part(whole *swnet.Net, batch, first, end int) (*run, error) {
	m, err := machine(p.threads[0])
	if err != nil {
		return nil, err
	}
	n, err := p.build(layers.CPE, m, true)
	switch {
	case err != nil && strings.Contains(err.Error(), "would train another net"):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the net for items %d to %d of %d: %w", first, end-1, batch, err)
	}
	defer n.Close()
	if len(n.Couplings()) > 0 {
		return nil, nil
	}
	copyWeights(n, whole)
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for k, top := range n.Tops(i) {
			values := whole.Tops(i)[k]
			if values.Dim(0) == batch {
				size := values.CountFrom(1)
				copy(top.Data(), values.Data()[first*size:end*size])
			} else {
				copy(top.Data(), values.Data())
			}
		}
	}
	for i := range n.NumLayers() {
		if l, ok := n.Layer(i).(layers.WeightPreparer); ok && p.share.Groups > 1 { // as a solver does for core groups
			if err := l.PrepareWeights(); err != nil {
				return nil, err
			}
		}
	}
	share := float32(end-first) / float32(batch)
	n.ScaleLoss(share)
	loss, err := n.Forward()
	if err != nil {
		return nil, err
	}
	r := &run{}
	r.add("the loss", []float32{float32(loss) * share})
	n.ClearParamDiffs()
	if err := n.Backward(nil); err != nil {
		return nil, err
	}
	for _, w := range n.Learnable() {
		r.add(fmt.Sprintf("gradient %d of layer %s", w.Index, w.Layer), w.Blob.Diff())
	}
	return r, nil
}

// only returns the values with some names.
func (r *run) only(names []string) *run {
	q := &run{}
	for i, name := range r.names {
		if slices.Contains(names, name) {
			q.names, q.values = append(q.names, name), append(q.values, r.values[i])
		}
	}
	return q
}
