package modeltime

import (
	"cmp"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// plans are the programs of an iteration with the work of each.
type plans struct {
	model    string
	batch    int
	passes   []pass
	weights  float64 // number of all weights
	updates  int     // programs of the update
	backward bool
}

// pass is what one pass through a layer does.
type pass struct {
	layer, name string
	operations  float64
	rounded     bool    // in bfloat16
	bytes       float64 // of its arrays
	results     float64 // of the layer's tops
	programs    []Division
	parts       []float64 // of the pass's work, by program
}

// surveyed plans a net and collects its passes.
func surveyed(file *swproto.Net, o Options, inference bool) (*plans, error) {
	s := &plans{backward: !inference}
	o.Built = func(n *swnet.Net) error { return s.look(n) }
	list, err := Survey(file, o, inference)
	if err != nil {
		return nil, err
	}
	s.enter(list)
	return s, nil
}

// look notes the work of every pass of a net.
func (s *plans) look(n *swnet.Net) error {
	s.model, s.batch = n.Name(), n.BatchSize()
	for _, w := range n.Learnable() {
		s.weights += float64(w.Blob.Count())
		s.updates++
	}
	for i := range n.NumLayers() {
		values, weights := count(n.Bottoms(i))+count(n.Tops(i)), count(n.Layer(i).Params())
		products, results := 2*multiplyAdds(n, i), count(n.Tops(i))
		bytes := 4 * (values + weights)
		if products == 0 {
			work := elementWork(n.LayerType(i)) * results
			if strings.HasPrefix(n.LayerType(i), "Softmax") {
				work = elementWork(n.LayerType(i))*count(n.Bottoms(i)) + rowWork*float64(s.batch)
			}
			s.passes = append(s.passes, pass{layer: n.LayerName(i), name: "forward", operations: work, bytes: 4 * values},
				pass{layer: n.LayerName(i), name: "backward", operations: 1.5 * work, bytes: 6 * values})
			continue
		}
		list, err := n.Explain(n.LayerName(i))
		if err != nil {
			return err
		}
		for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient} {
			one := pass{layer: n.LayerName(i), name: d.String(), operations: products, bytes: bytes, results: results}
			for _, e := range list {
				if e.Direction != d {
					continue
				}
				one.rounded = strings.Contains(string(e.Runs), "bf16")
				if !strings.HasPrefix(string(e.Runs), "gemm-") { // the work of matrix products counts what they read from memory, as bytes does
					one.operations = cmp.Or(e.Work, products)
				}
			}
			s.passes = append(s.passes, one)
		}
	}
	return nil
}

func count(list []*blob.Blob) (n float64) {
	for _, b := range list {
		n += float64(b.Count())
	}
	return n
}

// elementWork is the work on a result of a layer without products, in operations of the inner loops, which do two multiply-adds a cycle and lane where
// such a layer does about one in eight cycles.
func elementWork(kind string) float64 {
	switch kind {
	case "LRN":
		return 160
	case "Pooling":
		return 40
	case "Softmax", "SoftmaxWithLoss", "Dropout":
		return 60
	}
	return 16
}

// enter gives every pass its programs, and these their parts of its work.
func (s *plans) enter(list []Division) {
	for _, d := range list {
		if i := slices.IndexFunc(s.passes, func(p pass) bool { return p.layer == d.Layer && p.name == passOf(&d) }); i >= 0 {
			s.passes[i].programs = append(s.passes[i].programs, d)
			continue
		}
		// A pass over the results of a layer with products, or over their gradients: the sums of its biases, or what its products do not finish.
		i := slices.IndexFunc(s.passes, func(p pass) bool { return p.layer == d.Layer && p.name == "forward" })
		n := s.passes[i].results
		s.passes = append(s.passes, pass{layer: d.Layer, name: d.Program, operations: elementWork("") * n, bytes: 4 * n, programs: []Division{d}})
	}
	s.passes = slices.DeleteFunc(s.passes, func(p pass) bool { return len(p.programs) == 0 })
	for i := range s.passes {
		s.passes[i].share()
	}
}

// passOf names the pass to which a program belongs, by the program's name where a layer's backward pass computes two gradients.
func passOf(d *Division) string {
	if d.Program == "finishing" {
		return d.Program
	}
	if d.Pass == "forward" {
		return d.Pass
	}
	for _, g := range []shape.Direction{shape.WeightGradient, shape.InputGradient} {
		if strings.Contains(d.Program, g.String()) {
			return g.String()
		}
	}
	if strings.HasPrefix(d.Program, "gemm ") || strings.Contains(d.Program, " gradients") {
		if strings.Contains(d.Program, "A B") {
			return shape.InputGradient.String()
		}
		return shape.WeightGradient.String()
	}
	return d.Pass
}

// share divides a pass's work among its programs: those that only prepare or collect have work in proportion to weights or to points; the others have the
// rest, by their runs and units.
func (p *pass) share() {
	p.parts = make([]float64, len(p.programs))
	rest, sum := 1.0, 0.0
	stages := map[string]float64{}
	for _, d := range p.programs {
		stages[d.Program] += unitsIn(&d)
	}
	for i, d := range p.programs {
		_, stage, _ := strings.Cut(d.Program, ", ")
		switch {
		case stage == "mapping images":
			p.parts[i] = mapped * unitsIn(&d) / stages[d.Program]
		case stage != "":
			p.parts[i] = min(0.05, storedWork*1e3/max(1, p.operations)) * unitsIn(&d) / stages[d.Program]
		default:
			sum += unitsIn(&d)
			continue
		}
		rest -= p.parts[i]
	}
	for i, d := range p.programs {
		if p.parts[i] == 0 && sum > 0 {
			p.parts[i] = rest * unitsIn(&d) / sum
		}
	}
}

const (
	// mapped is the part of Winograd's work that maps images to points.
	mapped = 0.2
	// storedWork is the work on a weight that is packed, mapped or collected, in operations of the inner loops.
	storedWork = 250
	// rowWork is the work on an image's scores in softmax, beyond that on their values, in operations of the inner loops: 180 ns forward and 90 backward.
	rowWork = 13000
)

// unitsIn is the number of a program's units, in all its runs.
func unitsIn(d *Division) float64 {
	n := 0
	for _, u := range d.Units {
		n += u.N
	}
	return float64(d.Runs * max(1, n))
}
