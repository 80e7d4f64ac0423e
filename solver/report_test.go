package solver

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/solver/events"
)

// reportedNet has outputs of several values in both phases.
const reportedNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 6 dim: 5 } shape { dim: 6 } data_filler { type: "gaussian" } data_filler { type: "uniform" max: 2.999 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" loss_weight: 0.5 }
  layer { name: "accuracy" type: "Accuracy" bottom: "y" bottom: "t" top: "accuracy" top: "by_class" }
}
base_lr: 0.05 lr_policy: "step" gamma: 0.5 stepsize: 3 random_seed: 5 max_iter: 7 display: 1 average_loss: 3
test_iter: 2 test_interval: 3 test_compute_loss: true snapshot: 4 snapshot_prefix: "%s/s"
`

// recorder returns a stream and the list that its events go to.
func recorder() (*events.Stream, *[]events.Body) {
	s, list := events.NewStream(nil), &[]events.Body{}
	s.Subscribe(func(e events.Event) { *list = append(*list, e.Body) })
	return s, list
}

// logged returns the lines that the log has for an event.
func logged(e events.Body) (lines []string) {
	outputs := func(phase string, list []events.Value) {
		for k, o := range list {
			name, _, _ := strings.Cut(o.Name, "[")
			lines = append(lines, fmt.Sprintf("    %s net output #%d: %s = %s%s", phase, k, name, caffelog.Figure(float64(o.Value)), caffelog.LossNote(float32(o.Weight), float64(o.Value))))
		}
	}
	switch e := e.(type) {
	case *events.Iteration:
		lines = append(lines, fmt.Sprintf("Iteration %d, loss = %s", e.Iteration, caffelog.Figure(float64(e.Smoothed))))
		outputs("Train", e.Outputs)
		lines = append(lines, fmt.Sprintf("Iteration %d, lr = %s", e.Iteration, caffelog.Figure(float64(e.Rate))))
	case *events.Test:
		lines = append(lines, fmt.Sprintf("Iteration %d, Testing net (#%d)", e.Iteration, e.Net), fmt.Sprintf("Test loss: %s", caffelog.Figure(float64(e.Loss))))
		outputs("Test", e.Outputs)
	case *events.Snapshot:
		lines = append(lines, "Snapshotting solver state to binary proto file "+e.State)
	}
	return lines
}

var (
	pace    = regexp.MustCompile(` \([^)]* iters\)`)
	figured = regexp.MustCompile(`^(Iteration|Test loss|Snapshotting solver|    T(rain|est) net output)`)
)

// TestEventsEqualLog: the events of a run have the numbers of its log, in the log's order, with one worker and with several; and a run with
// events gets the same weights as one without.
func TestEventsEqualLog(t *testing.T) {
	for _, workers := range []int{0, 2} {
		var log strings.Builder
		stream, list := recorder()
		var got, want []float32
		for _, listen := range []bool{false, true} {
			c := crew{workers: workers, text: fmt.Sprintf(reportedNet, t.TempDir()), options: func(rank int, o *Options) {
				if rank == 0 && listen {
					o.Events, o.Log = stream, logrus.New()
					o.Log.SetOutput(&log)
					o.Log.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableQuote: true})
				}
			}}
			err := c.run(t, func(rank int, s *Solver) error {
				err := s.Solve()
				if rank == 0 {
					want, got = got, weights(s)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		sameBits(t, fmt.Sprintf("%d workers", workers), got, want)
		var fromLog, fromEvents []string
		for line := range strings.Lines(log.String()) {
			_, text, _ := strings.Cut(strings.TrimRight(line, "\n"), "msg=")
			if strings.HasPrefix(text, "Iteration 7, loss") {
				continue // of a last forward pass, which is no iteration
			}
			if figured.MatchString(text) {
				fromLog = append(fromLog, pace.ReplaceAllString(text, ""))
			}
		}
		for _, e := range *list {
			fromEvents = append(fromEvents, logged(e)...)
		}
		if a, b := strings.Join(fromLog, "\n"), strings.Join(fromEvents, "\n"); a != b || len(fromLog) < 60 {
			t.Errorf("%d workers: log\n%s\nevents\n%s", workers, a, b)
		}
		checkEnds(t, workers, *list)
	}
}

// checkEnds checks the first and last event of a run of reportedNet.
func checkEnds(t *testing.T, workers int, list []events.Body) {
	t.Helper()
	first, ok := list[0].(*events.Started)
	if !ok || first.MaxIter != 7 || first.Iteration != 0 || first.Workers != max(1, workers) || first.Items != 6 || first.Seed != 5 {
		t.Errorf("%d workers: first event %+v", workers, list[0])
	} else if !strings.Contains(first.SolverText, "average_loss: 3") || !strings.Contains(first.NetText, "num_output: 3") {
		t.Errorf("prototxts\n%s\n%s", first.SolverText, first.NetText)
	}
	if last, ok := list[len(list)-1].(*events.Stopped); !ok || *last != (events.Stopped{Iteration: 7}) {
		t.Errorf("%d workers: last event %+v", workers, list[len(list)-1])
	}
}

// TestEndsAreReported: an error and a panic are a crash with their words; a stop is no crash; a resumed run names its state.
func TestEndsAreReported(t *testing.T) {
	dir := t.TempDir()
	text := fmt.Sprintf(reportedNet, dir)
	run := func(change func(*Options), restore string) (last, first events.Body) {
		stream, list := recorder()
		s := train(t, dir, text, func(o *Options) { o.Events = stream; change(o) })
		if restore != "" {
			if err := s.Restore(restore); err != nil {
				t.Fatal(err)
			}
		}
		func() {
			defer func() { recover() }()
			s.Solve()
		}()
		return (*list)[len(*list)-1], (*list)[0]
	}
	failing := func(o *Options) { o.OnGradients = func() error { return errors.New("no power") } }
	if e, _ := run(failing, ""); e.(*events.Crashed).Error != "iteration 0: no power" {
		t.Errorf("%+v", e)
	}
	panicking := func(o *Options) { o.OnGradients = func() error { panic("no luck") } }
	if e, _ := run(panicking, ""); e.(*events.Crashed).Error != "no luck" || !strings.Contains(e.(*events.Crashed).Stack, "TestEndsAreReported") {
		t.Errorf("%+v", e)
	}
	stopping := func(o *Options) { o.Action = func() Action { return Stop } }
	if e, _ := run(stopping, ""); *e.(*events.Stopped) != (events.Stopped{Iteration: 0, Early: true}) {
		t.Errorf("%+v", e)
	}
	run(func(*Options) {}, "")
	state := filepath.Join(dir, "s_iter_4.solverstate")
	if _, e := run(func(*Options) {}, state); e.(*events.Started).Iteration != 4 || e.(*events.Started).Snapshot != state {
		t.Errorf("%+v", e)
	}
}

// TestManyValues: an output of many values is one mean.
func TestManyValues(t *testing.T) {
	text := fmt.Sprintf(reportedNet, t.TempDir())
	text = strings.Replace(text, "net_param {", `net_param { layer { name: "wide" type: "DummyData" top: "wide" dummy_data_param { shape { dim: 65 } data_filler { type: "constant" value: 2 } } }`, 1)
	stream, list := recorder()
	s := train(t, t.TempDir(), text, func(o *Options) { o.Events = stream })
	if err := s.Solve(); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range *list {
		var outputs []events.Value
		switch e := e.(type) {
		case *events.Iteration:
			outputs = e.Outputs
		case *events.Test:
			outputs = e.Outputs
		default:
			continue
		}
		last := outputs[len(outputs)-1]
		if last.Name != "mean of wide (65 values)" || last.Value != 2 || len(outputs) != 6 {
			t.Errorf("%+v", outputs)
		}
		found++
	}
	if found != 10 {
		t.Errorf("%d events, want 7 iterations and 3 tests", found)
	}
}
