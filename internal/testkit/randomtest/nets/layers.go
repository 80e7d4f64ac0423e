package nets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// byLayers runs every layer of the CPE path on inputs from the MPE path, so that differences do not accumulate.
func (p *problem) byLayers() error {
	plain, err := machine(p.threads[0])
	if err != nil {
		return err
	}
	want, err := p.build(layers.MPE, plain, false)
	if err != nil {
		return fmt.Errorf(randomtest.Refused+"%w", err)
	}
	defer want.Close()
	var m *cpe.Machine
	if p.mesh {
		m, err = modelled()
	} else {
		m, err = machine(p.threads[len(p.threads)-1])
	}
	if err != nil {
		return err
	}
	got, err := p.build(layers.CPE, m, false)
	var small *cpe.LDMError
	if p.mesh && p.strategy != shape.Auto && errors.As(err, &small) {
		return nil // the convolution's plan fits into no LDM: refused
	}
	if err != nil {
		return fmt.Errorf("the net is refused on the CPE path alone: %w", err)
	}
	defer got.Close()
	c := &layerwise{problem: p, want: want, got: got, before: make([][][]float32, want.NumLayers()), noise: rand.New(rand.NewPCG(p.seed, 4))}
	for i := range want.NumLayers() {
		if err := c.forward(i); err != nil {
			return fmt.Errorf("%w (layer %s, %s, forward, alone)", err, want.LayerName(i), want.LayerType(i))
		}
	}
	if p.use != train {
		return nil
	}
	want.ClearParamDiffs()
	got.ClearParamDiffs()
	for i := want.NumLayers() - 1; i >= 0; i-- {
		if !want.NeedsBackward(i) {
			continue
		}
		if err := c.backward(i); err != nil {
			return fmt.Errorf("%w (layer %s, %s, backward, alone)", err, want.LayerName(i), want.LayerType(i))
		}
	}
	return nil
}

// layerwise is a comparison layer by layer.
type layerwise struct {
	*problem
	want, got *swnet.Net
	before    [][][]float32 // for each layer, its bottoms before it ran
	noise     *rand.Rand
}

// layerPart is the error permitted in a single layer, relative to an array's largest value. Winograd sums err by 2e-4 of their
// deviation.
const layerPart = 2e-4

func (c *layerwise) forward(i int) error {
	c.before[i] = datas(c.want.Bottoms(i))
	if _, err := c.want.ForwardLayer(i); err != nil {
		return fmt.Errorf(randomtest.Refused+"%w", err)
	}
	if _, err := c.got.ForwardLayer(i); err != nil {
		return err
	}
	if w, g := shapes(c.want.Tops(i)), shapes(c.got.Tops(i)); !slices.Equal(w, g) {
		return fmt.Errorf("tops have shapes %v, not %v", g, w)
	}
	want, got := c.outcome(c.want, i, false), c.outcome(c.got, i, false)
	if near(got, want, newEnvelope(want), layerPart, 0) != nil {
		if err := c.afterNoise(i, got, want, nil); err != nil {
			return err
		}
	}
	for k, top := range c.want.Tops(i) {
		copy(c.got.Tops(i)[k].Data(), top.Data())
	}
	return nil
}

func (c *layerwise) backward(i int) error {
	zeroGrads(c.want, i)
	zeroGrads(c.got, i)
	tops := diffs(c.want.Tops(i))
	if err := c.want.BackwardLayer(i); err != nil {
		return err
	}
	if err := c.got.BackwardLayer(i); err != nil {
		return err
	}
	want, got := c.outcome(c.want, i, true), c.outcome(c.got, i, true)
	if near(got, want, newEnvelope(want), layerPart, 0) != nil {
		if err := c.afterNoise(i, got, want, tops); err != nil {
			return err
		}
	}
	for j, bottom := range c.want.Bottoms(i) {
		if c.want.Propagates(i, j) {
			copy(c.got.Bottoms(i)[j].Diff(), bottom.Diff())
		}
	}
	return nil
}

