package plan

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// ParseForce parses the value of -strategy: a family or the name of an algorithm. The error suggests the nearest name, or lists both.
func ParseForce(text string) (op.Force, error) {
	if family, err := shape.ParseStrategy(text); err == nil {
		return op.Force{Family: family}, nil
	}
	if _, err := FindAlgorithm(text); err == nil {
		return op.Force{Name: text}, nil
	}
	names := ForceNames()
	if longer := longest(text); longer != "" && suggest.Nearest(text, names) == "" {
		return op.Force{}, fmt.Errorf("unknown strategy %q: the algorithm is %q; the rest of the name, as the log prints it, is an inner algorithm or a fused layer", text, longer)
	}
	return op.Force{}, suggest.Unknown("strategy", text, "strategies and algorithms", names)
}

// ForceNames lists what ParseForce accepts: the families, then the algorithms.
func ForceNames() (names []string) {
	for _, s := range shape.Strategies {
		names = append(names, s.String())
	}
	return append(names, Algorithms()...)
}

// longest returns the longest algorithm's name with which a text begins, "" if there is none. Reports print longer names, such as
// offsets-pooled.
func longest(text string) (name string) {
	for _, n := range Algorithms() {
		if strings.HasPrefix(text, n+"-") && len(n) > len(name) {
			name = n
		}
	}
	return name
}

// Refuses returns the reason why a named algorithm cannot compute a direction in the present layouts, or nil.
func (c *Conv) Refuses(d shape.Direction, name string) error {
	p := c.problem(d)
	_, err := byName(&p, name)
	return err
}

// named reports whether the user's named algorithm computes any direction.
func (c *Conv) named() bool {
	for d, f := range c.forced {
		if named(f, c.does[d].now().choice) {
			return true
		}
	}
	return false
}

// named reports whether a choice is the user's named algorithm.
func named(f op.Force, c *choice) bool { return f.Name != "" && c.Algorithm.Name == f.Name }
