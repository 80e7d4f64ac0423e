package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// plan is the net, planned for one shape of each input. Its weights are the model's.
type plan struct {
	net     *swnet.Net
	shapes  [][]int
	inputs  []*blob.Blob
	outputs []swnet.Output
	rows    *blob.Blob // of the model's detector, nil without one
}

// plan returns the plan for the shapes of the given inputs. It makes one if none of the last ones is for them, and then forgets the one whose last use is
// longest ago if there are too many.
func (s *Session) plan() (*plan, error) {
	for i, p := range s.plans {
		if p.fits(s.given) {
			copy(s.plans[1:], s.plans[:i])
			s.plans[0] = p
			return p, nil
		}
	}
	p, err := s.newPlan()
	if err != nil {
		return nil, err
	}
	if len(s.plans) == s.model.opt.Plans {
		last := s.plans[len(s.plans)-1]
		s.plans = s.plans[:len(s.plans)-1]
		if err := last.net.Close(); err != nil {
			return nil, err
		}
	}
	s.plans = slices.Insert(s.plans, 0, p)
	return p, nil
}

// planFor returns the plan for a number of items of inputs that have otherwise the prototxt's shapes.
func (s *Session) planFor(items int) (*plan, error) {
	if items < 1 {
		return nil, fmt.Errorf("%d items: a run needs at least one", items)
	}
	if len(s.model.inputs) > 1 {
		if err := s.model.uneven(); err != nil {
			return nil, fmt.Errorf("%d items: %w", items, err)
		}
	}
	return s.planWith(func(int) int { return items })
}

// planWith returns the plan for inputs of the prototxt's shapes, but for axis 0, whose extents it gets from those of the prototxt.
func (s *Session) planWith(first func(stated int) int) (*plan, error) {
	for i, in := range s.model.inputs {
		shape := append(s.given[i].Shape[:0], in.Shape...)
		if len(shape) > 0 {
			shape[0] = first(shape[0])
		}
		s.given[i] = Array{Name: in.Name, Shape: shape}
	}
	return s.plan()
}

// fits reports whether the plan is for inputs of these shapes.
func (p *plan) fits(inputs []Array) bool {
	for i, a := range inputs {
		if !slices.Equal(p.shapes[i], a.Shape) {
			return false
		}
	}
	return true
}

// newPlan plans the net for the given inputs.
func (s *Session) newPlan() (*plan, error) {
	m, p := s.model, &plan{}
	shapes := map[string]*caffepb.BlobShape{}
	for _, a := range s.given {
		p.shapes = append(p.shapes, slices.Clone(a.Shape))
		shapes[a.Name] = shapeOf(a.Shape)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	p.net, err = swnet.New(m.reshaped(shapes), swnet.Options{
		State: m.state, Device: s.device, Pos: m.file.LayerPos, Economise: true, ForwardOnly: true, Prepares: true, Arena: &s.arena, WeightsOf: m.weights,
	})
	if err != nil {
		return nil, err
	}
	if s.observe != nil {
		p.net.Observe(func(i int, _ bool, begun time.Time) { s.observe(p.net.LayerName(i), p.net.LayerType(i), begun) })
	}
	eachInput(p.net, func(_ string, b *blob.Blob) { p.inputs = append(p.inputs, b) })
	p.outputs = p.net.Outputs()
	if m.detector != "" {
		p.rows = p.net.Blob(m.detector)
	}
	return p, nil
}

// reshaped returns the net's description with other shapes of inputs. It shares all layers but the Input layers with the model's.
func (m *Model) reshaped(shapes map[string]*caffepb.BlobShape) *caffepb.NetParameter {
	of := m.file.Param
	all := of.Layer
	of.Layer = nil
	p := proto.CloneOf(of)
	of.Layer, p.Layer = all, slices.Clone(all)
	for i, l := range p.Layer {
		if l.GetType() != "Input" {
			continue
		}
		l = proto.CloneOf(l)
		stated := l.GetInputParam().GetShape()
		l.InputParam = &caffepb.InputParameter{}
		for k, top := range l.Top {
			shape := shapes[top]
			if shape == nil && len(stated) > 0 { // a layer of another state
				shape = stated[min(k, len(stated)-1)]
			}
			if shape != nil {
				l.InputParam.Shape = append(l.InputParam.Shape, shape)
			}
		}
		p.Layer[i] = l
	}
	return p
}

func shapeOf(shape []int) *caffepb.BlobShape {
	s := &caffepb.BlobShape{}
	for _, d := range shape {
		s.Dim = append(s.Dim, int64(d))
	}
	return s
}

// forward runs the net's layers until ctx ends.
func (p *plan) forward(ctx context.Context) error {
	for i := range p.net.NumLayers() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped before layer %q: %w", p.net.LayerName(i), err)
		}
		if _, err := p.net.ForwardLayer(i); err != nil {
			var wrong *layers.ValueError
			if pages.Outside(err) == nil && errors.As(err, &wrong) {
				err = &ValueError{err}
			}
			return err
		}
	}
	return nil
}
