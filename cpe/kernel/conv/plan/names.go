package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

var algorithmsByName = suggest.Table[*conv.Algorithm]{Kind: "convolution algorithm", Kinds: "algorithms", Name: func(a *conv.Algorithm) string { return a.Name }, Entries: algorithms.Algorithms}

// FindAlgorithm returns the convolution algorithm of a name.
func FindAlgorithm(name string) (*conv.Algorithm, error) {
	if a := algorithms.Find(name); a != nil {
		return a, nil
	}
	_, err := algorithmsByName.Find(name)
	return nil, err
}

// Algorithms lists the names of all convolution algorithms.
func Algorithms() []string { return algorithmsByName.Names() }
