package layers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Arity bounds a number of blobs. Max < 0 means no upper bound.
type Arity struct{ Min, Max int }

// Exactly is the arity of n blobs.
func Exactly(n int) Arity { return Arity{n, n} }

// AtLeast is the arity of n blobs or more.
func AtLeast(n int) Arity { return Arity{n, -1} }

// Between is the arity of lo to hi blobs.
func Between(lo, hi int) Arity { return Arity{lo, hi} }

func (a Arity) check(n int) error {
	switch {
	case a.Min == a.Max && n != a.Min:
		return fmt.Errorf("%d given, exactly %d needed", n, a.Min)
	case n < a.Min:
		return fmt.Errorf("%d given, at least %d needed", n, a.Min)
	case a.Max >= 0 && n > a.Max:
		return fmt.Errorf("%d given, at most %d allowed", n, a.Max)
	}
	return nil
}

// Type is a registry entry: how to make a layer, and what the net must know of it beforehand.
type Type struct {
	Name string // the "type" of a prototxt
	Doc  string // one line: what it computes

	New func(*caffepb.LayerParameter, *Device) Layer

	Bottoms, Tops Arity
	EqualBlobs    bool // as many tops as bottoms
	InPlace       bool // a top may have the name of its bottom
	// Loss: the first top has loss weight 1 by default, and tops that the prototxt leaves out are made.
	Loss bool
	// AutoTop: tops that the prototxt leaves out are made, though the layer is no loss.
	AutoTop bool
	// NoForceBackward lists the bottoms whose gradient force_backward does not ask for (labels).
	NoForceBackward []int
	// NoGradient: Backward cannot be asked for any bottom (data sources, Accuracy, ArgMax).
	NoGradient bool
}

var registry = map[string]Type{}

// Register adds a layer type; it is called from init in the layer's own file, or from a user's program before a net
// is built. A name taken twice panics.
func Register(t Type) {
	if _, taken := registry[t.Name]; taken {
		panic("layers: type " + t.Name + " registered twice")
	}
	registry[t.Name] = t
}

// Types returns all registered types by name.
func Types() []Type {
	var ts []Type
	for _, name := range names() {
		ts = append(ts, registry[name])
	}
	return ts
}

// Find returns the entry of a type. The error says what is known of one from a fork of Caffe, and otherwise suggests the nearest of the
// known types and lists them.
func Find(name string) (Type, error) {
	if t, ok := registry[name]; ok {
		return t, nil
	}
	if name == "" {
		return Type{}, fmt.Errorf("type is missing (known types: %s)", strings.Join(names(), ", "))
	}
	if name == "Python" {
		return Type{}, errors.New(`swcaffe has no Python layers: write the layer in Go and register it with layers.Register, as example_test.go shows and ARCHITECTURE.md says under "Adding a layer"`)
	}
	if fork := swproto.FromFork(name); fork != "" {
		return Type{}, fmt.Errorf("unknown layer type %q%s", name, fork)
	}
	return Type{}, suggest.Unknown("layer type", name, "known types", names())
}

func names() []string { return slices.Sorted(maps.Keys(registry)) }

// CheckBlobs checks the number of bottoms and tops that a layer was given.
func (t Type) CheckBlobs(bottoms, tops int) error {
	if err := t.Bottoms.check(bottoms); err != nil {
		return fmt.Errorf("bottom blobs: %w", err)
	}
	if err := t.Tops.check(tops); err != nil {
		return fmt.Errorf("top blobs: %w", err)
	}
	if t.EqualBlobs && bottoms != tops {
		return fmt.Errorf("%d bottom blobs but %d top blobs: a %s layer needs as many of each", bottoms, tops, t.Name)
	}
	return nil
}
