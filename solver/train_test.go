package solver

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/rules"
)

// noisyNet draws new inputs in every pass and drops values at random, so that anything a resumed run does not restore changes its weights.
const noisyNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 6 dim: 2 dim: 7 dim: 7 } shape { dim: 6 } data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "relu" type: "ReLU" bottom: "c" top: "c" }
  layer { name: "drop" type: "Dropout" bottom: "c" top: "c" }
  layer { name: "ip" type: "InnerProduct" bottom: "c" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 weight_decay: 0.001 lr_policy: "multistep" gamma: 0.5 stepvalue: 3 stepvalue: 7 random_seed: 5 snapshot_after_train: false
`

// train makes a solver in its own folder on its own machine.
func train(t *testing.T, dir, text string, set ...func(*Options)) *Solver {
	t.Helper()
	s, err := newSolver(t, dir, text, set...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newSolver(t *testing.T, dir, text string, set ...func(*Options)) (*Solver, error) {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	file, err := swproto.UnmarshalSolver(filepath.Join(dir, "s.prototxt"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	log := logrus.New()
	log.SetOutput(&strings.Builder{})
	o := Options{Machine: m, Log: log}
	for _, f := range set {
		f(&o)
	}
	s, err := New(file, o)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

func weights(s *Solver) []float32 {
	var all []float32
	for _, w := range s.Net().Learnable() {
		all = append(all, w.Blob.Data()...)
	}
	return all
}

func step(t *testing.T, s *Solver, n int) {
	t.Helper()
	if err := s.Step(n); err != nil {
		t.Fatal(err)
	}
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d weights, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: weight %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

// TestResumeEqualsUninterrupted: ten iterations give the same bits as five, a snapshot and five more in a new solver, for every update rule
// and both formats.
func TestResumeEqualsUninterrupted(t *testing.T) {
	for i, name := range append(rules.Names(), "Adam") {
		format, end := "BINARYPROTO", ""
		if i >= len(rules.All)-1 {
			format, end = "HDF5", ".h5"
		}
		t.Run(name+" "+format, func(t *testing.T) {
			text := noisyNet + ` type: "` + name + `" snapshot_format: ` + format
			if rules.All[name].RefusesMomentum {
				text = strings.Replace(text, "momentum: 0.9", "", 1)
			}
			dir := t.TempDir()
			whole := train(t, dir, text)
			step(t, whole, 10)
			first := train(t, dir, text)
			step(t, first, 5)
			if err := first.Snapshot(); err != nil {
				t.Fatal(err)
			}
			second := train(t, dir, text)
			if err := second.Restore(filepath.Join(dir, "s_iter_5.solverstate"+end)); err != nil {
				t.Fatal(err)
			}
			step(t, second, 5)
			sameBits(t, "resumed", weights(second), weights(whole))
		})
	}
}

func TestThreadsDoNotChangeBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []float32
	for _, n := range []int{1, 2, 3} {
		runtime.GOMAXPROCS(n)
		s := train(t, t.TempDir(), noisyNet)
		step(t, s, 5)
		if want == nil {
			want = weights(s)
			continue
		}
		sameBits(t, "GOMAXPROCS", weights(s), want)
	}
}

// TestRulesAgree: over several steps the vectorised form of every rule gives the results of the scalar one.
func TestRulesAgree(t *testing.T) {
	const n = 100
	for name, r := range rules.All {
		c := vec.Step{Scale: 1, Rate: 0.1, Momentum: 0.9, Beta: 0.99, Delta: 1e-3, Correct: 0.7}
		h32, h64 := make([][]float32, r.Histories()), make([][]float64, n)
		for k := range h32 {
			h32[k] = make([]float32, n)
		}
		for i := range h64 {
			h64[i] = make([]float64, r.Histories())
		}
		rng := layers.NewRandom(3)
		for range 4 {
			g, want := make([]float32, n), make([]float64, n)
			for i := range g {
				g[i] = float32(rng.NormFloat64())
				want[i] = r.Element(&c, float64(g[i]), h64[i])
			}
			r.Update(&c, make([]float32, n), g, h32)
			for i := range g {
				if math.Abs(float64(g[i])-want[i]) > 1e-5*(1+math.Abs(want[i])) {
					t.Fatalf("%s: update %d is %g, want %g", name, i, g[i], want[i])
				}
			}
		}
	}
}

// TestFirstSteps compares the first update of each rule with its closed form for a gradient of 2 and rate 0.1.
func TestFirstSteps(t *testing.T) {
	c := vec.Step{Rate: 0.1, Momentum: 0.9, Beta: 0.99, Correct: float32(math.Sqrt(0.01) / 0.1)}
	want := map[string]float64{
		"SGD": 0.2, "Nesterov": 0.38, "AdaGrad": 0.1, "RMSProp": 1, "AdaDelta": 0, "Adam": 0.1,
	}
	for name, w := range want {
		r := rules.All[name]
		if got := r.Element(&c, 2, make([]float64, r.Histories())); math.Abs(got-w) > 1e-6 {
			t.Errorf("%s: %g, want %g", name, got, w)
		}
	}
}

// leastSquares is a net with a known gradient: one item x = (1, 2), y = W x, loss (y-t)^2 / 2.
const leastSquares = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 1 dim: 2 } shape { dim: 1 dim: 1 } data_filler { type: "constant" value: 2 } data_filler { type: "constant" value: 3 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" param { lr_mult: 1 decay_mult: 2 } inner_product_param { num_output: 1 bias_term: false weight_filler { type: "constant" value: 1 } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
}
lr_policy: "fixed" random_seed: 1 snapshot_after_train: false
`

// TestUpdateClosedForm: with W = (1, 1), x = (2, 2), t = 3 the gradient is (4 - 3)*x = 2 for both weights.
func TestUpdateClosedForm(t *testing.T) {
	tests := []struct {
		name, fields string
		want         float64
	}{
		{"plain", `base_lr: 0.1`, 1 - 0.1*2},
		{"L2", `base_lr: 0.1 weight_decay: 0.25`, 1 - 0.1*(2+0.25*2*1)},
		{"L1", `base_lr: 0.1 weight_decay: 0.25 regularization_type: "L1"`, 1 - 0.1*(2+0.25*2*1)},
		{"a regularization that nothing asks for", `base_lr: 0.1 regularization_type: "none"`, 1 - 0.1*2},
		{"iter_size", `base_lr: 0.1 iter_size: 3`, 1 - 0.1*2},
		{"clipped", `base_lr: 0.1 clip_gradients: 1.4142135`, 1 - 0.1*1},
		{"clipped before the division by iter_size", `base_lr: 0.1 iter_size: 2 clip_gradients: 1.4142135`, 1 - 0.1*0.5},
		{"LARS", `base_lr: 0.1 lars_trust: 0.1`, 1 - 0.1*(0.1*1/2)*2},
		{"LARS and L2", `base_lr: 0.1 weight_decay: 0.25 lars_trust: 0.1`, 1 - 0.1*(0.1*1/(2+0.25*2*1))*(2+0.25*2*1)},
		{"LARS and iter_size", `base_lr: 0.1 iter_size: 3 lars_trust: 0.1`, 1 - 0.1*(0.1*1/2)*2},
		{"not clipped", `base_lr: 0.1 clip_gradients: 3`, 1 - 0.1*2},
	}
	for _, test := range tests {
		s := train(t, t.TempDir(), leastSquares+test.fields)
		step(t, s, 1)
		for i, w := range weights(s) {
			if math.Abs(float64(w)-test.want) > 1e-6 {
				t.Errorf("%s: weight %d is %g, want %g", test.name, i, w, test.want)
			}
		}
	}
}

// TestWeightsAreCaffes: three iterations of a net y = W x + b give the weights and the bias of BVLC Caffe 1.0. W and b differ in gradient,
// decay and rate.
func TestWeightsAreCaffes(t *testing.T) {
	const text = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 1 dim: 2 } shape { dim: 1 dim: 1 } data_filler { type: "constant" value: 2 } data_filler { type: "constant" value: 3 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" param { lr_mult: 1 decay_mult: 2 } param { lr_mult: 2 decay_mult: 0.5 }
    inner_product_param { num_output: 1 weight_filler { type: "constant" value: -0.5 } bias_filler { type: "constant" value: 0.25 } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
}
max_iter: 3 snapshot_after_train: false `
	const fixed = `lr_policy: "fixed" weight_decay: 0.25 `
	for _, c := range []struct {
		fields       string
		weight, bias float64
	}{
		{fixed + `base_lr: 0.01 momentum: 0.9`, -0.0008016825, 0.7328485},
		{fixed + `base_lr: 0.01 momentum: 0.9 regularization_type: "L1"`, 0.01470497, 0.72263},
		{fixed + `base_lr: 0.01 momentum: 0.9 clip_gradients: 5 iter_size: 2`, -0.3929345, 0.3398013},
		{fixed + `base_lr: 0.01 momentum: 0.9 type: "Nesterov"`, 0.150557, 0.8787239},
		{fixed + `base_lr: 0.01 momentum: 0.9 type: "Nesterov" iter_size: 3`, 0.1505571, 0.8787239},
		{fixed + `base_lr: 0.1 delta: 0.001 type: "AdaGrad"`, -0.2832536, 0.6825712},
		{fixed + `base_lr: 0.1 delta: 0.001 rms_decay: 0.8 type: "RMSProp"`, -0.03343484, 1.176763},
		{fixed + `base_lr: 1 momentum: 0.9 delta: 0.001 type: "AdaDelta"`, -0.2166308, 0.8148431},
		{fixed + `base_lr: 0.1 momentum: 0.9 momentum2: 0.99 delta: 0.001 type: "Adam"`, -0.2024351, 0.8443698},
		{fixed + `base_lr: 0.1 momentum: 0.9 momentum2: 0.99 delta: 0.001 type: "Adam" regularization_type: "L1" clip_gradients: 2`, -0.2012431, 0.8416713},
		{`base_lr: 0.02 lr_policy: "step" gamma: 0.5 stepsize: 1`, -0.1998, 0.5502},
		{`base_lr: 0.02 lr_policy: "exp" gamma: 0.5`, -0.1998, 0.5502},
		{`base_lr: 0.02 lr_policy: "inv" gamma: 0.5 power: 0.75`, -0.1208127, 0.6291873},
		{`base_lr: 0.02 lr_policy: "multistep" gamma: 0.5 stepvalue: 1 stepvalue: 2`, -0.1998, 0.5502},
		{`base_lr: 0.02 lr_policy: "poly" power: 1.5`, -0.2011939, 0.5488061},
		{`base_lr: 0.04 lr_policy: "sigmoid" gamma: 0.5 stepsize: 1`, -0.03457643, 0.7154236},
	} {
		for _, engine := range []layers.Engine{layers.CPE, layers.MPE} {
			s := train(t, t.TempDir(), text+c.fields, func(o *Options) { o.Engine = engine })
			step(t, s, 3)
			for i, want := range []float64{c.weight, c.weight, c.bias} {
				if got := float64(weights(s)[i]); math.Abs(got-want) > 1e-6 {
					t.Errorf("%s, %s: weight %d is %.7g, Caffe's %.7g", c.fields, engine, i, got, want)
				}
			}
		}
	}
}

// TestDivergenceGoesOn: as in Caffe, training continues if the loss is NaN or infinite. One warning names the origin.
func TestDivergenceGoesOn(t *testing.T) {
	s := train(t, t.TempDir(), leastSquares+`base_lr: 1e30 iter_size: 2`)
	var log strings.Builder
	showLog(s.log, &log)
	step(t, s, 10)
	if s.Iter() != 10 {
		t.Errorf("training ended at iteration %d", s.Iter())
	}
	for _, want := range []string{"level=warning", "iteration ", `layer \"loss\"`, "loss = inf"} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("%q is %d times in the log:\n%s", want, n, log.String())
		}
	}
}

