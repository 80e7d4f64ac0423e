package layers

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// Planned is implemented by layers that take part in the plan of a net (net/schedule). Traits says what the layer can do; Arrange says what
// the plan has chosen. Base implements it for layers that promise nothing.
type Planned interface {
	// Traits are those of the layer as it stands after Reshape and the last Arrange.
	Traits() Traits
	// Arrange holds until the next call. It comes after Reshape, and asks for nothing that Traits do not offer (see Arrange). Reshape may
	// come again: bottoms of other shapes are laid out as before, or refused.
	Arrange(Arranged) error
}

// Traits are what a layer can do beside its own work, and what it needs for that. The zero value promises nothing: Backward reads all
// bottoms and tops, gradients share no place, images are laid out by planes.
//
// A net stores other values in the place of those that Traits give up, so that a layer which reads more than it says computes wrong
// gradients. layertest.CheckReads finds such layers.
type Traits struct {
	Unread  Unread       // values that Backward does without
	Keeps   []*blob.Blob // values of the layer's own that Forward writes, whole, and Backward reads
	Traces  Bottoms      // bottoms whose gradient Forward writes, to stay there until Backward
	Scratch Scratch      // memory for kernels that work on several core groups
	Parted  bool         // Backward is better run in parts, at these shapes (PartedBackward)
	Grads   Grads        // how gradients may share a place
	Layout  Blocking     // how images may be laid out
	Turns   Turns        // conversions between layouts that are left, as the layer is arranged
	Thin    Thinning     // which pixels are needed, as the layer is arranged
	Joins   Joins        // work of neighbouring layers that it can do
	Is      Identity     // work that neighbouring layers may do for it
}

// Unread are values that Backward does without.
type Unread struct {
	Bottoms Bottoms
	Tops    bool
}

// ReadsNothing are the values of all bottoms and tops.
var ReadsNothing = Unread{AllBottoms, true}

// Scratch counts values that kernels need besides bottoms and tops (cpe.Machine.Common): in Forward; in the part of Backward that computes
// the parameters' gradients, if it runs in parts; and in the other part, or all of it.
type Scratch struct{ Forward, Params, Bottoms int }

// Grads says how gradients may share a place.
type Grads struct {
	// Passes lists bottoms that have the top's gradient: Backward leaves it where it is if their diffs share the top's storage.
	Passes Bottoms
	// Replaces: the gradient of bottom 0 may be written over that of top 0, which Backward has read by then.
	Replaces bool
	// Adds: Backward can add to the gradient of its bottom (Arranged.AddGrad).
	Adds bool
	// Sums: the bottom's gradient is the sum of the tops'. If all share one storage, the readers of the tops have added it up there, and
	// Backward does nothing.
	Sums bool
}

// Joins are pieces of neighbouring layers' work that a layer can do with its own (Arranged).
type Joins struct {
	// ReLU: Forward can also do that of a ReLU layer which runs in place on the top.
	ReLU bool
	// ReLUGrad: Backward can also do that of ReLU layers which run in place on a bottom. It reads the bottom for that, which is there, since
	// the ReLU layer is planned to read it later.
	ReLUGrad bool
	// Finish: Forward can also do that of a layer with a Finisher which reads the top.
	Finish bool
	// OnlyParams: the layer computes no gradients of bottoms, as two layers that are fused may.
	OnlyParams bool
}

// Identity describes a layer to its neighbours.
type Identity struct {
	ReLU   *ReLU    // the layer is a ReLU on the CPE path
	Finish Finisher // its Forward can be done block by block
	Sum    int      // the layer adds up so many bottoms, as they are, on the CPE path
}

// ReLU describes a ReLU layer.
type ReLU struct {
	Slope float32 // for values below 0
	// BySign: Backward tells from the sign of the result whether a gradient passes.
	BySign bool
}

// Plain reports whether r is a ReLU layer that makes values below 0 zeros.
func (r *ReLU) Plain() bool { return r != nil && r.Slope == 0 }

// Finisher does a layer's Forward to pieces of its bottom, in place, while they are in a core's cache. It is for nets that never go
// backward.
type Finisher interface {
	// Ready reports whether the bottom lies in blocks of channels, so that Finish can be called.
	Ready() bool
	// Hold looks up what Finish reads, which is the layer's weights and its bottoms behind the first.
	Hold(others []*blob.Blob)
	// Finish is a conv.Finish.
	Finish(y []float32, at, n, block int)
}

// Bottoms is a set of a layer's bottoms. The zero value is empty.
type Bottoms struct {
	most bool  // all are in the set but those listed; otherwise only those are
	list []int // indices
}

// AllBottoms is the set of all bottoms.
var AllBottoms = Bottoms{most: true}

// SomeBottoms is the set of bottoms with these indices.
func SomeBottoms(indices ...int) Bottoms { return Bottoms{list: indices} }

// AllBottomsBut is the set of all bottoms but those with these indices.
func AllBottomsBut(indices ...int) Bottoms { return Bottoms{most: true, list: indices} }

// Has reports whether bottom i is in the set.
func (b Bottoms) Has(i int) bool { return b.most != slices.Contains(b.list, i) }

// And returns the set with bottom i as well.
func (b Bottoms) And(i int) Bottoms {
	switch {
	case b.Has(i):
		return b
	case b.most:
		return AllBottomsBut(slices.DeleteFunc(slices.Clone(b.list), func(k int) bool { return k == i })...)
	}
	return SomeBottoms(append(slices.Clone(b.list), i)...)
}

// BottomsIf is the set of all bottoms, or of none.
func BottomsIf(all bool) Bottoms { return Bottoms{most: all} }

// TraitsOf returns a layer's traits; a layer that is not Planned promises nothing.
func TraitsOf(l Layer) Traits {
	if p, ok := l.(Planned); ok {
		return p.Traits()
	}
	return Traits{}
}

// Traits implements Planned.
func (b *Base) Traits() Traits { return Traits{} }
