package solver

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver/evaluate"
	"google.golang.org/protobuf/proto"
)

// wanderingNet learns noise from noise and is tested on a constant, so that its test loss goes up and down.
var wanderingNet = strings.NewReplacer(
	`name: "data" type`, `name: "data" include { phase: TRAIN } type`,
	"base_lr: 0.05", `test_iter: 2 test_interval: 2 snapshot_best: "loss" base_lr: 0.05`,
	"net_param {", `net_param {
  layer { name: "even" include { phase: TEST } type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 6 dim: 2 dim: 7 dim: 7 } shape { dim: 6 dim: 3 } data_filler { type: "constant" value: 1 } data_filler { type: "constant" value: 2 } } }`,
	`shape { dim: 6 } data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 }`, `shape { dim: 6 dim: 3 } data_filler { type: "gaussian" } data_filler { type: "gaussian" }`,
	"SoftmaxWithLoss", "EuclideanLoss",
).Replace(noisyNet)

// contents returns the bytes of a file.
func contents(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestJudge: only better values count, in the output's direction; NaN never does.
func TestJudge(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		output string
		values []float64
		best   float64
		iter   int
		since  int
	}{
		{"accuracy", []float64{0.5, 0.7, 0.7, 0.6}, 0.7, 1, 2},
		{"accuracy", []float64{nan, 0.1, nan}, 0.1, 1, 1},
		{"loss", []float64{3, 2, 2, 4, 1}, 1, 4, 0},
		{"loss", []float64{-1, nan, 0}, -1, 0, 2},
		{"accuracy", []float64{math.Inf(-1), -5}, -5, 1, 0},
		{"accuracy", []float64{nan, nan}, 0, 0, 2},
	} {
		text := strings.Replace(wanderingNet, `snapshot_best: "loss"`, fmt.Sprintf("snapshot_best: %q", c.output), 1)
		text = strings.Replace(text, `bottom: "t" top: "loss" }`, `bottom: "t" top: "loss" } layer { name: "a" type: "Reduction" bottom: "y" top: "accuracy" include { phase: TEST } }`, 1)
		s := train(t, t.TempDir(), text)
		for i, value := range c.values {
			s.iter = i
			r := results{scores: newScores(s.testNets[0])}
			for k := range r.scores {
				r.scores[k].sum = 1000 - float64(i)
				if r.scores[k].name == c.output {
					r.scores[k].sum = 4 * value
				}
			}
			s.judge(0, &r, 4)
		}
		if b := s.best; b.value != c.best || b.iter != c.iter || b.since != c.since || b.known != (c.best != 0) {
			t.Errorf("%s %v: best %g at %d, %d tests ago (%v), want %g at %d, %d", c.output, c.values, b.value, b.iter, b.since, b.known, c.best, c.iter, c.since)
		}
	}
}

// TestDivergedIsNotBest: a value counts only of a finite net: NaN or infinity in the test's loss, in another output or in the weights rules it out,
// however good the value is. stop_after counts such tests.
func TestDivergedIsNotBest(t *testing.T) {
	text := strings.Replace(wanderingNet, `snapshot_best: "loss"`, `snapshot_best: "accuracy"`, 1)
	text = strings.Replace(text, `bottom: "t" top: "loss" }`, `bottom: "t" top: "loss" } layer { name: "a" type: "Reduction" bottom: "y" top: "accuracy" include { phase: TEST } }`, 1)
	s := train(t, t.TempDir(), text)
	test := func(loss, output, weight float64) {
		r := results{loss: loss, scores: newScores(s.testNets[0])}
		for k := range r.scores {
			r.scores[k].sum = output
			if r.scores[k].name == "accuracy" {
				r.scores[k].sum = 4
			}
		}
		s.Net().Learnable()[1].Blob.Data()[2] = float32(weight)
		s.judge(0, &r, 4)
	}
	for i, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		test(bad, 1, 1)
		test(1, bad, 1)
		test(1, 1, bad)
		if s.best.known || s.best.since != 3*(i+1) {
			t.Errorf("%g: %+v after tests with accuracy 1 of a diverged net", bad, s.best)
		}
	}
	if test(1, 1, 1); !s.best.known || s.best.value != 1 || s.best.since != 0 {
		t.Errorf("%+v after a test of a finite net", s.best)
	}
}

