package solver

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/rules"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// TestUpdateOfManyTiles: a weight of many tiles, on several core groups, is updated like on the reference path: every element once, in any
// tile.
func TestUpdateOfManyTiles(t *testing.T) {
	racing.SkipSequential(t)
	const n = 300_007
	var gradients [3][n]float32 // of three iterations
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range gradients {
		for j := range gradients[i] {
			gradients[i][j] = float32(rng.NormFloat64())
		}
	}
	for _, machine := range []string{"host", "sw26010"} {
		spec, err := cpe.Load(machine)
		if err != nil {
			t.Fatal(err)
		}
		m, err := cpe.New(spec, cpe.DefaultMode(spec))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for name, r := range rules.All {
			cpeWay := newWeight(t, r, n, &layers.Device{Engine: layers.CPE, Machine: m})
			mpeWay := newWeight(t, r, n, nil)
			cpeUpdater, mpeUpdater := &updater{rule: r, engine: layers.CPE}, &updater{rule: r, engine: layers.MPE}
			for i := range gradients {
				copy(cpeWay.weight.Blob.Diff(), gradients[i][:])
				copy(mpeWay.weight.Blob.Diff(), gradients[i][:])
				if err := cpeUpdater.update(cpeWay); err != nil {
					t.Fatal(err)
				}
				if err := mpeUpdater.update(mpeWay); err != nil {
					t.Fatal(err)
				}
			}
			want := mpeWay.weight.Blob.Data()
			for i, got := range cpeWay.weight.Blob.Data() {
				if math.Abs(float64(got-want[i])) > 1e-5*(1+math.Abs(float64(want[i]))) {
					t.Fatalf("%s on %s: weight %d of %d is %g, want %g", name, machine, i, n, got, want[i])
				}
			}
		}
	}
}

// TestRuleErrors: fields that a solver type cannot use are errors; the limits of valid values are not.
func TestRuleErrors(t *testing.T) {
	for text, want := range map[string]string{
		`type: "SGDD"`:                     `unknown solver type "SGDD", did you mean "SGD"?`,
		`type: "AdaGrad" momentum: 0.9`:    "momentum cannot be used with AdaGrad: it is 0.9",
		`type: "RMSProp" momentum: 0.9`:    "momentum cannot be used with RMSProp: it is 0.9",
		`type: "RMSProp" rms_decay: 1`:     "rms_decay must lie between 0 and 1: it is 1",
		`type: "RMSProp" rms_decay: -0.1`:  "rms_decay must lie between 0 and 1: it is -0.1",
		`type: "RMSProp" rms_decay: 0`:     "",
		`type: "SGD" rms_decay: 2`:         "",
		`lars_trust: -1`:                   "lars_trust cannot be negative: it is -1",
		`lars_trust: nan`:                  "lars_trust cannot be negative: it is NaN",
		`type: "Adam" lars_trust: 0.1`:     "lars_trust is for solver types SGD and Nesterov, not Adam",
		`type: "Nesterov" lars_trust: 0.1`: "",
		`type: "SGD" lars_trust: 0.1`:      "",
		`type: "AdaDelta" lars_trust: 0`:   "",
	} {
		got := ""
		if _, err := rules.Find(parse(t, text)); err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// newWeight makes a weight of n values with its histories, and with its kernel if d is not nil.
func newWeight(t *testing.T, r rules.Rule, n int, d *layers.Device) *weightUpdate {
	t.Helper()
	w := &weightUpdate{weight: swnet.Learnable{Blob: blob.New(n)}, step: vec.Step{Scale: 0.5, Decay: 0.01, Rate: 0.1, Momentum: 0.9, Beta: 0.99, Delta: 1e-3, Correct: 0.7}}
	for i := range n {
		w.weight.Blob.Data()[i] = float32(i%7) - 3
	}
	for range r.Histories() {
		w.histories = append(w.histories, blob.New(n))
	}
	if d != nil {
		if err := w.makeKernel(r, d); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func parse(t *testing.T, text string) *caffepb.SolverParameter {
	t.Helper()
	p := &caffepb.SolverParameter{}
	if _, err := swproto.UnmarshalText("solver.prototxt", []byte(text), p); err != nil {
		t.Fatal(err)
	}
	return p
}
