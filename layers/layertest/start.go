package layertest

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/layers"
)

// CheckStart checks on both paths and every machine that after StartDiff the sums of weights' gradients start at zero, although the memory
// holds NaN. The charge must equal that of adding to a sum.
func CheckStart(b *Bench, c *Case) error {
	f, err := New(b.Device(layers.MPE), c)
	if err != nil || len(f.Layer.Params()) == 0 {
		return err
	}
	want, err := f.iterate()
	if err != nil {
		return err
	}
	var errs []error
	for _, device := range []func() *layers.Device{
		func() *layers.Device { return b.Device(layers.MPE) },
		func() *layers.Device { return device(layers.CPE, b.Host) },
		func() *layers.Device { return device(layers.CPE, b.Model) },
	} {
		if err := begins(device, c, want); err != nil {
			d := device()
			errs = append(errs, fmt.Errorf("%v on %s, sums started by StartDiff: %w", d.Engine, d.Machine.Spec().Name, err))
		}
	}
	return errors.Join(errs...)
}

// begins compares an iteration after StartDiff with one that adds to existing sums.
func begins(device func() *layers.Device, c *Case, want *outcome) error {
	goesOn, err := iteration(device(), c)
	if err != nil {
		return err
	}
	f, err := New(device(), c)
	if err != nil {
		return err
	}
	f.begins = true
	got, err := f.iterate()
	if err != nil {
		return err
	}
	if got.ledger != goesOn.ledger {
		return fmt.Errorf("charged %+v, but %+v for adding to existing sums", got.ledger, goesOn.ledger)
	}
	return got.against(want, orElse(c.Paths, 1e-5))
}
