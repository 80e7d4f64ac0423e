package layers

import (
	"maps"
	"slices"
)

// Fusion makes one layer of two, the second of which alone reads the only top of the first.
type Fusion struct {
	Name string // for logs, and for leaving it out
	// Fuse returns a layer that is both, from the bottoms of the first to the tops of the second, or nil. The bottoms of the second behind its
	// first follow those of the first. Its results are those of the two, up to rounding where it says so; the two keep their weights. Reshape may
	// give it other shapes later. It does not write the blob between the two.
	Fuse func(first, second Layer) Layer
}

var fusions = map[string]Fusion{}

// RegisterFusion adds a fusion; a layer's own file calls it from init. A name taken twice panics. No two fusions may apply to the same pair of
// layers, so that their order does not matter.
func RegisterFusion(f Fusion) {
	if _, taken := fusions[f.Name]; taken {
		panic("layers: fusion " + f.Name + " registered twice")
	}
	fusions[f.Name] = f
}

// Fusions returns all fusions by name.
func Fusions() []Fusion {
	var all []Fusion
	for _, name := range slices.Sorted(maps.Keys(fusions)) {
		all = append(all, fusions[name])
	}
	return all
}

// Fuse returns the layer that the first fusion makes of two which does, with its name, and nil if none does. skip says which are left out; it may be nil.
func Fuse(first, second Layer, skip func(name string) bool) (fused Layer, name string) {
	for _, f := range Fusions() {
		if skip == nil || !skip(f.Name) {
			if fused := f.Fuse(first, second); fused != nil {
				return fused, f.Name
			}
		}
	}
	return nil, ""
}
