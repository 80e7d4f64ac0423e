package solver

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Doubts lists what a solver's file allows, as Caffe does, but its author can hardly want: each is a warning of a run that uses all its fields.
func Doubts(p *caffepb.SolverParameter) (list []string) {
	doubt := func(yes bool, format string, args ...any) {
		if yes {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	doubt(p.MaxIter == nil, "max_iter is missing: there will be no iteration")
	doubt(p.BaseLr == nil, "base_lr is missing: the learning rate is 0, and weights stay as they are")
	doubt(p.GetBaseLr() < 0, "base_lr is %g: a negative learning rate increases the loss", p.GetBaseLr())
	doubt(p.GetMomentum() >= 1, "momentum is %g: updates grow without bound unless it is below 1", p.GetMomentum())
	doubt(p.GetWeightDecay() < 0, "weight_decay is %g: a negative one lets weights grow", p.GetWeightDecay())
	divides := slices.Contains([]string{"AdaDelta", "AdaGrad", "Adam", "RMSProp"}, p.GetType())
	doubt(divides && !(p.GetDelta() > 0), "delta is %g: %s divides 0 by 0 for a weight whose gradient has always been 0, and makes it NaN", p.GetDelta(), p.GetType())
	doubt(p.GetType() == "Adam" && p.GetMomentum2() >= 1, "momentum2 is %g: Adam's updates are 0 unless it is below 1", p.GetMomentum2())
	doubt(p.GetLrPolicy() == "multistep" && !slices.IsSorted(p.Stepvalue), "stepvalue %v does not ascend: a value waits for those before it", p.Stepvalue)
	doubt(p.GetLrPolicy() == "multistep" && len(p.Stepvalue) == 0, "lr_policy is \"multistep\", but without stepvalue the learning rate has no steps")
	policy, gamma, power := p.GetLrPolicy(), p.GetGamma(), p.GetPower()
	steps := policy == "step" || policy == "multistep" && len(p.Stepvalue) > 0
	doubt((steps || policy == "exp") && gamma == 0, "lr_policy is %q and gamma is 0: the learning rate is 0 after the first step", policy)
	doubt(policy == "inv" && (gamma == 0 || power == 0), "lr_policy is \"inv\", gamma is %g and power is %g: the learning rate stays base_lr unless both are given", gamma, power)
	doubt(policy == "poly" && power == 0, "lr_policy is \"poly\" and power is 0: the learning rate stays base_lr")
	doubt(policy == "sigmoid" && gamma == 0, "lr_policy is \"sigmoid\" and gamma is 0: the learning rate stays half of base_lr")
	doubt(policy != "multistep" && len(p.Stepvalue) > 0, "stepvalue has no effect with lr_policy %q, only with \"multistep\"", policy)
	doubt(p.Momentum2 != nil && p.GetType() != "Adam", "momentum2 has no effect on %s, only on Adam: the solver's type is %[1]s", p.GetType())
	doubt(p.RmsDecay != nil && p.GetType() != "RMSProp", "rms_decay has no effect on %s, only on RMSProp: the solver's type is %[1]s", p.GetType())
	doubt(p.GetTestInterval() > 0 && len(p.TestIter) == 0, "test_interval is %d, but without test_iter there are no tests", p.GetTestInterval())
	return list
}
