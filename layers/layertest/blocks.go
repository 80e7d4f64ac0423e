package layertest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/layers"
)

// Blocks returns the layouts that a case's layer supports on this computer.
func Blocks(b *Bench, c *Case) (layers.Blocking, error) {
	f, err := New(b.Device(layers.CPE), c)
	if err != nil {
		return layers.Blocking{}, err
	}
	return f.blocking(), nil
}

func (f *Fixture) blocking() layers.Blocking { return layers.TraitsOf(f.Layer).Layout }

// LayOut sets the layouts of a layer's bottoms and tops: channels in blocks if true, else planes.
func LayOut(l layers.Layer, bottoms, tops bool) error {
	return layers.Arrange(l, layers.Arranged{In: layers.Layout{Blocks: bottoms}, Out: layers.Layout{Blocks: tops}})
}

// CheckBlocks compares a layer with channels in blocks to the same layer with planes, within the tolerance between paths. The number of
// cores must not change a bit. After a return to planes the layer must give the bits it gave at first.
func CheckBlocks(b *Bench, c *Case) error {
	plain, err := iteration(b.Device(layers.CPE), c)
	if err != nil {
		return err
	}
	var first *outcome
	for _, m := range append([]*cpe.Machine{b.Host}, b.cores...) {
		f, err := New(device(layers.CPE, m), c)
		if err != nil {
			return err
		}
		got, err := f.inBlocks()
		if err != nil {
			return err
		}
		if err := got.against(plain, orElse(c.Paths, 1e-5)); err != nil {
			return fmt.Errorf("in blocks of channels: %w", err)
		}
		if first == nil {
			first = got
		}
		if err := got.against(first, 0); err != nil {
			return fmt.Errorf("in blocks of channels on %d cores instead of %d: %w", m.Spec().CoreGroups, b.Host.Spec().CoreGroups, err)
		}
		if err := f.checkAgain(); err != nil {
			return err
		}
		again, err := f.plainAgain()
		if err == nil {
			err = again.against(plain, 0)
		}
		if err != nil {
			return fmt.Errorf("after blocks of channels: %w", err)
		}
	}
	return nil
}

// inBlocks runs an iteration with channels in blocks and counts its allocations.
func (f *Fixture) inBlocks() (*outcome, error) {
	if can := f.blocking(); !can.Bottoms || !can.Tops {
		return nil, fmt.Errorf("the layer does not support bottoms and tops with channels in blocks: it offers %+v", can)
	}
	if err := f.setBlocked(true); err != nil {
		return nil, err
	}
	o, err := f.iterate()
	if err != nil {
		return nil, err
	}
	allocated := alloctest.PerRun(3, func() {
		err = errors.Join(err, f.Layer.Reshape(f.Bottom, f.Top), f.Layer.Forward(f.Bottom, f.Top))
		if !f.Case.skipsGradient() {
			err = errors.Join(err, f.Layer.Backward(f.Top, f.propagate, f.Bottom))
		}
	})
	if err == nil && allocated > 0 && f.Case.Allocates == "" {
		err = fmt.Errorf("an iteration on blocks of channels allocates %d times", allocated)
	}
	return o, err
}

// checkAgain gives the bottoms the case's other shapes, which must keep the layout, and then the first shapes again.
func (f *Fixture) checkAgain() error {
	c := *f.Case
	if c.Again == nil {
		return nil
	}
	var first [][]int
	c.Bottoms = slices.Clone(c.Bottoms)
	for i, shape := range c.Again {
		first = append(first, c.Bottoms[i].Shape)
		c.Bottoms[i].Shape = shape
	}
	want, err := iteration(device(layers.CPE, f.Device.Machine), &c)
	if err != nil {
		return err
	}
	if err := f.reshape(c.Again); err != nil {
		return err
	}
	got, err := f.iterate()
	if err == nil {
		err = got.against(want, orElse(c.Paths, 1e-5))
	}
	if err != nil {
		return fmt.Errorf("in blocks of channels, after a change of shapes to %v: %w", c.Again, err)
	}
	return f.reshape(first)
}

func (f *Fixture) plainAgain() (*outcome, error) {
	if err := f.setBlocked(false); err != nil {
		return nil, err
	}
	return f.iterate()
}

// setBlocked sets the layer's layouts and converts the inputs.
func (f *Fixture) setBlocked(on bool) error {
	if err := LayOut(f.Layer, on, on); err != nil {
		return err
	}
	for i, b := range f.Bottom {
		f.inputs[i] = inLayout(b, f.inputs[i], on)
	}
	f.blocked = on
	return nil
}

// inLayout converts a blob's values from planes to blocks of channels, or back.
func inLayout(b *blob.Blob, values []float32, toBlocks bool) []float32 {
	turn, dst := shape.FromBlocks, make([]float32, len(values))
	if toBlocks {
		turn = shape.ToBlocks
	}
	turn(dst, values, b.CountRange(0, 2), b.CountFrom(2))
	return dst
}

// image returns a blob's values in planes.
func (f *Fixture) image(b *blob.Blob, values []float32) []float32 {
	if !f.blocked {
		return values
	}
	return inLayout(b, values, false)
}
