package solver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	"google.golang.org/protobuf/proto"
)

// resumedState returns the state of a worker to compare between a resumed and an uninterrupted run: its own weights, and those shown.
func resumedState(s *Solver) ([]float32, error) {
	own := make([]float32, s.group.stateSize())
	s.group.state(own)
	err := s.strategy.shown(func() error {
		shown := make([]float32, s.group.stateSize())
		s.group.state(shown)
		own = append(own, shown...)
		return nil
	})
	return own, err
}

// TestResumeOfStrategies: nine iterations give the same bits as four, a snapshot and five more with new workers, wherever the snapshot
// falls between two exchanges. Strategies without a fixed order run with one worker. Noise and dropout reveal anything that is not
// restored.
func TestResumeOfStrategies(t *testing.T) {
	for _, name := range Strategies() {
		workers := 3
		switch name {
		case "async_sgd", "async_msgd", "hogwild_sgd", "async_easgd", "async_measgd", "hogwild_easgd":
			workers = 1
		}
		for _, tau := range []int{1, 3} {
			for _, format := range []string{"BINARYPROTO", "HDF5"} {
				if racing.Detector && (tau == 1) != (format == "HDF5") {
					continue // both of each, in half of the pairs
				}
				t.Run(fmt.Sprintf("%s/%d/%s", name, tau, format), func(t *testing.T) {
					resumeEqualsUninterrupted(t, crew{
						workers: workers, dir: t.TempDir(), text: noisyNet + "snapshot: 4 snapshot_format: " + format, team: Team{Strategy: name, Tau: tau},
					})
				})
			}
		}
	}
}

// recurrentNet has layers whose sequences go on from one batch to the next, in both phases.
const recurrentNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "cont" top: "t"
    dummy_data_param { shape { dim: 3 dim: 2 dim: 4 } shape { dim: 3 dim: 2 } shape { dim: 3 dim: 2 dim: 5 }
      data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } data_filler { type: "gaussian" } } }
  layer { name: "rnn" type: "RNN" bottom: "x" bottom: "cont" top: "r"
    recurrent_param { num_output: 4 weight_filler { type: "gaussian" std: 0.5 } } }
  layer { name: "lstm" type: "LSTM" bottom: "r" bottom: "cont" top: "h"
    recurrent_param { num_output: 5 weight_filler { type: "gaussian" std: 0.5 } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "h" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" random_seed: 5 snapshot_after_train: false snapshot: 4 test_iter: 1 test_interval: 3
`

// TestResumeOfRecurrentNets: sequences that go on from batch to batch go on behind a snapshot, on every worker and in test nets.
func TestResumeOfRecurrentNets(t *testing.T) {
	for name, c := range map[string]crew{
		"alone":       {},
		"sync_easgd3": {workers: 2, team: Team{Strategy: "sync_easgd3", Tau: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			c.dir, c.text = t.TempDir(), recurrentNet
			c.workers = max(1, c.workers)
			resumeEqualsUninterrupted(t, c)
		})
	}
	dir := t.TempDir()
	s := train(t, dir, recurrentNet)
	if err := s.Step(9); err != nil {
		t.Fatal(err)
	}
	for _, l := range s.stateProto("").RunState.LayerState {
		if want := map[string]int{"rnn": 2 * 4, "lstm": 2 * 2 * 5}[l.GetLayer()]; len(l.Value) != want {
			t.Errorf("%d values of layer %q of the %s net, want %d", len(l.Value), l.GetLayer(), l.GetNet(), want)
		}
	}
	if n := len(s.stateProto("").RunState.LayerState); n != 4 {
		t.Errorf("states of %d layers, want those of two layers of two nets", n)
	}
	resumed := train(t, dir, recurrentNet)
	if err := errors.Join(resumed.Restore(filepath.Join(dir, "s_iter_4.solverstate")), resumed.Step(5)); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(resumed.stateProto(""), s.stateProto("")) {
		t.Error("the state of the resumed run, with the test net's values, differs from that of the uninterrupted one")
	}
}

func resumeEqualsUninterrupted(t *testing.T, c crew) {
	want := make([][]float32, c.workers)
	if err := c.run(t, func(rank int, s *Solver) (err error) {
		if err := s.Step(9); err != nil {
			return err
		}
		want[rank], err = resumedState(s)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	state, _ := filepath.Glob(filepath.Join(c.dir, "s_iter_4.solverstate*"))
	if len(state) != 1 {
		t.Fatalf("snapshots of iteration 4: %q", state)
	}
	if err := c.run(t, func(rank int, s *Solver) error {
		if err := errors.Join(s.Restore(state[0]), s.Step(5)); err != nil {
			return err
		}
		got, err := resumedState(s)
		sameBits(t, fmt.Sprint("worker ", rank), got, want[rank])
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestResumeWithoutOwnStates: if a worker finds no own state, or their number has changed, all workers start from the centre. A truncated
// state is an error.
func TestResumeWithoutOwnStates(t *testing.T) {
	c := crew{workers: 3, dir: t.TempDir(), text: noisyNet, team: Team{Strategy: "sync_easgd3"}}
	if err := c.run(t, func(rank int, s *Solver) error { return errors.Join(s.Step(4), s.Snapshot()) }); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(c.dir, "s_iter_4.solverstate")
	same := func() error {
		return c.run(t, func(rank int, s *Solver) error {
			if err := errors.Join(s.Restore(snapshot), s.Step(0)); err != nil {
				return err
			}
			got, err := resumedState(s)
			sameBits(t, "a worker's weights and the centre's", got[:len(got)/2], got[len(got)/2:])
			return err
		})
	}
	c.workers = 2
	if err := same(); err != nil {
		t.Error(err)
	}
	c.workers = 3
	own := filepath.Join(c.dir, "s_iter_4.worker_1")
	text, err := os.ReadFile(own)
	if err == nil {
		err = os.Remove(own)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := same(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(own, text[:len(text)-7], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := same(); err == nil {
		t.Error("no error for a state that is cut off")
	}
}

// TestResumeOfAnotherType: a state's histories are not taken for those of a type for which they mean something else, though their number is
// the same. SGD and Nesterov both have the momentum, and a state that does not say its type, as Caffe's, goes on.
func TestResumeOfAnotherType(t *testing.T) {
	for _, test := range []struct {
		of, to  string
		refused bool
	}{{"Nesterov", "SGD", false}, {"SGD", "AdaGrad", true}, {"RMSProp", "SGD", true}, {"AdaGrad", "RMSProp", true}, {"Adam", "AdaDelta", true}, {"Adam", "Adam", false}} {
		for _, format := range []string{"BINARYPROTO", "HDF5"} {
			dir := t.TempDir()
			text := strings.ReplaceAll(sharingNet, "HDF5", format)
			before := train(t, dir, text+"type: '"+test.of+"'")
			step(t, before, 2)
			if err := before.Snapshot(); err != nil {
				t.Fatal(err)
			}
			state, _ := before.LastSnapshot()
			err := train(t, dir, text+"type: '"+test.to+"'").Restore(state)
			switch {
			case (err != nil) != test.refused:
				t.Errorf("%s, %s after %s: %v", format, test.to, test.of, err)
			case err != nil && !strings.Contains(err.Error(), "of type "+test.of+", whose histories mean something else than those of "+test.to+": -weights "):
				t.Errorf("%s, %s after %s: %v", format, test.to, test.of, err)
			}
			if format == "BINARYPROTO" {
				restoreStripped(t, train(t, dir, text+"type: '"+test.to+"'"), state)
			}
		}
	}
}
