package layertest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// CheckReads checks two promises on both paths, for every selection of weight gradients. Backward must give the same bits if the values in
// Traits.Unread are NaN. Forward must not write gradients, except those in Traits.Traces. A net reuses the storage of both.
func CheckReads(b *Bench, c *Case) error {
	var errs []error
	for _, engine := range Engines() {
		f, err := New(b.Device(engine), c)
		if err == nil {
			err = errors.Join(f.checkTraces(), f.checkReads())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", engine, err))
		}
	}
	return errors.Join(errs...)
}

// checkTraces looks for gradients that Forward has written. A first run lets tops grow whose extents depend on values.
func (f *Fixture) checkTraces() error {
	if err := f.run(); err != nil {
		return err
	}
	blobs := slices.Concat(f.Bottom, f.Top)
	for _, b := range blobs {
		poison(b.Diff())
	}
	if err := f.run(); err != nil {
		return err
	}
	for i, b := range blobs {
		if i < len(f.Bottom) && layers.TraitsOf(f.Layer).Traces.Has(i) {
			continue
		}
		written := func(v float32) bool { return !math.IsNaN(float64(v)) }
		if at := slices.IndexFunc(b.Diff(), written); at >= 0 {
			return fmt.Errorf("Forward has written %g to element %d of the gradient of blob %d (bottoms count first)", b.Diff()[at], at, i)
		}
	}
	return nil
}

// checkReads compares two runs of Backward: with all values, and with the unread values set to NaN.
func (f *Fixture) checkReads() error {
	if f.Type.NoGradient {
		return nil
	}
	return f.eachSelection(func(wanted string) error {
		want, err := f.gradients(nil)
		if err != nil && f.Case.skipsGradient() {
			return nil
		}
		if err != nil {
			return err
		}
		got, err := f.gradients(unread(f.Layer, f.Bottom, f.Top))
		if err == nil {
			err = got.against(want, 0)
		}
		if err != nil {
			return fmt.Errorf("Backward (gradients of weights wanted: %s) reads values that the layer's Traits list as unread: %w", wanted, err)
		}
		return nil
	})
}

// eachSelection calls visit with all weight gradients selected, with all but one for each weight, and with none.
func (f *Fixture) eachSelection(visit func(wanted string) error) error {
	s, ok := f.Layer.(layers.GradSelector)
	n := len(f.Layer.Params())
	if !ok || n == 0 {
		return visit("all")
	}
	selection := func(wanted string, want func(i int) bool) error {
		for i := range n {
			s.SetParamGrad(i, want(i))
		}
		return visit(wanted)
	}
	errs := []error{selection("none", func(int) bool { return false })}
	for without := range n {
		errs = append(errs, selection(fmt.Sprintf("all but %d", without), func(i int) bool { return i != without }))
	}
	return errors.Join(append(errs, selection("all", func(int) bool { return true }))...)
}

// gradients runs forward, and backward with the values of the lost blobs set to NaN.
func (f *Fixture) gradients(lost []*blob.Blob) (*outcome, error) {
	if err := f.run(); err != nil {
		return nil, err
	}
	if err := f.backwardWithout(lost, f.topDiffs()); err != nil {
		return nil, err
	}
	o := &outcome{}
	f.addGradients(o)
	return o, nil
}

// Forget sets the values that a layer's Backward does not read to NaN. The layer may be a fusion of several.
func Forget(l layers.Layer, bottom, top []*blob.Blob) {
	for _, b := range unread(l, bottom, top) {
		poison(b.Data())
	}
}

// unread lists the blobs with unread values.
func unread(l layers.Layer, bottom, top []*blob.Blob) []*blob.Blob {
	var unread []*blob.Blob
	read := slices.Clone(layers.TraitsOf(l).Keeps)
	for _, v := range valuesOf(l, bottom, top) {
		if v.read {
			read = append(read, v.blob)
		} else {
			unread = append(unread, v.blob)
		}
	}
	return slices.DeleteFunc(unread, func(b *blob.Blob) bool { return slices.ContainsFunc(read, b.SharesData) })
}

// value is a blob whose values Backward may read.
type value struct {
	name string
	blob *blob.Blob
	read bool // not in the layer's Traits.Unread
}

func valuesOf(l layers.Layer, bottom, top []*blob.Blob) (list []value) {
	unread := layers.TraitsOf(l).Unread
	for i, b := range bottom {
		list = append(list, value{fmt.Sprintf("bottom %d", i), b, !unread.Bottoms.Has(i)})
	}
	for _, t := range top {
		list = append(list, value{"tops", t, !unread.Tops})
	}
	return list
}

// IdleReads returns the blobs ("bottom 0", "tops") that a layer's Traits declare as read although their values change nothing on either
// path. A net need not keep such values.
func IdleReads(b *Bench, c *Case) ([]string, error) {
	idle := map[string]bool{}
	for _, engine := range Engines() {
		if err := sortReads(b.Device(engine), c, idle); err != nil {
			return nil, fmt.Errorf("%v: %w", engine, err)
		}
	}
	maps.DeleteFunc(idle, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(idle)), nil
}

// sortReads runs one path and records for each declared blob whether its values change nothing.
func sortReads(d *layers.Device, c *Case, idle map[string]bool) error {
	f, err := New(d, c)
	if err != nil || f.Type.NoGradient {
		return err
	}
	want, err := f.gradients(nil)
	if err != nil && c.skipsGradient() {
		return nil
	}
	if err != nil {
		return err
	}
	for _, v := range valuesOf(f.Layer, f.Bottom, f.Top) {
		if !v.read {
			continue
		}
		got, err := f.gradients([]*blob.Blob{v.blob})
		needed := err != nil || got.against(want, 0) != nil
		before, met := idle[v.name]
		idle[v.name] = !needed && (before || !met)
	}
	return nil
}
