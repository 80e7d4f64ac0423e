package shape

import "github.com/swcaffe/swcaffe/internal/base/suggest"

// Strategies lists every strategy that a user can ask for.
var Strategies = []Strategy{Auto, Explicit, Implicit, Winograd, Winograd2, Winograd4, Winograd5}

var byName = suggest.Table[Strategy]{Kind: "strategy", Kinds: "strategies", Name: Strategy.String, Entries: Strategies}

// ParseStrategy returns the strategy of a name, or an error that lists the names and the nearest one.
func ParseStrategy(name string) (Strategy, error) {
	return byName.Find(name)
}
