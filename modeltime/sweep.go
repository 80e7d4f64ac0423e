package modeltime

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// Axis is a machine parameter with the values that a sweep sets.
type Axis struct {
	Parameter cpe.Parameter
	Values    []float64
}

// Sweep is the time of a net's iteration on variants of a machine.
type Sweep struct {
	Model      string   `json:"model"`
	Machine    string   `json:"machine"`
	Batch      int      `json:"batch"`
	Parameters []string `json:"parameters"`
	Base       Point    `json:"base"` // the machine as described
	Points     []Point  `json:"points"`

	Axes []Axis `json:"-"`
}

// Point is one variant: a value for each of the sweep's parameters. The last parameter varies fastest.
type Point struct {
	Values []float64 `json:"values"`
	Total  Total     `json:"total"`
	// Bounds are the shares of the layers' time by its cause, as in Direction.
	Bounds map[string]float64 `json:"bounds,omitempty"`
	// Error is the reason why the net cannot run on the variant, for instance too little LDM for a plan; "" if it can.
	Error string `json:"error,omitempty"`
}

// maxPoints is the largest number of variants of a sweep.
const maxPoints = 10000

// NewSweep lists the variants: every combination of the axes' values.
func NewSweep(base cpe.Spec, axes []Axis) (*Sweep, error) {
	s := &Sweep{Machine: base.Name, Axes: axes}
	points := [][]float64{nil}
	for _, a := range axes {
		if len(a.Values) == 0 {
			return nil, fmt.Errorf("%s has no values", a.Parameter.Name)
		}
		if slices.Contains(s.Parameters, a.Parameter.Name) {
			return nil, fmt.Errorf("%s is varied twice", a.Parameter.Name)
		}
		if len(points)*len(a.Values) > maxPoints {
			return nil, fmt.Errorf("more than %d combinations of values", maxPoints)
		}
		s.Parameters = append(s.Parameters, a.Parameter.Name)
		s.Base.Values = append(s.Base.Values, a.Parameter.Of(base))
		var longer [][]float64
		for _, p := range points {
			for _, v := range a.Values {
				longer = append(longer, append(slices.Clone(p), v))
			}
		}
		points = longer
	}
	for _, values := range points {
		spec := base
		for i, v := range values {
			if err := axes[i].Parameter.Check(spec, v); err != nil {
				return nil, err
			}
			spec = axes[i].Parameter.With(spec, v)
		}
		s.Points = append(s.Points, Point{Values: values})
	}
	return s, nil
}

// Run models every variant. Variants are independent, and are modelled concurrently. It is an error if the net cannot run on the machine as
// described, or on none of the variants.
func (s *Sweep) Run(file *swproto.Net, o Options) error {
	r, err := Run(file, o)
	if err != nil {
		return err
	}
	if r.Batch == 0 {
		return fmt.Errorf("%s: %w", file.Path, errNoImages)
	}
	s.Model, s.Batch = r.Model, r.Batch
	s.Base.report(r)
	work, errs := make(chan int), make([]error, len(s.Points))
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.Points)) {
		wait.Go(func() {
			for i := range work {
				errs[i] = relay.Error(func() error { return s.run(file, o, i) })
			}
		})
	}
	for i := range s.Points {
		work <- i
	}
	close(work)
	wait.Wait()
	for i, err := range errs {
		if relay.RaiseIn(err) != nil {
			s.Points[i].Error = err.Error()
		}
	}
	if !slices.Contains(errs, nil) {
		return fmt.Errorf("none of the variants can run the net; the first one: %w", errs[0])
	}
	return nil
}

// run models one variant.
func (s *Sweep) run(file *swproto.Net, o Options, i int) error {
	p := &s.Points[i]
	for k, v := range p.Values {
		o.Spec = s.Axes[k].Parameter.With(o.Spec, v)
	}
	r, err := Run(file, o)
	if err == nil {
		p.report(r)
	}
	return err
}

// report takes the totals from a report.
func (p *Point) report(r *Report) {
	p.Total, p.Bounds = r.Total, map[string]float64{}
	for _, l := range r.Layers {
		for _, d := range []*Direction{l.Forward, l.WeightGradient, l.InputGradient} {
			if d != nil {
				p.Bounds[d.Bound] += d.ModelledMs
			}
		}
	}
	for bound := range p.Bounds {
		p.Bounds[bound] /= r.Total.ForwardMs + r.Total.BackwardMs
	}
}
