package solver

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSignals: a solver polls for signals before every test batch and after every iteration, as Caffe does. It writes a requested snapshot
// at once. A stop ends a test, or training after the iteration, with a snapshot but without the last test.
func TestSignals(t *testing.T) {
	const text = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 1 dim: 2 } shape { dim: 1 dim: 1 } data_filler { value: 2 } data_filler { value: 3 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 1 } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.01 lr_policy: "fixed" max_iter: 4 test_iter: 2 test_interval: 2 `
	for _, c := range []struct {
		poll      int // the poll with a signal: 1, 2 in the first test, 3, 4 in iterations, 5, 6 in the second test
		action    Action
		iter      int
		snapshots string
		log       []string
		not       string
	}{
		{99, None, 4, "4", []string{"Iteration 0, Testing", "Iteration 2, Testing", "Iteration 4, Testing", "Optimization Done."}, "Test interrupted."},
		{2, Snapshot, 4, "0 4", []string{"Optimization Done."}, "Test interrupted."},
		{3, Snapshot, 4, "1 4", []string{"Optimization Done."}, "Test interrupted."},
		{6, Snapshot, 4, "2 4", []string{"Optimization Done."}, "Test interrupted."},
		{1, Stop, 0, "0", []string{"Test interrupted.", "Optimization stopped early."}, "Optimization Done."},
		{4, Stop, 2, "2", []string{"Iteration 0, Testing", "Optimization stopped early."}, "Iteration 2, Testing"},
		{6, Stop, 2, "2", []string{"Iteration 2, Testing", "Test interrupted.", "Optimization stopped early."}, "Iteration 4, Testing"},
	} {
		dir := t.TempDir()
		polls := 0
		s := train(t, dir, text, func(o *Options) {
			o.Action = func() Action {
				if polls++; polls == c.poll {
					return c.action
				}
				return None
			}
		})
		var log strings.Builder
		showLog(s.log, &log)
		s.log.Formatter = message{}
		if err := s.Solve(); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "s_iter_*.solverstate"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "s_iter_"), ".solverstate"))
		}
		slices.Sort(got)
		lacks := slices.ContainsFunc(c.log, func(line string) bool { return !strings.Contains(log.String(), line) })
		if s.Iter() != c.iter || strings.Join(got, " ") != c.snapshots || lacks || strings.Contains(log.String(), c.not) {
			t.Errorf("%v at poll %d: iteration %d, want %d; snapshots %q, want %q; log, want %q and no %q:\n%s", c.action, c.poll, s.Iter(), c.iter, got, c.snapshots, c.log, c.not, log.String())
		}
	}
}

// TestSeeds: random_seed, even 0, overrides the seed in the options, which is the default.
func TestSeeds(t *testing.T) {
	for fields, want := range map[string]uint64{"": 7, "random_seed: -1": 7, "random_seed: 0": 0, "random_seed: 3": 3} {
		s := train(t, t.TempDir(), strings.Replace(leastSquares, "random_seed: 1", fields, 1)+"base_lr: 0.1", func(o *Options) { o.Seed = 7 })
		if s.seed != want {
			t.Errorf("%q: seed %d, want %d", fields, s.seed, want)
		}
	}
}

// TestResumeOfStatistics: running means of two core groups continue from a snapshot, which has the first group's.
func TestResumeOfStatistics(t *testing.T) {
	c := crew{coreGroups: 2, text: normNet, dir: t.TempDir()}
	statistics := func(s *Solver) (all []float32) {
		for _, b := range s.Net().Layer(1).Params() {
			all = append(all, b.Data()...)
		}
		return all
	}
	var want []float32
	if err := c.run(t, func(_ int, s *Solver) error {
		err := errors.Join(s.Step(2), s.Snapshot(), s.Step(2))
		want = statistics(s)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.run(t, func(_ int, s *Solver) error {
		err := errors.Join(s.Restore(filepath.Join(c.dir, "s_iter_2.solverstate")), s.Step(2))
		sameBits(t, "statistics", statistics(s), want)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
