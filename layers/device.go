package layers

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/pages"
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

// Device is what a layer is built with: the path to take, the machine the CPE path runs on, and the source of
// random numbers for fillers, dropout and data augmentation. Nets that must not disturb each other's random
// sequence have devices of their own.
type Device struct {
	Engine  Engine
	Machine *cpe.Machine
	Random  *Random
	Log     *logrus.Logger
	// Share is which items layers that read a stream hand out.
	Share Share
	// Strategy is how convolutions are to be computed where they can be; Auto leaves it to the machine's cost model.
	Strategy shape.Strategy
	// Tuner, if not nil, knows or finds the fastest strategy of every convolution, and Strategy is ignored.
	Tuner conv.Tuner

	shadow blob.Shadow
}

// NewBlob returns a blob for a layer or net on the device. On a machine that moves no values blobs take no memory of their own.
func (d *Device) NewBlob(shape ...int) *blob.Blob {
	if d.Machine.Values() {
		return blob.New(shape...)
	}
	return d.shadow.New(shape...)
}

// CheckShape refuses a blob of more axes or values than it may have, before anything is made for it. Where no values move it may have any
// number of them that a memory could have. It panics with a pages.TooMuch beyond that.
func (d *Device) CheckShape(what string, shape []int) error {
	if len(shape) > blob.MaxAxes {
		return fmt.Errorf("%s has %d axes, at most %d are possible", what, len(shape), blob.MaxAxes)
	}
	if d.Machine.Values() && blob.CountOf(shape...) > blob.MaxCount {
		return fmt.Errorf("%s of shape %v would have more than %d values", what, shape, blob.MaxCount)
	}
	for axis, n := range shape {
		if n > blob.MaxCount {
			return fmt.Errorf("%s of shape %v: axis %d is longer than %d", what, shape, axis, blob.MaxCount)
		}
	}
	pages.DemandShape(float64(blob.CountOf(shape...)))
	return nil
}
