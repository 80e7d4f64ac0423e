package solver

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

var policies = []string{"exp", "fixed", "inv", "multistep", "poly", "sigmoid", "step"}

// powersOfGamma lists the policies for which a negative gamma is meaningless. For sigmoid a negative gamma makes the rate fall.
var powersOfGamma = []string{"exp", "inv", "multistep", "step"}

// checkPolicy returns an error if a learning-rate field is invalid.
func checkPolicy(p *caffepb.SolverParameter) error {
	if p.GetWarmupIter() < 0 || !(p.GetWarmupStartLr() >= 0) {
		return wrong("warmup_iter", "warmup_iter %d and warmup_start_lr %g cannot be negative", p.GetWarmupIter(), p.GetWarmupStartLr())
	}
	if r := float64(p.GetBaseLr()); math.IsNaN(r) || math.IsInf(r, 0) {
		return wrong("base_lr", "base_lr must be a finite number, it is %g", r)
	}
	switch policy := p.GetLrPolicy(); {
	case policy == "":
		return fmt.Errorf("lr_policy is missing (known policies: %s)", strings.Join(policies, ", "))
	case policy == "warmup":
		return wrong("lr_policy", "lr_policy \"warmup\" is none by itself: give the policy that follows, and in warmup_iter the iterations of a linear start from warmup_start_lr")
	case !slices.Contains(policies, policy):
		return &fieldError{"lr_policy", suggest.Unknown("learning rate policy", policy, "known policies", policies)}
	case (policy == "step" || policy == "sigmoid") && p.GetStepsize() <= 0:
		return wrong("lr_policy", "lr_policy %q: stepsize must be positive, it is %d", policy, p.GetStepsize())
	case slices.Contains(powersOfGamma, policy) && p.GetGamma() < 0:
		return wrong("gamma", "lr_policy %q: gamma must be at least 0, it is %g", policy, p.GetGamma())
	}
	return nil
}

func checkRegularization(p *caffepb.SolverParameter) error {
	if reg := p.GetRegularizationType(); p.GetWeightDecay() != 0 && reg != "L1" && reg != "L2" {
		return wrong("regularization_type", "unknown regularization type: %q (L1 or L2)", reg)
	}
	return nil
}

// rate returns the learning rate of an iteration: the policy's, or during the warm-up a linear ramp to it.
func rate(p *caffepb.SolverParameter, iter, step int) float64 {
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

// nextStep returns the step of the step and multistep policies at an iteration, which is stored in a solver's state. As in Caffe,
// multistep's advances by at most one per iteration. Other policies do not change the stored step.
func nextStep(p *caffepb.SolverParameter, iter, step int) int {
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
