package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracedNet is a run of 5 iterations with tests before iterations 0 and 2, and a snapshot after iteration 3.
const tracedNet = `
net_param { name: "traced"
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } shape { dim: 4 dim: 5 } data_filler { type: "gaussian" } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "c" top: "y" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
}
base_lr: 0.001 lr_policy: "fixed" max_iter: 5 test_iter: 1 test_interval: 2 snapshot: 3 snapshot_after_train: false snapshot_prefix: "s" random_seed: 1
`

type span struct {
	Name, Cat, Ph string
	Ts, Dur       float64
	Pid, Tid      int
	Args          map[string]any
}

// TestTrace: the file has each worker's iterations, with the layers inside them, both passes in order, and what is between iterations.
func TestTrace(t *testing.T) {
	for _, c := range []struct {
		flags         string
		rows, records int
	}{{"", 1, 5}, {"-trace_iterations 3 -workers 2", 2, 3}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(tracedNet), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(buildBinary(t), strings.Fields("train -solver solver.prototxt -trace t.json "+c.flags)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, "t.json"))
		if err != nil {
			t.Fatal(err)
		}
		var trace struct{ TraceEvents []span }
		if err := json.Unmarshal(text, &trace); err != nil {
			t.Fatal(err)
		}
		for rank := range c.rows {
			checkRow(t, c.flags, trace.TraceEvents, rank, c.records)
		}
	}
}

// checkRow checks the spans of a worker.
func checkRow(t *testing.T, flags string, all []span, rank, iterations int) {
	t.Helper()
	seen, between := 0, map[string]int{}
	for _, iteration := range all {
		if iteration.Tid != rank || iteration.Ph != "X" {
			continue
		}
		if iteration.Cat == "test" || iteration.Cat == "snapshot" {
			between[iteration.Cat]++
		}
		if iteration.Cat != "iteration" {
			continue
		}
		if want := fmt.Sprintf("iteration %d", seen); iteration.Name != want {
			t.Errorf("%s: row %d has %q, want %q", flags, rank, iteration.Name, want)
		}
		seen++
		var inside []string
		const hair = 1e-3 // of a microsecond
		end := iteration.Ts
		for _, s := range all {
			if s.Tid != rank || s.Ph != "X" || s.Cat == "iteration" || s.Ts < iteration.Ts-hair || s.Ts+s.Dur > iteration.Ts+iteration.Dur+hair {
				continue
			}
			if s.Ts < end-hair {
				t.Errorf("%s: %+v begins before the end of the span before it", flags, s)
			}
			end = s.Ts + s.Dur
			inside = append(inside, s.Cat+" "+s.Name)
			if s.Name == "conv" && (s.Args["type"] != "Convolution" || s.Args["algorithm"] == "") {
				t.Errorf("%s: conv has the notes %v", flags, s.Args)
			}
		}
		want := "forward x, forward conv, forward ip, forward loss, backward loss, backward ip, backward conv, update update"
		if strings.Contains(flags, "workers") {
			want = strings.Replace(want, "update", "exchange exchange, update", 1)
		}
		if got := strings.Join(inside, ", "); got != want {
			t.Errorf("%s: row %d, %s: %s, want %s", flags, rank, iteration.Name, got, want)
		}
	}
	if seen != iterations {
		t.Errorf("%s: row %d has %d iterations, want %d", flags, rank, seen, iterations)
	}
	wantTests, wantSnapshots := 0, 0
	if rank == 0 {
		wantTests, wantSnapshots = 2, 0
		if iterations == 5 {
			wantTests, wantSnapshots = 3, 1
		}
	}
	if between["test"] != wantTests || between["snapshot"] != wantSnapshots {
		t.Errorf("%s: row %d has %v, want %d tests and %d snapshots", flags, rank, between, wantTests, wantSnapshots)
	}
}

