package nets

import (
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Smaller returns simpler problems whose nets can be built.
func (p *problem) Smaller() []randomtest.Problem {
	var list []randomtest.Problem
	add := func(q *problem) {
		q.prune()
		if len(q.String()) < len(p.String()) || q.weight() < p.weight() {
			list = append(list, lazy(q)...)
		}
	}
	for i := len(p.net.Layer) - 1; i > 0; i-- {
		if p.net.Layer[i].GetType() == "Sigmoid" && strings.Contains(p.String(), "STOCHASTIC") {
			continue // it draws among values that must not be negative
		}
		add(p.without(i))
	}
	for i, l := range p.net.Layer {
		if entry, err := layers.Find(l.GetType()); err == nil && entry.Loss {
			add(p.reduced(i))
		}
	}
	p.smallerRuns(add)
	for _, to := range []func(int64) int64{func(int64) int64 { return 1 }, func(d int64) int64 { return (d + 1) / 2 }, func(d int64) int64 { return d - 1 }} {
		for _, d := range p.dims() {
			if to(d) < d && to(d) > 0 {
				add(p.withDims(d, to(d)))
			}
		}
		for i := range p.net.Layer {
			p.smallerFields(i, to, add)
		}
	}
	return list
}

// lazy returns the problem if its net can be built.
func lazy(p *problem) (list []randomtest.Problem) {
	defer func() {
		if recover() != nil {
			list = nil
		}
	}()
	m, err := machine(randomtest.Threads{1})
	if err != nil {
		return nil
	}
	n, err := p.build(layers.MPE, m, false)
	if err != nil {
		return nil
	}
	n.Close()
	return []randomtest.Problem{p}
}

// weight measures a problem's size. Shrinking reduces it.
func (p *problem) weight() (w int64) {
	for _, l := range p.net.Layer {
		w += 1000
		for _, s := range l.GetInputParam().GetShape() {
			for _, d := range s.Dim {
				w += d
			}
		}
		l.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			if f.Kind() == protoreflect.MessageKind && !f.IsList() {
				v.Message().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
					if f.Kind() == protoreflect.Uint32Kind && !f.IsList() {
						w += int64(v.Uint())
					}
					return true
				})
			}
			return true
		})
	}
	for _, t := range p.threads {
		w += int64(len(t))
	}
	return w
}

func (p *problem) clone() *problem {
	q := *p
	q.net = proto.Clone(p.net).(*caffepb.NetParameter)
	q.threads = slices.Clone(p.threads)
	return &q
}

// without removes layer i. Readers of its tops read its first bottom instead.
func (p *problem) without(i int) *problem {
	q := p.clone()
	l := q.net.Layer[i]
	q.net.Layer = slices.Delete(q.net.Layer, i, i+1)
	if len(l.Bottom) == 0 {
		return q
	}
	for _, other := range q.net.Layer[i:] {
		for k, name := range other.Bottom {
			if slices.Contains(l.Top, name) {
				other.Bottom[k] = l.Bottom[0]
			}
		}
		// A layer in place on a removed top works in place on the replacement.
		for k, name := range other.Top {
			if slices.Contains(l.Top, name) && len(other.Bottom) > 0 {
				other.Top[k] = l.Bottom[0]
			}
		}
	}
	return q
}

// reduced replaces a loss by a sum, which needs no labels.
func (p *problem) reduced(i int) *problem {
	q := p.clone()
	l := q.net.Layer[i]
	q.net.Layer[i] = &caffepb.LayerParameter{Name: l.Name, Type: proto.String("Reduction"), Bottom: l.Bottom[:1], Top: l.Top[:min(1, len(l.Top))], LossWeight: []float32{1}}
	return q
}

// prune removes unread inputs.
func (p *problem) prune() {
	read := map[string]bool{}
	for _, l := range p.net.Layer {
		for _, name := range l.Bottom {
			read[name] = true
		}
	}
	p.net.Layer = slices.DeleteFunc(p.net.Layer, func(l *caffepb.LayerParameter) bool {
		return l.GetType() == "Input" && !read[l.Top[0]] && len(p.net.Layer) > 1
	})
}

// smallerRuns adds problems with simpler instructions for running the net.
func (p *problem) smallerRuns(add func(*problem)) {
	change := func(f func(q *problem)) {
		q := p.clone()
		f(q)
		if q.String() != p.String() {
			add(q)
		}
	}
	for i, t := range p.threads {
		if i > 0 {
			change(func(q *problem) { q.threads = slices.Delete(q.threads, i, i+1) })
		}
		for _, s := range t.Smaller() {
			change(func(q *problem) { q.threads[i] = s })
		}
	}
	change(func(q *problem) { q.again = 0 })
	change(func(q *problem) { q.mesh = false })
	change(func(q *problem) { q.workers = 0 })
	change(func(q *problem) { q.procs = 1 })
	change(func(q *problem) { q.strategy = shape.Auto })
	change(func(q *problem) { q.net.ForceBackward = nil })
}

// dims returns the extents of inputs, the first axes first.
func (p *problem) dims() (all []int64) {
	for _, l := range p.net.Layer {
		for _, s := range l.GetInputParam().GetShape() {
			for _, d := range s.Dim {
				if !slices.Contains(all, d) {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// withDims changes an extent in all inputs that have it.
func (p *problem) withDims(from, to int64) *problem {
	q := p.clone()
	for _, l := range q.net.Layer {
		for _, s := range l.GetInputParam().GetShape() {
			for i, d := range s.Dim {
				if d == from {
					s.Dim[i] = to
				}
			}
		}
	}
	return q
}

// smallerFields makes the numbers in layer i's parameters smaller, or removes a field.
func (p *problem) smallerFields(i int, to func(int64) int64, add func(*problem)) {
	l := p.net.Layer[i]
	l.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Name() == "param" || f.Name() == "loss_param":
			q := p.clone()
			q.net.Layer[i].ProtoReflect().Clear(f)
			add(q)
		case f.Kind() != protoreflect.MessageKind || f.IsList() || f.Name() == "input_param":
		default:
			v.Message().Range(func(g protoreflect.FieldDescriptor, x protoreflect.Value) bool {
				q := p.clone()
				m := q.net.Layer[i].ProtoReflect().Mutable(f).Message()
				if g.Kind() == protoreflect.Uint32Kind && !g.IsList() {
					n := to(int64(x.Uint()))
					if n < 1 || n >= int64(x.Uint()) {
						return true
					}
					m.Set(g, protoreflect.ValueOfUint32(uint32(n)))
				} else if g.Kind() != protoreflect.MessageKind {
					m.Clear(g)
				} else {
					return true
				}
				add(q)
				return true
			})
		}
		return true
	})
}