// outcome returns the results of a layer: its tops, or the gradients.
func (c *layerwise) outcome(n *swnet.Net, i int, back bool) *run {
	r := &run{}
	if !back {
		for k, top := range n.Tops(i) {
			r.add(fmt.Sprintf("top %d", k), top.Data())
		}
		return r
	}
	for j, bottom := range n.Bottoms(i) {
		if n.Propagates(i, j) {
			r.add(fmt.Sprintf("gradient of bottom %d", j), bottom.Diff())
		}
	}
	for k, w := range n.Layer(i).Params() {
		r.add(fmt.Sprintf("gradient of weight %d", k), w.Diff())
	}
	return r
}

// afterNoise repeats a comparison with wider tolerances: by the change that noise causes, in the MPE layer's bottoms, its tops'
// gradients, and its own rounding. tops are the tops' gradients, nil forward.
func (c *layerwise) afterNoise(i int, got, want *run, tops [][]float32) error {
	if c.random(i) {
		return near(got, want, newEnvelope(want), layerPart, 0)
	}
	bottoms, after := datas(c.want.Bottoms(i)), datas(c.want.Tops(i))
	bottomDiffs := [][]float32(nil)
	if tops != nil {
		bottomDiffs = diffs(c.want.Bottoms(i))
	}
	moved := newEnvelope(want)
	var err error
	for range 8 {
		if err = c.rerun(i, tops, newRounder(c.noise, c.problem)); err != nil {
			return err
		}
		moved.widen(want, c.outcome(c.want, i, tops != nil))
		if err = near(got, want, moved, layerPart, 0); err == nil {
			break
		}
	}
	if failed := c.rerun(i, tops, nil); failed != nil {
		return failed
	}
	restore(c.want.Bottoms(i), bottoms, (*blob.Blob).Data)
	restore(c.want.Tops(i), after, (*blob.Blob).Data)
	if tops != nil {
		restore(c.want.Bottoms(i), bottomDiffs, (*blob.Blob).Diff)
	}
	return err
}

// random reports whether a layer draws different random numbers when it runs again.
func (c *layerwise) random(i int) bool {
	l := c.want.LayerParam(i)
	return c.use == train && (l.GetType() == "Dropout" || l.GetType() == "Noise" || l.GetPoolingParam().GetPool() == caffepb.PoolingParameter_STOCHASTIC)
}

// rerun runs a layer of the MPE path again. If e is not nil, it adds rounding errors, and noise of the same size to the inputs.
func (c *layerwise) rerun(i int, tops [][]float32, e *rounder) error {
	n := c.want
	part, _ := sumError(n.LayerParam(i), c.strategy)
	restore(n.Bottoms(i), c.before[i], (*blob.Blob).Data)
	for j, b := range n.Bottoms(i) {
		if e != nil && !wholeNumbers(n.LayerParam(i).Bottom[j]) {
			addNoise(c.noise, b.Data(), part)
		}
	}
	forward, backward := n.ForwardLayer, n.BackwardLayer
	if e != nil {
		forward = func(i int) (float64, error) { return e.forwardLayer(n, i) }
		backward = func(i int) error { return e.backwardLayer(n, i) }
	}
	if _, err := forward(i); err != nil || tops == nil {
		return err
	}
	restore(n.Tops(i), tops, (*blob.Blob).Diff)
	for _, t := range n.Tops(i) {
		if e != nil {
			addNoise(c.noise, t.Diff(), part)
		}
	}
	zeroGrads(n, i)
	return backward(i)
}

func zeroGrads(n *swnet.Net, i int) {
	for _, w := range n.Layer(i).Params() {
		w.ZeroDiff()
	}
}

func datas(blobs []*blob.Blob) (all [][]float32) {
	for _, b := range blobs {
		all = append(all, slices.Clone(b.Data()))
	}
	return all
}

func diffs(blobs []*blob.Blob) (all [][]float32) {
	for _, b := range blobs {
		all = append(all, slices.Clone(b.Diff()))
	}
	return all
}

func restore(blobs []*blob.Blob, values [][]float32, of func(*blob.Blob) []float32) {
	for k, b := range blobs {
		copy(of(b), values[k])
	}
}
