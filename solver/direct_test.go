package solver

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/solver/events"
)

// direct trains reportedNet, with other solver fields in front, and calls do before an iteration. It returns the losses, the rates and the
// iterations of tests.
func direct(t *testing.T, fields string, at int, do func(*Solver)) (losses, rates []float64, tests []int) {
	t.Helper()
	stream, list := recorder()
	var s *Solver
	text := fields + strings.Replace(fmt.Sprintf(reportedNet, t.TempDir()), "test_interval: 3", "test_interval: 5", 1)
	s = train(t, t.TempDir(), text, func(o *Options) {
		o.Events = stream
		o.OnStart = func() error {
			if s.Iter() == at {
				do(s)
			}
			return nil
		}
	})
	if err := s.Solve(); err != nil {
		t.Fatal(err)
	}
	for _, e := range *list {
		switch e := e.(type) {
		case *events.Iteration:
			losses, rates = append(losses, float64(e.Loss)), append(rates, float64(e.Rate))
		case *events.Test:
			tests = append(tests, e.Iteration)
		}
	}
	return losses, rates, tests
}

// TestTestNow: a test between two iterations changes nothing in the training.
func TestTestNow(t *testing.T) {
	want, _, regular := direct(t, "", -1, nil)
	got, _, more := direct(t, "", 2, func(s *Solver) {
		if err := s.TestNow(); err != nil {
			t.Error(err)
		}
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("losses %v, want %v", got, want)
	}
	if fmt.Sprint(regular, more) != "[0 5] [0 2 5]" {
		t.Errorf("tests at %v and %v", regular, more)
	}
}

// TestSetRate: the rate is the given one, and lr_policy goes on from it; in a warm-up too.
func TestSetRate(t *testing.T) {
	for _, c := range []struct {
		fields string
		want   []float64
	}{
		{"", []float64{0.05, 0.05, 0.2, 0.1, 0.1, 0.1, 0.05}},
		// The ramp ends at base_lr = 0.4 from iteration 4 on, where the policy has halved it.
		{"warmup_iter: 4 ", []float64{0, 0.0125, 0.2, 0.15, 0.2, 0.2, 0.1}},
	} {
		_, rates, _ := direct(t, c.fields, 2, func(s *Solver) {
			for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 1e300} {
				if err := s.SetRate(bad); err == nil || !strings.Contains(err.Error(), "iteration 2: no base_lr makes the learning rate") {
					t.Errorf("rate %g: %v", bad, err)
				}
			}
			if err := s.SetRate(0.2); err != nil {
				t.Error(err)
			}
		})
		for i, r := range rates {
			if math.Abs(r-c.want[i]) > 1e-6*c.want[i] {
				t.Errorf("%s: rates %v, want %v", c.fields, rates, c.want)
				break
			}
		}
	}
	direct(t, "warmup_iter: 4 ", 0, func(s *Solver) {
		if err := s.SetRate(0.2); err == nil {
			t.Error("a warm-up's first rate, 0 at any base_lr, is changed")
		}
	})
}
