package serve

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/cputime"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/predict"
)

// More items in a run are not always cheaper: what a layer computes of many may leave a core's cache before the next one reads it. So the processor time of an item is
// measured at each size when plans are made, and runs have as many items as are cheapest. Other programs take cores from a run, and not processor time.

// enough is the processor time after which a measurement ends.
const enough = 5 * time.Millisecond

// measure measures the plan that was made last. With all plans it says which is the cheapest, unless a layer refuses zeros.
func (r *runner) measure() error {
	var pace time.Duration
	err := relay.Error(func() (err error) {
		pace, err = r.pace(r.v.sizes()[r.plans-1])
		return err
	})
	if isFault(err) {
		return err
	}
	r.paces = append(r.paces[:r.plans-1], pace)
	if r.planned() && !slices.Contains(r.paces, 0) {
		r.v.best.Store(int32(cheapest(r.v.sizes(), r.paces)))
	}
	return nil
}

// pace returns the processor time of an item in runs of a number of zeros, of the runner's calling thread.
func (r *runner) pace(items int) (time.Duration, error) {
	var zeros []predict.Array
	for _, in := range r.v.model.Inputs() {
		shape, n := slices.Clone(in.Shape), 1
		shape[0] = items
		for _, d := range shape {
			n *= d
		}
		zeros = append(zeros, predict.Array{Name: in.Name, Shape: shape, Values: make([]float32, n)})
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun, runs, spent := cputime.Thread(), 0, time.Duration(0)
	for ; spent < enough; runs++ {
		if _, err := r.session.Run(context.Background(), zeros...); err != nil {
			return 0, err
		}
		spent = cputime.Thread() - begun
	}
	return spent / time.Duration(runs*items), nil
}

// cheapest returns the largest size whose pace is hardly above the least.
func cheapest(sizes []int, paces []time.Duration) (best int) {
	least := slices.Min(paces)
	for i, p := range paces {
		if float64(p) <= 1.03*float64(least) {
			best = sizes[i]
		}
	}
	return best
}

// full returns how many items a run has at most on a runner while others wait: as many as are cheapest, once that was measured.
func (v *version) full(r *runner) int {
	if n := int(v.best.Load()); n > 0 && (r != v.wide || r == v.runners[0]) {
		return n
	}
	return v.batch
}
