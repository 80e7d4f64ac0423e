package kernel

import "github.com/swcaffe/swcaffe/internal/suggest"

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
	return Auto, suggest.Unknown("strategy", name, "strategies", names)
}
