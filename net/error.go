package net

import (
	"fmt"
	"maps"
	"slices"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// LayerError says in which layer something went wrong. Index is the layer's place in the NetParameter the net was
// made from; Pos is its file and line where known.
type LayerError struct {
	Index int
	Layer string
	Type  string
	Pos   string
	Err   error
}

func (e *LayerError) Error() string {
	s := fmt.Sprintf("layer %q", e.Layer)
	if e.Type != "" {
		s += " (" + e.Type + ")"
	}
	if e.Pos != "" {
		s = e.Pos + ": " + s
	}
	return s + ": " + e.Err.Error()
}

func (e *LayerError) Unwrap() error { return e.Err }

func unknownBottom[V any](name string, index int, known map[string]V) error {
	names := slices.Sorted(maps.Keys(known))
	return fmt.Errorf("unknown bottom blob %q (bottom index %d): no layer above has a top of that name%s",
		name, index, suggest.DidYouMean(name, names))
}
