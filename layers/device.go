package layers

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Engine chooses between a layer's two paths.
type Engine int

const (
	// CPE is the tiled path on the device's machine; the default.
	CPE Engine = iota
	// MPE is the plain single-threaded reference.
	MPE
)

// String returns "cpe" or "mpe".
func (e Engine) String() string {
	if e == MPE {
		return "mpe"
	}
	return "cpe"
}

// ParseEngine reads the -engine flag.
func ParseEngine(s string) (Engine, error) {
	switch s {
	case "cpe":
		return CPE, nil
	case "mpe":
		return MPE, nil
	}
	return CPE, fmt.Errorf("unknown engine %q: use cpe or mpe", s)
}

// Device is the environment a layer is built with: the path to take, the machine for the CPE path, and the random generator for fillers,
// dropout and data augmentation. Nets whose random sequences must be independent use separate devices.
type Device struct {
	Engine  Engine
	Machine *cpe.Machine
	Random  *Random
	Log     *logrus.Logger
	// Share selects the items of a stream that data layers hand out.
	Share Share
	// Force selects the algorithms of convolutions that support it. The zero value chooses by the machine's cost model.
	Force op.Force
	// Tuner, if not nil, looks up or measures the fastest algorithm of every convolution. Force is then ignored.
	Tuner conv.Tuner
	// Precision is that of a layer's products (cpe.Precisions); "": the machine's. The net sets it for each layer.
	Precision string
	// Unfilled leaves the weights of layers without values and memory: those of another net take their places (net.Options.WeightsOf).
	Unfilled bool
	// Stored names layers whose weights will be read from a file: until then they have no memory, and fillers are left out.
	Stored map[string]bool
	// WeightMemory, if not nil, is where the weights of layers lie.
	WeightMemory *pages.Pool
}

// Types are the number types of a layer's products in float32 or bfloat16: those of its precision.
func (d *Device) Types() op.Types {
	spec := d.Machine.Spec()
	if d.Precision != "" {
		spec, _ = spec.WithPrecision(d.Precision)
	}
	return op.Permitted(&spec)
}

// NewBlob returns a blob for a layer or net on the device. If the machine moves no values, the blob takes no memory of its own.
func (d *Device) NewBlob(shape ...int) *blob.Blob {
	if d.Machine.Values() {
		return blob.New(shape...)
	}
	return blob.NewShadow(shape...)
}

// CheckShape returns an error if a blob would have too many axes or values. Callers ask before they allocate. On a machine that moves no
// values, CheckShape permits any count that could fit in memory, and panics with a pages.TooMuch beyond that.
func (d *Device) CheckShape(what string, shape []int) error {
	if len(shape) > blob.MaxAxes {
		return fmt.Errorf("%s has %d axes, at most %d are possible", what, len(shape), blob.MaxAxes)
	}
	if d.Machine.Values() && blob.SizeOf(shape...) > blob.MaxCount {
		return fmt.Errorf("%s of shape %v would have more than %d values", what, shape, blob.MaxCount)
	}
	for axis, n := range shape {
		if n > blob.MaxCount {
			return fmt.Errorf("%s of shape %v: axis %d is longer than %d", what, shape, axis, blob.MaxCount)
		}
	}
	pages.DemandShape(blob.SizeOf(shape...))
	return nil
}