// TestDebugInfoOfTestNets: with debug_info test nets print their blobs, with or without display. The figures are Caffe's.
func TestDebugInfoOfTestNets(t *testing.T) {
	s := train(t, t.TempDir(), leastSquares+`base_lr: 0.1 max_iter: 1 debug_info: true test_iter: 1 test_interval: 1`)
	var log strings.Builder
	showLog(s.log, &log)
	s.log.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableQuote: true})
	if err := s.Solve(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Layer data, top blob x data: 2", "Layer data, top blob t data: 3",
		"Layer ip, top blob y data: 4", "Layer ip, param blob 0 data: 1", "Layer loss, top blob loss data: 0.5",
		"Layer data, top blob x data: 2", "Layer data, top blob t data: 3",
		"Layer ip, top blob y data: 3.2", "Layer ip, param blob 0 data: 0.8", "Layer loss, top blob loss data: 0.02",
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		if _, figures, is := strings.Cut(line, "[Forward] "); is {
			got = append(got, strings.TrimSpace(figures))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFailedSnapshotKeepsTheLast: a snapshot that cannot be written is an error, and the previous one stays intact.
func TestFailedSnapshotKeepsTheLast(t *testing.T) {
	dir := t.TempDir()
	s := train(t, dir, noisyNet)
	step(t, s, 1)
	if err := s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "s_iter_1.caffemodel")
	before, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone", "s")
	s.param.SnapshotPrefix = &gone
	err = s.Snapshot()
	if err == nil || !strings.Contains(err.Error(), "snapshot at iteration 1: cannot write "+gone) {
		t.Errorf("error %v does not name the file", err)
	}
	after, err := os.ReadFile(model)
	if err != nil || string(after) != string(before) {
		t.Errorf("the last snapshot changed: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// TestRateIsLoggedWithoutWeights: the learning rate is logged even if there is nothing to learn, as in Caffe.
func TestRateIsLoggedWithoutWeights(t *testing.T) {
	s := train(t, t.TempDir(), `net_param {
		layer { name: "d" type: "DummyData" top: "a" top: "b" dummy_data_param { shape { dim: 2 } data_filler { value: 1 } } }
		layer { name: "l" type: "EuclideanLoss" bottom: "a" bottom: "b" top: "loss" } }
		base_lr: 0.1 lr_policy: "exp" gamma: 0.5 display: 1 snapshot_after_train: false`)
	out := &strings.Builder{}
	showLog(s.log, out)
	step(t, s, 2)
	for _, want := range []string{"Iteration 0, lr = 0.1", "Iteration 1, lr = 0.05"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// TestSnapshotLayout: the state has Caffe's fields (iteration, weights' file, histories in order), and RunState in addition.
func TestSnapshotLayout(t *testing.T) {
	dir := t.TempDir()
	s := train(t, dir, noisyNet+`type: "Adam"`)
	step(t, s, 4)
	if err := s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	state := &caffepb.SolverState{}
	if err := swproto.ReadBinary(filepath.Join(dir, "s_iter_4.solverstate"), state); err != nil {
		t.Fatal(err)
	}
	if state.GetIter() != 4 || state.GetCurrentStep() != 1 || state.GetLearnedNet() != filepath.Join(dir, "s_iter_4.caffemodel") {
		t.Errorf("iter %d, step %d, net %q", state.GetIter(), state.GetCurrentStep(), state.GetLearnedNet())
	}
	wantShapes := [][]int64{{4, 2, 3, 3}, {4}, {3, 100}, {3}}
	if len(state.History) != 2*len(wantShapes) {
		t.Fatalf("%d histories, want %d", len(state.History), 2*len(wantShapes))
	}
	for i, h := range state.History {
		got, want := h.GetShape().GetDim(), wantShapes[i%len(wantShapes)]
		if len(got) != len(want) {
			t.Errorf("history %d has shape %v, want %v", i, got, want)
		}
	}
	if state.GetRunState().GetSeed() != 5 || len(state.GetRunState().GetRandomState()) == 0 {
		t.Errorf("run state %v", state.RunState)
	}
}

// TestZeroGradients: a gradient of 0, or weights of 0, leave every rule finite. LARS then keeps the whole rate.
func TestZeroGradients(t *testing.T) {
	still := strings.Replace(leastSquares, `value: 3`, `value: 4`, 1)
	zero := strings.Replace(leastSquares, `value: 1 } } }`, `value: 0 } } }`, 1)
	for _, test := range []struct {
		net, fields string
		want        float64
	}{
		{still, `base_lr: 0.1 lars_trust: 0.1`, 1},
		{still, `base_lr: 0.1 weight_decay: 0.25 lars_trust: 0.1`, 1 - 0.1*0.25*2},
		{zero, `base_lr: 0.1 lars_trust: 0.1`, 0.1 * 3 * 2},
		{zero, `base_lr: 0.1 lars_trust: 0.1 weight_decay: 0.25 type: "Nesterov"`, 0.1 * 3 * 2},
		{still, `base_lr: 0.1 type: "Adam"`, 1},
		{still, `base_lr: 0.1 type: "AdaGrad"`, 1},
		{still, `base_lr: 0.1 type: "RMSProp" rms_decay: 0.9`, 1},
		{still, `base_lr: 0.1 type: "AdaDelta" momentum: 0.9`, 1},
		{still, `base_lr: 0.1 clip_gradients: 1`, 1},
	} {
		s := train(t, t.TempDir(), test.net+test.fields)
		step(t, s, 1)
		for i, w := range weights(s) {
			if !(math.Abs(float64(w)-test.want) < 1e-6) {
				t.Errorf("%s: weight %d is %g, want %g", test.fields, i, w, test.want)
			}
		}
	}
}

// TestDoubts: Caffe allows these fields, and its author can hardly want them.
func TestDoubts(t *testing.T) {
	for text, want := range map[string]string{
		`type: "Adam" delta: 0`:                                         "delta is 0: Adam divides 0 by 0",
		`type: "AdaGrad" delta: -1`:                                     "delta is -1: AdaGrad divides",
		`type: "Adam" momentum2: 1`:                                     "momentum2 is 1: Adam's updates are 0",
		`type: "SGD" delta: 0`:                                          "",
		`lr_policy: "step" stepsize: 10`:                                `lr_policy is "step" and gamma is 0: the learning rate is 0 after the first step`,
		`lr_policy: "multistep" stepvalue: 10`:                          `lr_policy is "multistep" and gamma is 0: the learning rate is 0`,
		`lr_policy: "multistep" gamma: 0.1`:                             "without stepvalue the learning rate has no steps",
		`lr_policy: "exp"`:                                              `lr_policy is "exp" and gamma is 0`,
		`lr_policy: "inv" gamma: 0.1`:                                   "gamma is 0.1 and power is 0: the learning rate stays base_lr",
		`lr_policy: "inv" gamma: 0.1 power: 0.75`:                       "",
		`lr_policy: "poly"`:                                             `lr_policy is "poly" and power is 0`,
		`lr_policy: "poly" power: 1`:                                    "",
		`lr_policy: "sigmoid" stepsize: 5`:                              "stays half of base_lr",
		`lr_policy: "step" stepsize: 10 gamma: 0.1 stepvalue: 3`:        `stepvalue has no effect with lr_policy "step"`,
		`lr_policy: "multistep" gamma: 0.1 stepvalue: 3`:                "",
		`momentum2: 0.999`:                                              "momentum2 has no effect on SGD, only on Adam: the solver's type is SGD",
		`type: "Adam" rms_decay: 0.9`:                                   "rms_decay has no effect on Adam, only on RMSProp: the solver's type is Adam",
		`type: "RMSProp" rms_decay: 0.9 lr_policy: "fixed" power: 0.75`: "",
		`type: "Adam"`:                                                  "",
	} {
		p := &caffepb.SolverParameter{}
		if _, err := swproto.UnmarshalText("solver", []byte(text+` base_lr: 1 max_iter: 1`), p); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Doubts(p), "\n"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
