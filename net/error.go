package net

import (
	"fmt"
	"maps"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// LayerError is an error in a layer. Index is the layer's position in the original NetParameter; Pos is its file and line, if known.
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

// fail wraps an error that concerns the whole net.
func (o *Options) fail(p *caffepb.NetParameter, err error) error {
	err = fmt.Errorf("net %q: %w", p.GetName(), err)
	if o.Pos != nil {
		err = fmt.Errorf("%s: %w", o.Pos(-1), err)
	}
	return err
}

// locate adds the position to an error of a building step. Filter counts the layers of the file. Later steps count the layers that Filter
// kept; origin maps these to the file's.
func locate(err error, pos func(int) string, origin []int) error {
	le, ok := err.(*LayerError)
	if !ok || pos == nil {
		return err
	}
	if le.Index < len(origin) {
		le.Index = origin[le.Index]
	}
	le.Pos = pos(le.Index)
	return le
}

// fail wraps an error of one layer.
func (n *Net) fail(d *node, err error) error {
	le := &LayerError{Index: d.origin, Layer: d.param.GetName(), Type: d.param.GetType(), Err: err}
	if n.opt.Pos != nil {
		le.Pos = n.opt.Pos(d.origin)
	}
	return le
}

// Fail returns an error of layer i, with its place in the file.
func (n *Net) Fail(i int, err error) error { return n.fail(n.nodes[i], err) }

func unknownBottom[V any](name string, index int, known map[string]V) error {
	names := slices.Sorted(maps.Keys(known))
	return fmt.Errorf("unknown bottom blob %q (bottom index %d): no earlier layer has a top of that name%s",
		name, index, suggest.DidYouMean(name, names))
}
