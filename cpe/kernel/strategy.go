package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
)

// Strategy is a way to convolve.
type Strategy int

const (
	// Auto leaves the choice, direction by direction, to the machine's cost model.
	Auto Strategy = iota
	// Explicit writes the column matrix of a band of outputs (im2col) and multiplies.
	Explicit
	// Implicit multiplies with the column matrix of the whole batch as a view, which is gathered block by block.
	Implicit
	// Winograd2 and Winograd4 multiply 3x3 kernels in the transform domain, F(2x2,3x3) and F(4x4,3x3): see winogradConv.
	Winograd2
	Winograd4
)

// String returns the name that -strategy takes.
func (s Strategy) String() string {
	return [...]string{"auto", "explicit", "implicit", "winograd2", "winograd4"}[s]
}

// Direction is what a convolution computes.
type Direction int

const (
	Forward Direction = iota
	WeightGradient
	InputGradient
)

// String returns the direction's name.
func (d Direction) String() string {
	return [...]string{"forward", "weight gradient", "input gradient"}[d]
}

// supports reports whether a strategy can compute a direction of the shape.
func (s ConvShape) supports(spec *cpe.Spec, st Strategy, d Direction) bool {
	switch st {
	case Winograd2, Winograd4:
		return s.winogradable()
	case Implicit:
		if spec.Software.Unbuffered && !s.tapShape(spec, d) {
			return false
		}
		return d != InputGradient || s.unitStride() || spec.Native() && s.spreads()
	}
	return true
}

// chooseStrategies decides for each direction. A forced strategy is taken wherever it can be; where Winograd's cannot, the choice
// is free.
func chooseStrategies(spec *cpe.Spec, s ConvShape, st Strategy) (chosen [3]Strategy, err error) {
	for i := range chosen {
		d := Direction(i)
		if chosen[i], err = chooseStrategy(spec, s, st, d); err != nil {
			return chosen, fmt.Errorf("choosing a strategy for the %v: %w", d, err)
		}
	}
	return chosen, nil
}

func chooseStrategy(spec *cpe.Spec, s ConvShape, st Strategy, d Direction) (Strategy, error) {
	if st != Auto && s.supports(spec, st, d) {
		return st, nil
	}
	if st == Implicit || !s.supports(spec, Implicit, d) {
		return Explicit, nil
	}
	if spec.Native() {
		return hostStrategy(spec, s, d), nil
	}
	implicit, err := implicitIsFaster(spec, s, d)
	if implicit {
		return Implicit, err
	}
	return Explicit, err
}

// implicitIsFaster asks a model's costs. The answer depends on the shape and the machine alone.
func implicitIsFaster(spec *cpe.Spec, s ConvShape, d Direction) (bool, error) {
	if !s.published(spec, d) {
		return false, nil
	}
	var times [2]cpe.VTime
	for i, st := range []Strategy{Explicit, Implicit} {
		var err error
		if times[i], err = modelledTime(spec, s, st, d); err != nil {
			return false, err
		}
	}
	return times[1] < times[0], nil
}

// modelledTime charges a direction on a machine that moves no values.
func modelledTime(spec *cpe.Spec, s ConvShape, st Strategy, d Direction) (cpe.VTime, error) {
	m, err := cpe.New(*spec, cpe.CostOnly)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	c := &Conv{shape: s, plan: planConv(spec, s, [3]Strategy{st, st, st}), machine: m}
	if err := c.prepare(d); err != nil {
		return 0, err
	}
	err = c.run(d, convArrays{})
	return m.Ledger().Time, err
}
