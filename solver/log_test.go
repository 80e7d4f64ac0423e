package solver

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// showLog has a log that nobody reads write to w.
func showLog(log *logrus.Logger, w io.Writer) {
	log.SetOutput(w)
	log.SetLevel(logrus.InfoLevel)
}

// TestLogIsCaffes runs solvers from files with the fields in the first line, followed by BVLC Caffe 1.0's log without throughput. It
// compares tests, displays and snapshots: their order, iterations and figures.
func TestLogIsCaffes(t *testing.T) {
	const text = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t" include { phase: TRAIN }
    dummy_data_param { shape { dim: 1 dim: 2 } shape { dim: 1 dim: 1 } data_filler { value: 2 } data_filler { value: 3 } } }
  layer { name: "data" type: "DummyData" top: "x" top: "t" include { phase: TEST }
    dummy_data_param { shape { dim: 2 dim: 2 } shape { dim: 2 dim: 1 } data_filler { value: 1 } data_filler { value: 1 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 1 weight_filler { value: -0.5 } bias_filler { value: 0.25 } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" loss_weight: 2 }
  layer { name: "twice" type: "Power" bottom: "y" top: "twice" power_param { scale: 2 } include { phase: TEST } }
}
base_lr: 0.01 momentum: 0.5 snapshot_prefix: "o" `
	throughput := regexp.MustCompile(` \(\S+ iter/s, [^)]*\)`)
	files, err := filepath.Glob("testdata/caffe_log/*.txt")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fields, want, _ := strings.Cut(string(golden), "\n")
			t.Chdir(t.TempDir())
			s := train(t, ".", text+strings.TrimPrefix(fields, "#"), func(o *Options) { o.Now = func() time.Time { return time.Time{} } })
			var got strings.Builder
			showLog(s.log, &got)
			s.log.Formatter = message{}
			if err := s.Solve(); err != nil {
				t.Fatal(err)
			}
			_, log, _ := strings.Cut(throughput.ReplaceAllString(got.String(), ""), "Learning Rate Policy: "+s.param.GetLrPolicy()+"\n")
			if log != want {
				t.Errorf("the log is\n%s\nCaffe's\n%s", log, want)
			}
			for line := range strings.Lines(want) {
				if name, ok := strings.CutPrefix(line, "Snapshotting "); ok {
					name = strings.TrimSpace(name[strings.Index(name, "file ")+5:])
					if _, err := os.Stat(name); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// TestThroughputLine: every two iterations of 2 passes with 6 items take a second, with 8 iterations to go. Workers that split batches, and
// core groups, share the 6 items; easgd's workers take 6 each.
func TestThroughputLine(t *testing.T) {
	for _, c := range []struct {
		crew
		images string
	}{
		{crew{}, "24"}, {crew{coreGroups: 2}, "24"}, {crew{workers: 2}, "24"},
		{crew{workers: 2, team: Team{Strategy: "easgd", Tau: 1}}, "48"}, {crew{workers: 2, coreGroups: 3, team: Team{Strategy: "easgd", Tau: 1}}, "48"},
	} {
		c.text = noisyNet + "display: 2 max_iter: 10 iter_size: 2"
		var got strings.Builder
		clock := time.Time{}
		c.options = func(rank int, o *Options) {
			if rank == 0 {
				showLog(o.Log, &got)
				o.Log.Formatter = message{}
				o.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
			}
		}
		if err := c.run(t, func(rank int, s *Solver) error { return s.Step(3) }); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\nIteration 0 (0 iter/s, 1s/2 iters), loss = ", "\nIteration 2 (2 iter/s, 1s/2 iters), loss = ",
			"\n    Speed: " + c.images + " images/s, data wait 0.0%, ETA 4s\n"} {
			if strings.Count(got.String(), want) != 1 {
				t.Errorf("%d workers of %d core groups, strategy %q: not one %q in:\n%s", c.workers, c.coreGroups, c.team.Strategy, want, got.String())
			}
		}
	}
}

// TestPrefixIsTriedWhereItIsUsed: a missing folder is an error at once if the solver would write snapshots to it, and otherwise none.
func TestPrefixIsTriedWhereItIsUsed(t *testing.T) {
	gone := leastSquares + `base_lr: 0.1 snapshot_prefix: "` + filepath.Join(t.TempDir(), "gone", "s") + `" `
	for fields, fails := range map[string]bool{"": false, "snapshot: 3": true, "snapshot_after_train: true": true, "snapshot: 3 snapshot_after_train: true": true} {
		text := gone + fields
		if strings.Contains(fields, "after_train") {
			text = strings.Replace(gone, "snapshot_after_train: false", "", 1) + fields
		}
		_, err := newSolver(t, t.TempDir(), text)
		if fails != (err != nil && strings.Contains(err.Error(), "cannot write to snapshot prefix")) {
			t.Errorf("%q: error %v", fields, err)
		}
	}
}

// message is a log line without its level and time.
type message struct{}

func (message) Format(e *logrus.Entry) ([]byte, error) { return []byte(e.Message + "\n"), nil }
