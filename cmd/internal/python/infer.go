package python

import (
	"slices"

	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// A net opened by itself in phase TEST mostly runs forward from its inputs to its outputs, and nobody looks at the blobs between. Such a run
// takes half as long if the net economises. If Python then looks at a hidden blob, or does anything else than another such run, the run is
// repeated with all blobs kept, from copies of the inputs. From then on the net keeps all blobs.

// inference is the state of a net that may economise for the sake of such runs.
type inference struct {
	may    bool        // the net may economise
	stale  bool        // the last run left undefined values in hidden blobs
	inputs [][]float32 // copies of the tops of Input layers, as of that run
}

// inferable reports whether a net of a file may economise: it is for inference from inputs, its layers have no state, and its runs can be repeated.
func inferable(file *swproto.Net, phase caffepb.Phase) bool {
	p := file.Param
	if phase != caffepb.Phase_TEST || p.GetForceBackward() || p.GetDebugInfo() {
		return false
	}
	var inputs []string
	for _, l := range p.Layer {
		inPhase := proto.CloneOf(l)
		inPhase.Phase = &phase
		if t, err := layers.Find(l.GetType()); err != nil || t.Effect(inPhase) != "" || len(l.LossWeight) > 0 {
			return false
		}
		if len(l.Bottom) == 0 {
			inputs = append(inputs, l.Top...)
			continue
		}
		if slices.ContainsFunc(l.Top, func(t string) bool { return slices.Contains(inputs, t) }) {
			return false // it overwrites an input
		}
	}
	return len(inputs) > 0
}

// infers reports whether the next whole run forward may economise: Python looks at no hidden blob, which it would expect to change, and at no
// weight, which it could change after the run.
func (n *Net) infers() bool { return n.inference.may && !n.isWatched() && !n.isHeld() }

// infer runs f, a whole run forward, economising.
func (n *Net) infer(f func() error) error {
	return n.inside(true, func() error {
		err := n.beginInference()
		if err == nil {
			if err = f(); err == nil {
				n.shaped = n.net.NumLayers()
				return nil
			}
		}
		n.inference.may, n.inference.stale = false, false
		if err := n.net.Economise(false); err != nil {
			return err
		}
		return f() // fails too; the blobs before the fault then have their values
	})
}

// beginInference prepares a run that economises.
func (n *Net) beginInference() error {
	if err := n.net.Economise(true); err != nil {
		return err
	}
	if n.shaped < n.net.NumLayers() {
		if err := n.net.Reshape(); err != nil {
			return err
		}
	}
	inputs := n.inference.inputs[:0]
	n.eachInput(func(k int, values []float32) {
		if k == cap(inputs) {
			inputs = append(inputs, nil)
		}
		inputs = inputs[:k+1]
		inputs[k] = append(inputs[k][:0], values...)
	})
	n.inference.inputs, n.inference.stale = inputs, true
	return nil
}

// eachInput calls f with the values of each top of the Input layers.
func (n *Net) eachInput(f func(k int, values []float32)) {
	k := 0
	for i := range n.net.NumLayers() {
		if len(n.net.Bottoms(i)) > 0 {
			continue
		}
		for _, b := range n.net.Tops(i) {
			f(k, b.Data())
			k++
		}
	}
}

// settle computes all blobs of the last run, if they are undefined. Inputs and outputs keep their values.
func (n *Net) settle() error {
	if !n.inference.stale {
		return nil
	}
	n.inference.may, n.inference.stale = false, false
	if err := n.net.Economise(false); err != nil {
		return err
	}
	var all []kept
	n.eachInput(func(k int, values []float32) {
		all = append(all, keepValues(values))
		copy(values, n.inference.inputs[k])
	})
	for _, o := range n.net.Outputs() {
		all = append(all, keepValues(o.Blob.Data()))
	}
	defer func() {
		for _, k := range slices.Backward(all) {
			copy(k.values, k.copy)
		}
	}()
	for i := range n.net.NumLayers() {
		if len(n.net.Bottoms(i)) > 0 {
			if _, err := n.net.ForwardLayer(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// show makes a blob of a net opened by itself fit to look at. It returns the counter of such views, or nil.
func (b *Blob) show(diff bool) (count *int, err error) {
	n := b.net
	switch {
	case !n.inference.may && !n.inference.stale:
		return nil, nil
	case b.top && diff: // Backward comes next
		return nil, n.use(false, func() error { n.inference.may = false; return nil })
	case b.top && b.hidden:
		return &n.watched, n.use(false, func() error { return nil })
	case !b.top && n.inference.stale:
		return &n.held, n.use(false, func() error { return nil })
	case !b.top:
		return &n.held, nil
	}
	return nil, nil
}
