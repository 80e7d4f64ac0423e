package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

var policies = []string{"exp", "fixed", "inv", "multistep", "poly", "sigmoid", "step"}

// powersOfGamma lists the policies for which a negative gamma is meaningless. For sigmoid a negative gamma makes the rate fall.
var powersOfGamma = []string{"exp", "inv", "multistep", "step"}

// CheckPolicy returns an error if a learning-rate field is invalid.
func CheckPolicy(p *caffepb.SolverParameter) error {
	if p.GetWarmupIter() < 0 || !(p.GetWarmupStartLr() >= 0) {
		return swproto.WrongField("warmup_iter", "warmup_iter %d and warmup_start_lr %g cannot be negative", p.GetWarmupIter(), p.GetWarmupStartLr())
	}
	if r := float64(p.GetBaseLr()); math.IsNaN(r) || math.IsInf(r, 0) {
		return swproto.WrongField("base_lr", "base_lr must be a finite number, it is %g", r)
	}
	switch policy := p.GetLrPolicy(); {
	case policy == "":
		return fmt.Errorf("lr_policy is missing (known policies: %s)", strings.Join(policies, ", "))
	case policy == "warmup":
		return swproto.WrongField("lr_policy", "lr_policy \"warmup\" is none by itself: give the policy that follows, and in warmup_iter the iterations of a linear start from warmup_start_lr")
	case !slices.Contains(policies, policy):
		if fork := swproto.FromFork("lr_policy=" + policy); fork != "" {
			return swproto.WrongField("lr_policy", "unknown learning rate policy %q%s", policy, fork)
		}
		return swproto.WrongField("lr_policy", "%w", suggest.Unknown("learning rate policy", policy, "known policies", policies))
	case (policy == "step" || policy == "sigmoid") && p.GetStepsize() <= 0:
		return swproto.WrongField("lr_policy", "lr_policy %q: stepsize must be positive, it is %d", policy, p.GetStepsize())
	case slices.Contains(powersOfGamma, policy) && p.GetGamma() < 0:
		return swproto.WrongField("gamma", "lr_policy %q: gamma must be at least 0, it is %g", policy, p.GetGamma())
	}
	return nil
}

// CheckRegularization returns an error if regularization_type is unknown and weight_decay needs it.
func CheckRegularization(p *caffepb.SolverParameter) error {
	if reg := p.GetRegularizationType(); p.GetWeightDecay() != 0 && reg != "L1" && reg != "L2" {
		return swproto.WrongField("regularization_type", "unknown regularization type: %q (L1 or L2)", reg)
	}
	return nil
}

// Rate returns the learning rate of an iteration: the policy's, or during the warm-up a linear ramp to it.
func Rate(p *caffepb.SolverParameter, iter, step int) float64 {
	r := policyRate(p, iter, step)
	if warmup := int(p.GetWarmupIter()); iter < warmup {
		start := float64(p.GetWarmupStartLr())
		return start + (r-start)*float64(iter)/float64(warmup)
	}
	return r
}

// policyRate returns the policy's learning rate. With b = base_lr, g = gamma, i = iter:
//
//	fixed      b
//	step       b * g^step, where step is floor(i/stepsize)
//	exp        b * g^i
//	inv        b * (1 + g*i)^-power
//	multistep  b * g^step, where step counts stepvalues
//	poly       b * (1 - i/max_iter)^power
//	sigmoid    b / (1 + exp(-g*(i - stepsize)))
func policyRate(p *caffepb.SolverParameter, iter, step int) float64 {
	b, g, i := float64(p.GetBaseLr()), float64(p.GetGamma()), float64(iter)
	power := float64(p.GetPower())
	switch p.GetLrPolicy() {
	case "step", "multistep":
		return b * math.Pow(g, float64(step))
	case "exp":
		return b * math.Pow(g, i)
	case "inv":
		return b * math.Pow(1+g*i, -power)
	case "poly":
		return b * math.Pow(1-i/float64(p.GetMaxIter()), power)
	case "sigmoid":
		return b / (1 + math.Exp(-g*(i-float64(p.GetStepsize()))))
	}
	return b
}

// NextStep returns the step of the step and multistep policies at an iteration, which is stored in a solver's state. As in Caffe,
// multistep's advances by at most one per iteration. Other policies do not change the stored step.
func NextStep(p *caffepb.SolverParameter, iter, step int) int {
	switch p.GetLrPolicy() {
	case "step":
		return iter / int(p.GetStepsize())
	case "multistep":
		if step < len(p.Stepvalue) && iter >= int(p.Stepvalue[step]) {
			return step + 1
		}
	}
	return step
}
