package kernel

import "github.com/swcaffe/swcaffe/internal/suggest"

// strategies are all that a user can ask for.
var strategies = []Strategy{Auto, Explicit, Implicit, Winograd, Winograd2, Winograd4, Winograd5}

var byName = suggest.Table[Strategy]{Kind: "strategy", Kinds: "strategies", Name: Strategy.String, Entries: strategies}

// ParseStrategy reads a strategy's name.
func ParseStrategy(name string) (Strategy, error) {
	return byName.Find(name)
}