// TestBestThatCannotBeWritten: after a failure that may pass, training goes on, and a later test is compared with the best value that is written.
func TestBestThatCannotBeWritten(t *testing.T) {
	before := pauses
	defer func() { pauses = before }()
	pauses = nil
	dir, failed := t.TempDir(), false
	s := train(t, dir, wanderingNet+"max_iter: 9")
	values := []float64{0.5, 0.4, 0.45}
	s.write = func(path string, m proto.Message) error {
		if strings.Contains(path, "_best") && s.best.value == 0.4 {
			failed = true
			return syscall.ENOSPC
		}
		return swproto.WriteBinary(path, m)
	}
	for i, value := range values {
		s.iter = i
		s.footing.take(s, i)
		r := results{scores: newScores(s.testNets[0])}
		for k := range r.scores {
			r.scores[k].sum = value
		}
		s.judge(0, &r, 1)
		if err := s.keepBest(); err != nil {
			t.Fatal(err)
		}
	}
	state, err := openState(filepath.Join(dir, "s_best.solverstate"))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if !failed || s.best.value != 0.45 || state.GetIter() != 2 {
		t.Errorf("failed: %t, best %g, written is iteration %d; want 0.45 of iteration 2, better than 0.5", failed, s.best.value, state.GetIter())
	}
}

// TestBestOfDetections: detections are judged by their mean average precision.
func TestBestOfDetections(t *testing.T) {
	s := train(t, t.TempDir(), wanderingNet)
	s.evaluation = evaluate.Method{Detection: true, Version: evaluate.DefaultVersion}
	var r results
	r.precisions = make([]evaluate.Precision, 1)
	r.precisions[0].Add([]float32{-1, 1, 2, 0, 0, 0, 1, 0.9, 1, 0})
	s.best.falls = false
	s.judge(0, &r, 1)
	if s.best.value != 0.5 {
		t.Errorf("the best value is %g, want 0.5: one of two objects", s.best.value)
	}
}

// TestBestSnapshot: the best snapshot has the weights of the iteration with the smallest test loss. A run that is resumed between two tests, or
// from the best snapshot itself, has the same weights, best value and best snapshot as one without a break.
func TestBestSnapshot(t *testing.T) {
	const iterations = 16
	for _, format := range []string{"BINARYPROTO", "HDF5"} {
		end := map[string]string{"HDF5": ".h5"}[format]
		for _, workers := range []int{0, 3} {
			if racing.Detector && workers == 0 {
				continue
			}
			t.Run(fmt.Sprint(format, workers), func(t *testing.T) {
				c := crew{workers: workers, dir: t.TempDir(), text: wanderingNet + "snapshot: 1 snapshot_format: " + format}
				var want best
				var end16 []float32
				whole := func(rank int, s *Solver) error {
					err := s.Step(iterations)
					if rank == 0 {
						want, end16 = s.best, weights(s)
					}
					return err
				}
				if err := c.run(t, whole); err != nil {
					t.Fatal(err)
				}
				model := contents(t, c.dir, "s_best.caffemodel"+end)
				if want.iter == 0 || want.iter >= iterations-2 || !bytes.Equal(model, contents(t, c.dir, fmt.Sprint("s_iter_", want.iter, ".caffemodel", end))) {
					t.Fatalf("the best snapshot is not that of iteration %d, or the run tests nothing", want.iter)
				}
				for _, from := range []string{"s_iter_3", fmt.Sprint("s_iter_", want.iter), fmt.Sprint("s_iter_", want.iter+1), "s_best"} {
					// Here the best snapshot exists only if the resumed run must not write it.
					again := c
					again.dir = t.TempDir()
					keep := []string{from}
					if from == "s_best" || from == fmt.Sprint("s_iter_", want.iter+1) {
						keep = append(keep, "s_best")
					}
					for _, base := range keep {
						for _, kind := range []string{".caffemodel", ".solverstate"} {
							name := base + kind + end
							if err := os.WriteFile(filepath.Join(again.dir, name), contents(t, c.dir, name), 0o644); err != nil {
								t.Fatal(err)
							}
						}
					}
					// States name their weights with a folder, which is gone for this run.
					hidden := c.dir + ".hidden"
					err := os.Rename(c.dir, hidden)
					err = errors.Join(err, again.run(t, func(rank int, s *Solver) error {
						if err := s.Restore(filepath.Join(again.dir, from+".solverstate"+end)); err != nil {
							return err
						}
						err := s.Step(iterations - s.Iter())
						if rank == 0 {
							sameBits(t, from, weights(s), end16)
							if s.best != want {
								t.Errorf("from %s: best %+v, want %+v", from, s.best, want)
							}
						}
						return err
					}), os.Rename(hidden, c.dir))
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(contents(t, again.dir, "s_best.caffemodel"+end), model) {
						t.Errorf("from %s: another best snapshot", from)
					}
				}
			})
		}
	}
}

