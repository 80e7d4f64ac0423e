package rules

import (
	"math"
	"strings"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func parse(t *testing.T, text string) *caffepb.SolverParameter {
	t.Helper()
	p := &caffepb.SolverParameter{}
	if _, err := swproto.UnmarshalText("solver.prototxt", []byte(text), p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRate compares each policy with values computed by hand from the formulas in Caffe's caffe.proto.
func TestRate(t *testing.T) {
	tests := []struct {
		param string
		iter  int
		step  int
		want  float64
	}{
		{`base_lr: 0.5 lr_policy: "fixed"`, 1000, 0, 0.5},
		{`base_lr: 1 lr_policy: "step" gamma: 0.5 stepsize: 10`, 9, 0, 1},
		{`base_lr: 1 lr_policy: "step" gamma: 0.5 stepsize: 10`, 10, 1, 0.5},
		{`base_lr: 1 lr_policy: "step" gamma: 0.5 stepsize: 10`, 35, 3, 0.125},
		{`base_lr: 2 lr_policy: "exp" gamma: 0.5`, 3, 0, 0.25},
		{`base_lr: 1 lr_policy: "inv" gamma: 1 power: 0.5`, 3, 0, 0.5},
		{`base_lr: 1 lr_policy: "multistep" gamma: 0.1 stepvalue: 5`, 100, 1, 0.1},
		{`base_lr: 4 lr_policy: "poly" power: 2 max_iter: 100`, 50, 0, 1},
		{`base_lr: 3 lr_policy: "sigmoid" gamma: -0.1 stepsize: 20`, 20, 0, 1.5},
		{`base_lr: 2 lr_policy: "fixed" warmup_iter: 10`, 0, 0, 0},
		{`base_lr: 2 lr_policy: "fixed" warmup_iter: 10 warmup_start_lr: 1`, 5, 0, 1.5},
		{`base_lr: 2 lr_policy: "fixed" warmup_iter: 10 warmup_start_lr: 1`, 10, 0, 2},
		{`base_lr: 4 lr_policy: "poly" power: 1 max_iter: 100 warmup_iter: 20`, 10, 0, 1.8},
	}
	for _, test := range tests {
		if got := Rate(parse(t, test.param), test.iter, test.step); math.Abs(got-test.want) > 1e-7*test.want {
			t.Errorf("%s at iteration %d: %g, want %g", test.param, test.iter, got, test.want)
		}
	}
}

// TestStepsAreCounted: under the step policy a state's current_step equals Caffe's at these iterations.
func TestStepsAreCounted(t *testing.T) {
	p := parse(t, `lr_policy: "step" stepsize: 5`)
	for iter, want := range map[int]int{4: 0, 5: 1, 7: 1, 10: 2} {
		if got := NextStep(p, iter, 0); got != want {
			t.Errorf("iteration %d: step %d, want %d", iter, got, want)
		}
	}
}

// TestMultistepMovesOnceAnIteration: two step values reached at once take two iterations, as in Caffe.
func TestMultistepMovesOnceAnIteration(t *testing.T) {
	p := parse(t, `lr_policy: "multistep" stepvalue: 2 stepvalue: 2 stepvalue: 5`)
	step := 0
	var got []int
	for iter := range 7 {
		step = NextStep(p, iter, step)
		got = append(got, step)
	}
	want := []int{0, 0, 1, 2, 2, 3, 3}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("steps %v, want %v", got, want)
		}
	}
}

func TestPolicyErrors(t *testing.T) {
	tests := []struct{ param, want string }{
		{`base_lr: 1`, "lr_policy is missing (known policies: exp, fixed, "},
		{`lr_policy: "fixed" base_lr: inf`, "base_lr must be a finite number, it is +Inf"},
		{`lr_policy: "fixed" base_lr: nan`, "base_lr must be a finite number, it is NaN"},
		{`lr_policy: "fixed" warmup_start_lr: nan`, "warmup_start_lr NaN cannot be negative"},
		{`lr_policy: "fixd"`, `did you mean "fixed"?`},
		{`lr_policy: "multifixed"`, `unknown learning rate policy "multifixed"; forks of Caffe such as caffe-yolo's have it, BVLC Caffe and swcaffe do not (lr_policy "multistep"`},
		{`lr_policy: "step"`, "stepsize must be positive, it is 0"},
		{`lr_policy: "sigmoid" gamma: 1`, "stepsize must be positive, it is 0"},
		{`lr_policy: "step" stepsize: 2 gamma: -0.5`, "gamma must be at least 0, it is -0.5"},
		{`lr_policy: "inv" gamma: -1`, "gamma must be at least 0, it is -1"},
		{`lr_policy: "fixed" warmup_iter: -1`, "warmup_iter -1"},
		{`lr_policy: "warmup"`, "give the policy that follows, and in warmup_iter the iterations"},
	}
	for _, test := range tests {
		err := CheckPolicy(parse(t, test.param))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.param, err, test.want)
		}
	}
}
