package shape

import "github.com/swcaffe/swcaffe/internal/suggest"

// Strategies are all that a user can ask for.
var Strategies = []Strategy{Auto, Explicit, Implicit, Winograd, Winograd2, Winograd4, Winograd5}

var byName = suggest.Table[Strategy]{Kind: "strategy", Kinds: "strategies", Name: Strategy.String, Entries: Strategies}

// ParseStrategy reads a strategy's name.
func ParseStrategy(name string) (Strategy, error) {
	return byName.Find(name)
}