// TestTensorBoardOfARun: the event files have curves of both nets, and histograms and pictures as often as the flag says.
func TestTensorBoardOfARun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(tracedNet), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(buildBinary(t), "train", "-solver", "solver.prototxt", "-tensorboard", "tb", "-tensorboard_histograms", "2")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for pattern, want := range map[string]map[string]int{
		"tb/train/events.*": {
			"weights/conv/0": 3, "gradients/conv/0": 3, "weights/ip/1": 3, "filters/conv/0": 3, "filters/ip/0": 0, "batch/x": 3, "batch/t": 0, "output/l": 5, "learning rate": 5,
		},
		"tb/test_0/events.*": {"output/l": 3, "learning rate": 0, "weights/conv/0": 0},
	} {
		list, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %q, %v", pattern, list, err)
		}
		text, err := os.ReadFile(list[0])
		if err != nil {
			t.Fatal(err)
		}
		for tag, n := range want {
			if got := strings.Count(string(text), tag); got != n {
				t.Errorf("%s has %s %d times, want %d", pattern, tag, got, n)
			}
		}
	}
}

// TestTraceOfACluster: messages take the time of [SC17] table 2, 0.7 us and 0.2 ns a byte; a worker's ring sends 2(P-1) messages of about a Pth
// of all gradients, after its passes and within its exchange.
func TestTraceOfACluster(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(tracedNet), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(buildBinary(t), strings.Fields("train -solver solver.prototxt -trace t.json -trace_iterations 1 -workers 3 -transport sim -cluster infiniband_fdr -machine sw26010 -allreduce ring")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, spans := traceOf(t, filepath.Join(dir, "t.json"))
	for rank := range 3 {
		row, sent := spans[fmt.Sprintf("2 worker %d", rank)], spans[fmt.Sprintf("2 worker %d: sends", rank)]
		exchange := slices.IndexFunc(row, func(s span) bool { return s.Cat == "exchange" })
		if len(sent) != 4 || exchange < 0 || row[0].Name != "forward" || row[exchange-1].Name != "conv" {
			t.Fatalf("worker %d has %v and sends %v", rank, row, sent)
		}
		x := row[exchange]
		for _, m := range sent {
			bytes := m.Args["bytes"].(float64)
			const hair = 0.0021 // times are rounded to nanoseconds
			if math.Abs(m.Dur-0.7-0.0002*bytes) > hair || m.Ts < x.Ts-hair || m.Ts+m.Dur > x.Ts+x.Dur+hair || m.Args["to"] != float64((rank+1)%3) {
				t.Errorf("worker %d sends %+v in the exchange %+v", rank, m, x)
			}
			// 108 and 720 weights, 4 and 5 biases, three values of the head: each may be filled up to a vector of 16.
			if bytes < 4*840/3 || bytes > 4*(840+5*16)/3 {
				t.Errorf("a message has %g bytes", bytes)
			}
		}
	}
}

// TestTraceOfRanges: every modelled span says where its true time probably lies, but for waits, which follow from the messages. With a machine or a
// cluster of which nothing was published none does.
func TestTraceOfRanges(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(tracedNet), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags string
		known bool
	}{
		{"-workers 3 -transport sim -cluster taihulight -machine sw26010", true},
		{"-workers 3 -transport sim -cluster infiniband_fdr -machine sw26010", false},
		{"-machine sw26010", true},
		{"-machine knl7250", false},
	} {
		cmd := exec.Command(buildBinary(t), strings.Fields("train -solver solver.prototxt -trace t.json -trace_iterations 1 "+c.flags)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.flags, err, out)
		}
		_, rows := traceOf(t, filepath.Join(dir, "t.json"))
		ranged := 0
		for name, spans := range rows {
			for _, s := range spans {
				low, known := s.Args["low_ms"].(float64)
				high, _ := s.Args["high_ms"].(float64)
				switch {
				case known != (c.known && strings.HasPrefix(name, "2 ") && s.Cat != "wait" && s.Dur > 0):
					t.Errorf("%s, %s: %+v", c.flags, name, s)
				case known:
					ranged++
					const hair = 2e-6 // times are rounded to nanoseconds
					if ms := s.Dur / 1000; low > ms+hair || high < ms-hair || high > 50*ms+hair {
						t.Errorf("%s, %s: %+v lies outside its range", c.flags, name, s)
					}
				}
			}
		}
		if c.known && ranged < 5 {
			t.Errorf("%s: %d spans have ranges", c.flags, ranged)
		}
	}
}
