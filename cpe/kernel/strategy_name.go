package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// strategies are all that a user can ask for.
var strategies = []Strategy{Auto, Explicit, Implicit, Winograd, Winograd2, Winograd4, Winograd5}

// ParseStrategy reads a strategy's name.
func ParseStrategy(name string) (Strategy, error) {
	var names []string
	for _, s := range strategies {
		if s.String() == name {
			return s, nil
		}
		names = append(names, s.String())
	}
	return Auto, fmt.Errorf("unknown strategy %q%s (strategies: %s)", name, suggest.DidYouMean(name, names), suggest.List(names))
}
