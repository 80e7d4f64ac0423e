package solver

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// TestLogIsCaffes runs solvers whose fields stand in the first line of a file, behind which BVLC Caffe 1.0's log of them follows, without
// throughput: what is tested, shown and written, when, in which order, with which figures.
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
			s.log.Out, s.log.Formatter = &got, message{}
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

// message is a log line without its level and time.
type message struct{}

func (message) Format(e *logrus.Entry) ([]byte, error) { return []byte(e.Message + "\n"), nil }
