package conv

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

var algorithmsByName = suggest.Table[Algorithm]{Kind: "convolution algorithm", Kinds: "algorithms", Name: func(a Algorithm) string { return a.Name }, Entries: algorithms}

// FindAlgorithm returns the convolution algorithm of a name.
func FindAlgorithm(name string) (*Algorithm, error) {
	if _, err := algorithmsByName.Find(name); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(algorithms, func(a Algorithm) bool { return a.Name == name })
	return &algorithms[i], nil
}

// Algorithms lists the names of all convolution algorithms.
func Algorithms() []string { return algorithmsByName.Names() }
