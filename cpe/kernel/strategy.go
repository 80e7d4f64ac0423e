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
)

// String returns the name that -strategy takes.
func (s Strategy) String() string { return [...]string{"auto", "explicit", "implicit"}[s] }

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
func (s ConvShape) supports(st Strategy, d Direction) bool {
	return st != Implicit || d != InputGradient || s.unitStride()
}

// chooseStrategies decides for each direction. A forced strategy is taken wherever it can be.
func chooseStrategies(spec *cpe.Spec, s ConvShape, st Strategy) ([3]Strategy, error) {
	chosen := [3]Strategy{Explicit, Explicit, Explicit}
	for i := range chosen {
		d := Direction(i)
		if st == Explicit || !s.supports(Implicit, d) && !(spec.Native() && s.spreads()) {
			continue
		}
		implicit := true
		if st == Auto {
			var err error
			if implicit, err = implicitIsFaster(spec, s, d); err != nil {
				return chosen, fmt.Errorf("choosing a strategy for the %v: %w", d, err)
			}
		}
		if implicit {
			chosen[i] = Implicit
		}
	}
	return chosen, nil
}

// implicitIsFaster asks the machine's cost model. The answer depends on the shape and the machine alone.
func implicitIsFaster(spec *cpe.Spec, s ConvShape, d Direction) (bool, error) {
	if spec.Native() {
		return true, nil // it does nothing that the explicit one does not, and makes no column matrix
	}
	if !s.batchAware(spec, d) {
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
