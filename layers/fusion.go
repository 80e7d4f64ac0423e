package layers

import (
	"maps"
	"slices"
)

// Fusion replaces two layers by one that computes both. The second layer must be the only reader of the first layer's only top.
type Fusion struct {
	Name string // in logs, and to disable the fusion
	// Fuse returns the combined layer, or nil if the fusion does not apply. Its bottoms are those of the first layer, followed by the
	// second layer's bottoms after its first. Its tops are those of the second layer. The parameters stay with the two layers. Results are
	// the same, up to rounding where the fusion says so. The combined layer does not write the blob between the two, and Reshape may later
	// change its shapes.
	Fuse func(first, second Layer) Layer
}

var fusions = map[string]Fusion{}

// RegisterFusion adds a fusion. The file of a layer calls it from init. It panics on a duplicate name. At most one fusion may apply to a
// pair of layers, so that their order does not matter.
func RegisterFusion(f Fusion) {
	if _, taken := fusions[f.Name]; taken {
		panic("layers: fusion " + f.Name + " registered twice")
	}
	fusions[f.Name] = f
}

// Fusions returns all fusions, sorted by name.
func Fusions() []Fusion {
	var all []Fusion
	for _, name := range slices.Sorted(maps.Keys(fusions)) {
		all = append(all, fusions[name])
	}
	return all
}

// Fuse combines two layers by the first fusion that applies, and returns the new layer and the fusion's name. It returns nil if none
// applies. skip, if not nil, disables fusions by name.
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
