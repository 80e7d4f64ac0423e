package net

import (
	"fmt"
	"maps"
	"slices"

	"github.com/swcaffe/swcaffe/internal/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
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

// fail wraps what went wrong in a net as a whole.
func (o *Options) fail(p *caffepb.NetParameter, err error) error {
	err = fmt.Errorf("net %q: %w", p.GetName(), err)
	if o.Pos != nil {
		err = fmt.Errorf("%s: %w", o.Pos(-1), err)
	}
	return err
}

// locate adds the position to an error of a pass. Filter counts layers of the file itself; later passes of what
// Filter left, for which origin leads back.
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

// fail wraps what went wrong in a layer.
func (n *Net) fail(d *node, err error) error {
	le := &LayerError{Index: d.origin, Layer: d.param.GetName(), Type: d.param.GetType(), Err: err}
	if n.opt.Pos != nil {
		le.Pos = n.opt.Pos(d.origin)
	}
	return le
}

func unknownBottom[V any](name string, index int, known map[string]V) error {
	names := slices.Sorted(maps.Keys(known))
	return fmt.Errorf("unknown bottom blob %q (bottom index %d): no layer above has a top of that name%s",
		name, index, suggest.DidYouMean(name, names))
}
