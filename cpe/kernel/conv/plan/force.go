package plan

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/suggest"
)

// Force is what a user asks convolutions to be computed with: a family of algorithms, or one algorithm by its name. The zero value leaves the
// choice free. A direction that the algorithm cannot compute is left to the family, and one that the family cannot compute is chosen freely.
type Force struct {
	Family shape.Strategy
	Name   string // of an algorithm; "": any of the family
}

// ParseForce reads what -strategy takes: a family or the name of an algorithm. The error lists both and suggests the nearest.
func ParseForce(text string) (Force, error) {
	if family, err := shape.ParseStrategy(text); err == nil {
		return Force{Family: family}, nil
	}
	if _, err := FindAlgorithm(text); err == nil {
		return Force{Name: text}, nil
	}
	names := ForceNames()
	if longer := longest(text); longer != "" && suggest.Nearest(text, names) == "" {
		return Force{}, fmt.Errorf("unknown strategy %q: %q is the algorithm, to whose name the log adds what is computed together with it", text, longer)
	}
	return Force{}, suggest.Unknown("strategy", text, "strategies and algorithms", names)
}

// ForceNames lists what ParseForce accepts: the families, then the algorithms.
func ForceNames() (names []string) {
	for _, s := range shape.Strategies {
		names = append(names, s.String())
	}
	return append(names, Algorithms()...)
}

// longest returns the longest name of an algorithm that a text begins with, "" if there is none: the log has names like offsets-pooled.
func longest(text string) (name string) {
	for _, n := range Algorithms() {
		if strings.HasPrefix(text, n+"-") && len(n) > len(name) {
			name = n
		}
	}
	return name
}

// String returns the name by which -strategy takes it.
func (f Force) String() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Family.String()
}

// byName returns the choice of a named algorithm for a problem, or why it cannot compute that.
func byName(p *conv.Problem, name string) (*choice, error) {
	a, err := FindAlgorithm(name)
	if err != nil {
		return nil, err
	}
	c := &choice{algorithm: a}
	why := a.Refuses(p)
	if planes, ok := planarProblem(p); ok && why != nil {
		why, c.planar = a.Refuses(planes), true
	}
	if why != nil {
		return nil, why
	}
	return c, nil
}

// Refuses returns why the algorithm of a name cannot compute a direction as images and results lie, nil if it can.
func (c *Conv) Refuses(d shape.Direction, name string) error {
	p := c.problem(d)
	_, err := byName(&p, name)
	return err
}

// named reports whether a direction of a convolution is computed by an algorithm that is asked for by its name.
func (c *Conv) named() bool {
	for d, f := range c.forced {
		if f.named(c.does[d].now().choice) {
			return true
		}
	}
	return false
}

// named reports whether a direction is computed by the algorithm that a user asks for by its name.
func (f Force) named(c *choice) bool { return f.Name != "" && c.algorithm.Name == f.Name }
