package conv

import "github.com/swcaffe/swcaffe/internal/suggest"

var algorithmsByName = suggest.Table[*Algorithm]{Kind: "convolution algorithm", Kinds: "algorithms", Name: func(a *Algorithm) string { return a.Name }, Entries: algorithms}

// FindAlgorithm returns the convolution algorithm of a name.
func FindAlgorithm(name string) (*Algorithm, error) {
	for _, a := range algorithms {
		if a.Name == name {
			return a, nil
		}
	}
	_, err := algorithmsByName.Find(name)
	return nil, err
}

// Algorithms lists the names of all convolution algorithms.
func Algorithms() []string { return algorithmsByName.Names() }
