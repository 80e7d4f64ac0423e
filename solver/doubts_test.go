package solver

import (
	"math"
	"slices"
	"strings"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/rules"
)

// TestDoubtsOfRates: a solver is warned of exactly if its learning rate is 0, or constant, against its policy, or if stepvalue does not count.
func TestDoubtsOfRates(t *testing.T) {
	fields := map[string]string{"gamma": "gamma: 0.5 ", "power": "power: 0.75 ", "stepsize": "stepsize: 3 ", "stepvalue": "stepvalue: [4, 6] "}
	for _, policy := range []string{"fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid"} {
		for given := range 1 << len(fields) {
			text := `lr_policy: "` + policy + `" base_lr: 0.1 max_iter: 10 `
			for i, name := range []string{"gamma", "power", "stepsize", "stepvalue"} {
				if given>>i&1 > 0 {
					text += fields[name]
				}
			}
			p := &caffepb.SolverParameter{}
			if _, err := swproto.UnmarshalText("s", []byte(text), p); err != nil {
				t.Fatal(err)
			}
			if rules.CheckPolicy(p) != nil {
				continue // refused
			}
			var rates []float64
			step := 0
			for i := range 10 {
				step = rules.NextStep(p, i, step)
				rates = append(rates, rules.Rate(p, i, step))
			}
			want := policy != "fixed" && slices.Max(rates) == slices.Min(rates) || slices.Min(rates) == 0 || policy != "multistep" && len(p.Stepvalue) > 0
			got := Doubts(p)
			if (len(got) > 0) != want {
				t.Errorf("%s: rates %v, doubts %q", text, rates, got)
			}
			if zero := slices.ContainsFunc(got, func(d string) bool { return strings.Contains(d, "is 0 after the first step") }); zero != (math.Abs(slices.Min(rates)) == 0) {
				t.Errorf("%s: rates %v, doubts %q", text, rates, got)
			}
		}
	}
}
