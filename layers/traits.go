package layers

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// Planned is implemented by layers that take part in the plan of a net (package net/schedule). Base implements it with no special
// abilities.
type Planned interface {
	// Traits returns the layer's abilities as of the last Reshape and Arrange.
	Traits() Traits
	// Arrange applies the plan's decision, which holds until the next call. It is called after Reshape and asks only for abilities in
	// Traits. If a later Reshape changes the shapes, the layer keeps its layouts or returns an error.
	Arrange(Arranged) error
}

// Traits lists the abilities that a plan can use. The zero value offers none: Backward reads all bottoms and tops, gradients share no
// storage, and images are in planes.
//
// The plan reuses the storage of values listed as unread. A layer that reads more than its Traits declare computes wrong gradients;
// layertest.CheckReads finds such layers.
type Traits struct {
	Unread  Unread       // values that Backward does not read
	Keeps   []*blob.Blob // private storage of the layer, written in full by Forward and read by Backward
	Traces  Bottoms      // bottoms whose gradient Forward writes; it must survive until Backward
	Scratch Scratch      // scratch memory for kernels that run on several core groups
	Parted  bool         // Backward should run in parts for these shapes (PartedBackward)
	Grads   Grads        // how gradients may share storage
	Layout  Blocking     // supported image layouts
	Turns   Turns        // layout conversions the layer makes in its present arrangement
	Thin    Thinning     // the pixels needed in the present arrangement
	Rounds  Rounding     // what may be rounded to bfloat16 in the present arrangement
	Joins   Joins        // neighbouring layers' work that this layer can also do
	Is      Identity     // properties that let neighbouring layers do this layer's work
	Whole   Whole        // Forward only copies the pieces of an array
	Apart   error        // if not nil, Forward does Arranged.Steps in a pass over memory of its own, and this is why
}

// Unread lists values that Backward does not read.
type Unread struct {
	Bottoms Bottoms
	Tops    bool
}

// ReadsNothing: Backward reads neither bottoms nor tops.
var ReadsNothing = Unread{AllBottoms, true}

// Scratch counts the scratch values that kernels need besides bottoms and tops (cpe.Machine.Common). Params is the need of BackwardParams,
// Bottoms that of BackwardBottoms, or of Backward if it runs whole.
type Scratch struct{ Forward, Params, Bottoms int }

// Grads says how gradients may share storage.
type Grads struct {
	// Passes lists bottoms whose gradient equals the top's. If their diffs share the top's storage, Backward does nothing for them.
	Passes Bottoms
	// Replaces: the gradient of bottom 0 may overwrite the gradient of top 0, because Backward has read it by then.
	Replaces bool
	// Adds: Backward can add to its bottom's gradient (Arranged.AddGrad).
	Adds bool
	// Sums: the bottom's gradient is the sum of the tops' gradients (Split). If all share one storage, the tops' readers have already added
	// it up there, and Backward does nothing.
	Sums bool
}

// Joins lists work of neighbouring layers that a layer can do along with its own (Arranged).
type Joins struct {
	// ReLUGrad: Backward can also apply the Backward of in-place ReLU layers on a bottom. It reads the bottom's values for this. They still
	// exist, since the ReLU layer itself would read them later.
	ReLUGrad bool
	// Finish: Forward can also compute the Forward of the next layers that have Finishers (Arranged.Steps).
	Finish bool
	// Fold is the number of channels of the top if the layer can multiply Maps of them into its weights (Folder), else 0.
	Fold int
	// OnlyParams: the layer computes no bottom gradients. Some fused layers are like this.
	OnlyParams bool
}

// Whole says that a layer's Forward only copies its bottoms to its top, one behind the other, or its bottom's pieces to its tops. If the plan places pieces in the whole
// (Arranged.Whole), there is nothing to copy.
type Whole struct {
	Starts []int // where the pieces begin in the whole
	Bottom bool  // the bottom is the whole
}

// Identity tells neighbouring layers what this layer is.
type Identity struct {
	ReLU   *ReLU    // not nil for a ReLU layer on the CPE path
	Finish Finisher // not nil if Forward can be applied block by block
	Map    Map      // not nil if Forward is a Map
	// Symmetric: Finish may apply to any bottom, with the others in the place of those after the first.
	Symmetric bool
	Sum       int // number of bottoms of a plain sum on the CPE path
}

// ReLU describes a ReLU layer.
type ReLU struct {
	Slope float32 // for negative values
	// BySign: the sign of y, instead of x, decides which gradients pass.
	BySign bool
}

// Plain reports whether r is a ReLU layer without negative slope.
func (r *ReLU) Plain() bool { return r != nil && r.Slope == 0 }

// Finisher applies a layer's Forward in place to parts of its bottom, while they are still in a core's cache. Where the net runs Backward too,
// only Finishers of layers in place are used whose Forward stores nothing else.
type Finisher interface {
	// ByChannel reports whether Finish depends on the channels. If not, pieces may be of any length, and may begin anywhere.
	ByChannel() bool
	// Hold fetches the arrays that Finish reads: the layer's weights, and its other bottoms.
	Hold(others []*blob.Blob)
	// Finish is an op.Finish, in the layout of the layer's bottom.
	Finish(y []float32, at, block int)
}

// Widener is implemented by Finishers whose other bottoms may be in rounded blocks (Step.Rounded).
type Widener interface {
	// HoldRounded is Hold for these.
	HoldRounded(others []*blob.Blob)
}

// Map is a layer whose Forward multiplies each channel (axis 1) by a constant and adds another. The constants depend on the weights alone.
type Map interface {
	// Channels is their number.
	Channels() int
	// Compose applies the layer to factor*x + shift, by channel, and stores the new factors and shifts.
	Compose(factor, shift []float64)
	// Params returns the weights.
	Params() []*blob.Blob
}

// Folder is implemented by layers that can compute with other weights and biases than their own: those that also do the work of Maps behind
// them (Joins.Fold). Their own weights keep their values.
type Folder interface {
	// Fold sets the Maps, in their order; none ends it.
	Fold(maps []Map)
}

// Bottoms is a set of a layer's bottoms. The zero value is empty.
type Bottoms struct {
	most bool  // the set is all bottoms except list; otherwise it is list
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

// And returns the set with bottom i added.
func (b Bottoms) And(i int) Bottoms {
	switch {
	case b.Has(i):
		return b
	case b.most:
		return AllBottomsBut(slices.DeleteFunc(slices.Clone(b.list), func(k int) bool { return k == i })...)
	}
	return SomeBottoms(append(slices.Clone(b.list), i)...)
}

// BottomsIf returns the set of all bottoms if all is true, else the empty set.
func BottomsIf(all bool) Bottoms { return Bottoms{most: all} }

// TraitsOf returns a layer's traits, or the zero value if the layer is not Planned.
func TraitsOf(l Layer) Traits {
	if p, ok := l.(Planned); ok {
		return p.Traits()
	}
	return Traits{}
}

// Traits implements Planned.
func (b *Base) Traits() Traits { return Traits{} }
