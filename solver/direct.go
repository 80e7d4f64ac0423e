package solver

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"google.golang.org/protobuf/proto"
)

// TestNow runs the test nets on the current weights. Options.OnStart may call it, in a solver without a team.
func (v *Solver) TestNow() error {
	if v.team != nil {
		panic("solver: TestNow in a team: its workers test together")
	}
	if len(v.testNets) == 0 {
		v.log.Warn("There is no test net to run")
		return nil
	}
	err := v.testAll()
	v.report.begin()
	return err
}

// SetRate changes base_lr so that the learning rate of the current iteration is r. Later rates follow lr_policy from there. Options.OnStart
// may call it, in a solver without a team. A snapshot does not store base_lr.
func (v *Solver) SetRate(r float64) error {
	if v.team != nil {
		panic("solver: SetRate in a team: its workers would differ")
	}
	p, now, old := v.param, v.learningRate(), v.param.GetBaseLr()
	rateAt := func(base float32) float64 {
		p.BaseLr = proto.Float32(base)
		return v.learningRate()
	}
	// Every policy's rate, warm-up included, is a + b*base_lr.
	a := rateAt(0)
	base := float32((r - a) / (rateAt(1) - a))
	if !(r > 0) || !(base > 0) || math.IsInf(float64(base), 0) {
		rateAt(old)
		return fmt.Errorf("iteration %d: no base_lr makes the learning rate %g", v.iter, r)
	}
	v.log.Infof("Iteration %d: the learning rate is %s instead of %s (base_lr %s instead of %s); to resume with it, write base_lr into the solver",
		v.iter, caffelog.Figure(rateAt(base)), caffelog.Figure(now), caffelog.Figure(float64(base)), caffelog.Figure(float64(old)))
	return nil
}
