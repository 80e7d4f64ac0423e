package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// endless is a solver that runs until it is stopped, on inputs drawn anew in every pass.
const endless = `
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 8 dim: 64 } shape { dim: 8 dim: 500 } data_filler { type: "gaussian" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 500 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
}
base_lr: 0.0001 lr_policy: "fixed" max_iter: 100000000 display: 1 snapshot_prefix: "s" random_seed: 1
`

// start runs swcaffe train on a solver text, with further arguments, and returns once the log has a line with until.
func start(t *testing.T, solverText, until string, args ...string) (cmd *exec.Cmd, dir string, log *logLines, done chan struct{}) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(solverText), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(buildBinary(t), append([]string{"train", "-solver", "solver.prototxt"}, args...)...)
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	paged := slices.Contains(args, "-http")
	if paged {
		shrinkPipe(t, stderr.(*os.File))
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	log, done = &logLines{}, make(chan struct{})
	reached := make(chan struct{})
	go func() {
		defer close(done)
		lines, found := bufio.NewScanner(stderr), false
		for lines.Scan() {
			log.add(lines.Text())
			if !found && strings.Contains(lines.Text(), until) {
				found = true
				close(reached)
			}
			if paged && found { // the training waits for its log's reader, and leaves the cores to the browser
				time.Sleep(5 * time.Millisecond)
			}
		}
	}()
	select {
	case <-reached:
	case <-done:
		t.Fatalf("it ended before %q:\n%s", until, log)
	case <-time.After(patience):
		t.Fatalf("no %q after %v", until, patience)
	}
	return cmd, dir, log, done
}

// TestStopsWithSnapshot: a SIGINT, as in Caffe, and a SIGTERM stop with a snapshot and exit code 0.
func TestStopsWithSnapshot(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, dir, log, done := start(t, endless, "Iteration 3 ")
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		<-done
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %v\n%s", sig, err, log)
		}
		if !strings.Contains(log.String(), "Optimization stopped early.") {
			t.Errorf("%v: the log does not say that it stopped early:\n%s", sig, log)
		}
		if n := wholeSnapshots(t, dir); n != 1 {
			t.Errorf("%v: %d snapshots, want 1", sig, n)
		}
	}
}

// TestSIGHUPSnapshotsAndGoesOn: a SIGHUP writes a snapshot, and the run continues.
func TestSIGHUPSnapshotsAndGoesOn(t *testing.T) {
	cmd, dir, log, done := start(t, endless, "Iteration 3 ")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	var states []string
	eventually(t, "a snapshot", func() bool {
		states, _ = filepath.Glob(filepath.Join(dir, "*.solverstate"))
		return len(states) > 0
	})
	var iteration int
	if _, err := fmt.Sscanf(filepath.Base(states[0]), "s_iter_%d.solverstate", &iteration); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("Iteration %d ", iteration+2)
	eventually(t, line, func() bool { return strings.Contains(log.String(), line) })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-done
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if n := wholeSnapshots(t, dir); n != 2 {
		t.Errorf("%d snapshots, want that of the SIGHUP and that of the SIGINT", n)
	}
}

// TestKillLeavesSnapshotsWhole: if a run that snapshots all the time is killed at any moment, every file with a final name is
// complete.
func TestKillLeavesSnapshotsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 6 {
		cmd, dir, _, done := start(t, endless+"snapshot: 1", "Iteration 2 ")
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-done
		cmd.Wait()
		if n := wholeSnapshots(t, dir); n < 1 {
			t.Errorf("run %d left no snapshot", i)
		}
	}
}

// wholeSnapshots decodes all weights and states in a folder and returns the number of states.
func wholeSnapshots(t *testing.T, dir string) int {
	t.Helper()
	models, _ := filepath.Glob(filepath.Join(dir, "*.caffemodel"))
	for _, m := range models {
		p, _, err := swproto.ReadBinaryNet(m)
		if err != nil {
			t.Error(err)
			continue
		}
		if n := len(p.Layer[1].Blobs[0].Data); n != 500*64 {
			t.Errorf("%s: %d weights", m, n)
		}
	}
	states, _ := filepath.Glob(filepath.Join(dir, "*.solverstate"))
	for _, s := range states {
		state := &caffepb.SolverState{}
		if err := swproto.ReadBinary(s, state); err != nil {
			t.Error(err)
		} else if _, err := os.Stat(filepath.Join(dir, state.GetLearnedNet())); err != nil {
			t.Errorf("%s names weights that are not there: %v", s, err)
		}
	}
	return len(states)
}

// countSnapshots returns the number of states in a folder.
func countSnapshots(t *testing.T, dir string) int {
	t.Helper()
	states, err := filepath.Glob(filepath.Join(dir, "*.solverstate"))
	if err != nil {
		t.Fatal(err)
	}
	return len(states)
}

// TestProtocReadsSnapshots: what is written decodes with protoc against the schema, and the fields are where Caffe has them.
func TestProtocReadsSnapshots(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip("no protoc to decode snapshots with")
	}
	text := strings.Replace(endless, "max_iter: 100000000", `max_iter: 2 momentum: 0.9`, 1)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(buildBinary(t), "train", "-solver", "solver.prototxt")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	decode := func(message, file string) string {
		in, err := os.Open(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd := exec.Command(protoc, "--decode=caffe."+message, "-I", "../../proto", "caffe.proto")
		cmd.Stdin = in
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("protoc: %v\n%s", err, out)
		}
		return string(out)
	}
	model, state := decode("NetParameter", "s_iter_2.caffemodel"), decode("SolverState", "s_iter_2.solverstate")
	for _, want := range []string{`type: "InnerProduct"`, "    shape {\n      dim: 500\n      dim: 64\n    }", "inner_product_param {", `phase: TRAIN`} {
		if !strings.Contains(model, want) {
			t.Errorf("the weights lack %q:\n%.2000s", want, model)
		}
	}
	for _, want := range []string{"iter: 2\n", `learned_net: "s_iter_2.caffemodel"`, "current_step: 0", "history {", "run_state {"} {
		if !strings.Contains(state, want) {
			t.Errorf("the state lacks %q:\n%.2000s", want, state)
		}
	}
	if got, want := strings.Count(state, "history {"), 2; got != want {
		t.Errorf("%d histories, want %d", got, want)
	}
	if n := strings.Count(model, "    data: "); n != 500*64+500 {
		t.Errorf("the weights have %s values, want %d", fmt.Sprint(n), 500*64+500)
	}
}
