package plan_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestWhatPools: convolutions whose both directions are the implicit strategy's for few channels: because that was chosen, was asked for, or
// is what a tuner has found, not before.
func TestWhatPools(t *testing.T) {
	m, s := kerneltest.HostMachine(t, 2), convtest.PooledConvs[1]
	for _, tt := range []struct {
		st   shape.Strategy
		want bool
	}{{shape.Auto, true}, {shape.Implicit, true}, {shape.Explicit, false}} {
		if c, err := plan.New(m, s, tt.st); err != nil || c.PoolsBands() != tt.want {
			t.Errorf("%v: error %v, pools %t", tt.st, err, !tt.want)
		}
	}
	u := convtest.NewScripted(t, shape.Implicit)
	c, err := plan.NewTuned(m, s, op.Types{}, u)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		d    shape.Direction
		st   shape.Strategy
		want bool
	}{{shape.Forward, shape.Implicit, false}, {shape.WeightGradient, shape.Explicit, false}, {shape.WeightGradient, shape.Implicit, true}, {shape.Forward, shape.Explicit, false}} {
		u.Known[conv.Key{Shape: s, Direction: tt.d, ResultsInBlocks: true}.String()+tt.d.String()] = tt.st
		if c.PoolsBands() != tt.want {
			t.Errorf("a tuner has found %v for the %v: pools %t", tt.st, tt.d, !tt.want)
		}
	}
	if c, err := plan.New(kerneltest.Machine(t, "sw26010", true), s, shape.Implicit); err != nil || c.PoolsBands() {
		t.Errorf("a modelled machine pools, or fails: %v", err)
	}
}
