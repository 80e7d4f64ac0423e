package python

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// Blob is a blob that Python holds.
type Blob struct {
	blob *blob.Blob
	net  *Net         // nil for the blobs of a Python layer
	of   *pythonLayer // nil for the blobs of a net
	own  bool         // a top or weight of the Python layer
	// top: the blob is a top in the net, not a weight. source: of a layer without bottoms. hidden: its values are undefined while the net
	// economises.
	top, source, hidden bool
}

func (b *Blob) release() {}

// View is memory of a blob. The caller ends it by Forget, unless Address is 0: the blob is empty.
type View struct {
	Address uintptr
	Shape   []int
}

// Look returns the values of a blob, or its gradient, as memory that stays in place until Forget.
func Look(h Handle, diff bool) (v View, err error) {
	defer guard(&err)
	b, err := find[*Blob](h)
	if err != nil {
		return View{}, err
	}
	var count *int
	if b.net != nil {
		if err := b.net.gate.enter(false); err != nil {
			return View{}, err
		}
		defer b.net.gate.leave(false)
		prepare := b.prepare
		if b.net.solver == nil {
			prepare = b.show
		}
		if count, err = prepare(diff); err != nil {
			return View{}, err
		}
	}
	values := b.blob.Data
	if diff {
		values = b.blob.Diff
	}
	return View{look(values(), count), slices.Clone(b.blob.Shape())}, nil
}

// prepare makes the values or the gradient of a blob of a solver's net fit to look at. It returns the counter of such views, nil for the
// values of outputs, which are always fit.
func (b *Blob) prepare(diff bool) (count *int, err error) {
	n := b.net
	none := func() error { return nil }
	switch {
	case b.top && (b.hidden || diff):
		return &n.watched, n.use(false, none)
	case !b.top || b.source:
		return &n.held, n.solver.see()
	}
	return nil, nil
}

// Shape returns a blob's shape.
func Shape(h Handle) (shape []int, err error) {
	defer guard(&err)
	b, err := find[*Blob](h)
	if err != nil {
		return nil, err
	}
	if b.net != nil { // another thread may reshape the blob
		if err := b.net.gate.enter(false); err != nil {
			return nil, err
		}
		defer b.net.gate.leave(false)
	}
	return slices.Clone(b.blob.Shape()), nil
}

// Reshape changes a blob's shape. If the blob grows, it has new memory, filled with zeros.
func Reshape(h Handle, shape []int) (err error) {
	defer guard(&err)
	b, err := find[*Blob](h)
	if err != nil {
		return err
	}
	if err := checkShape(shape); err != nil {
		return err
	}
	if slices.Equal(shape, b.blob.Shape()) {
		return nil
	}
	if b.net == nil {
		if !b.own || !b.of.shapes {
			return &Fault{Kind: "RuntimeError", Text: fmt.Sprintf("reshape from %v to %v: a Python layer gives its tops their shapes in setup, reshape and forward, and its weights in setup",
				b.blob.Shape(), shape)}
		}
		b.blob.Reshape(shape...)
		return nil
	}
	if !b.top && blob.CountOf(shape...) != b.blob.Count() {
		return invalid("reshape from %v to %v: a weight keeps its number of values", b.blob.Shape(), shape)
	}
	return b.net.use(true, func() error {
		b.blob.Reshape(shape...)
		if b.top {
			b.net.shaped = 0
		}
		return nil
	})
}

func checkShape(shape []int) error {
	if len(shape) > blob.MaxAxes {
		return invalid("shape %v has %d axes, at most %d are possible", shape, len(shape), blob.MaxAxes)
	}
	for _, n := range shape {
		if n < 0 {
			return invalid("shape %v: an extent cannot be negative", shape)
		}
	}
	if blob.SizeOf(shape...) > blob.MaxCount {
		return invalid("shape %v would have more than %d values", shape, blob.MaxCount)
	}
	return nil
}

// blobRequest asks for a new weight of a Python layer.
type blobRequest struct {
	Layer int64 `json:"layer"`
	Shape []int `json:"shape"`
}

// addBlob gives a Python layer another weight.
func addBlob(r blobRequest) (h Handle, err error) {
	defer guard(&err)
	l := pythonLayerOf(r.Layer)
	if l == nil || !l.settingUp {
		return 0, errors.New("add_blob: only layers written in Python can add weights, in their setup")
	}
	if err := checkShape(r.Shape); err != nil {
		return 0, err
	}
	if err := l.AddWeight(nil, r.Shape...); err != nil {
		return 0, err
	}
	return objects.add(&Blob{blob: l.Weights[len(l.Weights)-1], of: l}), nil
}
