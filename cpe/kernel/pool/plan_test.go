package pool

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestPlans compares plans for the SW26010 with a file.
func TestPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range poolShapes {
			p, err := NewPlan(&spec, s)
			add(fmt.Sprintf("pool %+v", s), p, err)
		}
	})
}