// TestStopAfter: with a rate of 0 no test is better than the first. All workers stop after the second of the others, and where only the first
// worker tests, an iteration later. The run can go on from its last snapshot to the next test.
func TestStopAfter(t *testing.T) {
	text := strings.Replace(wanderingNet, "base_lr: 0.05", "stop_after: 2 max_iter: 20 base_lr: 0", 1)
	text = strings.Replace(text, "snapshot_after_train: false", "", 1)
	for _, k := range []struct {
		strategy    string
		workers, at int
	}{{Sync, 0, 4}, {Sync, 1, 4}, {Sync, 3, 4}, {"sync_easgd3", 2, 5}, {"easgd", 2, 5}} {
		t.Run(fmt.Sprint(k.strategy, k.workers), func(t *testing.T) {
			var log bytes.Buffer
			c := crew{workers: k.workers, dir: t.TempDir(), text: text, team: Team{Strategy: k.strategy, Tau: 1}}
			c.options = func(rank int, o *Options) {
				if rank == 0 {
					o.Log = logrus.New()
					o.Log.SetOutput(&log)
				}
			}
			ends := func(at int, state string) {
				t.Helper()
				log.Reset()
				if err := c.run(t, func(rank int, s *Solver) error {
					if state != "" {
						if err := s.Restore(filepath.Join(c.dir, state)); err != nil {
							return err
						}
					}
					err := s.Solve()
					if s.Iter() != at || !s.Stopped() {
						t.Errorf("worker %d ends at iteration %d (stopped: %v), want %d", rank, s.Iter(), s.Stopped(), at)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			ends(k.at, "")
			if !strings.Contains(log.String(), "Early stop at iteration 4: loss has not been better than") || !strings.Contains(log.String(), "its value at iteration 0, in 2 tests (stop_after: 2)") {
				t.Errorf("the log does not say why:\n%s", &log)
			}
			ends(k.at+2, fmt.Sprintf("s_iter_%d.solverstate", k.at))
		})
	}
}

// TestStopAfterInTurn: the number of workers does not change where training ends.
func TestStopAfterInTurn(t *testing.T) {
	text := strings.Replace(wanderingNet, "base_lr: 0.05", "stop_after: 2 max_iter: 60 base_lr: 0.05", 1)
	text = strings.Replace(strings.ReplaceAll(text, `data_filler { type: "gaussian" }`, `data_filler { type: "constant" value: 0.3 }`), `layer { name: "drop" type: "Dropout" bottom: "c" top: "c" }`, "", 1)
	want := 0
	for _, workers := range []int{0, 2, 3} {
		c := crew{workers: workers, text: text}
		if err := c.run(t, func(rank int, s *Solver) error {
			err := s.Solve()
			if want == 0 {
				if want = s.Iter(); want <= 4 {
					t.Errorf("training ends at iteration %d, before anything improves", want)
				}
			}
			if s.Iter() != want || !s.Stopped() {
				t.Errorf("%d workers end at iteration %d, one at %d", workers, s.Iter(), want)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBestFields: what cannot be followed is refused before training.
func TestBestFields(t *testing.T) {
	for fields, want := range map[string]string{
		`snapshot_best: "loss"`: `snapshot_best: "loss" needs tests: set test_iter and test_interval`,
		`stop_after: 2`:         `stop_after: 2 needs snapshot_best`,
		`stop_after: -1`:        `stop_after must be at least 0, it is -1`,
		`snapshot_best: "lose" test_iter: 1 test_interval: 1`: `snapshot_best: unknown output "lose", did you mean "loss"?`,
	} {
		_, err := newSolver(t, t.TempDir(), noisyNet+fields)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", fields, err, want)
		}
	}
	vector := strings.Replace(noisyNet, `bottom: "t" top: "loss" }`, `bottom: "t" top: "loss" } layer { name: "p" type: "Softmax" bottom: "y" top: "p" }`, 1)
	if _, err := newSolver(t, t.TempDir(), vector+`snapshot_best: "p" test_iter: 1 test_interval: 1`); err == nil || !strings.Contains(err.Error(), "has 18 values; one is needed") {
		t.Errorf("got %v", err)
	}
}

// TestBestNotWritable: a best snapshot that cannot be written ends the run with an error, on all workers.
func TestBestNotWritable(t *testing.T) {
	dir := t.TempDir()
	c := crew{workers: 2, dir: dir, text: wanderingNet}
	err := c.run(t, func(rank int, s *Solver) error {
		if rank == 0 {
			if err := os.MkdirAll(filepath.Join(dir, "s_best.solverstate", "full"), 0o777); err != nil {
				return err
			}
		}
		return s.Step(4)
	})
	if err == nil || !strings.Contains(err.Error(), "best snapshot") {
		t.Errorf("got %v", err)
	}
}
