package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cuttingCommand is swcaffe, but the process cuts all of its connections when a file of the name in cutVariable appears.
const (
	cuttingCommand = "swcaffe-cutting"
	cutVariable    = "SWCAFFE_TEST_CUT"
)

func cutting() {
	go func() {
		for {
			if _, err := os.Stat(os.Getenv(cutVariable)); err == nil {
				cutSockets()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	main()
}

// jobSolver trains on random inputs; %s is its folder, %d the number of iterations.
const jobSolver = `
train_net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 10 dim: 2 dim: 9 dim: 9 } shape { dim: 10 } data_filler { type: "gaussian" } data_filler { type: "uniform" max: 0.999 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 5 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "bn" type: "BatchNorm" bottom: "c" top: "n" }
  layer { name: "ip" type: "InnerProduct" bottom: "n" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" random_seed: 5 snapshot_prefix: "%s/s" snapshot: 20 max_iter: %d
`

func writeSolver(t *testing.T, dir, name string, iterations int) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, fmt.Appendf(nil, jobSolver, dir, iterations), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// testTrain: four processes train, bit by bit, the model of four workers in one process with the same algorithm. Only the first
// process logs and writes. The processes are traced, which changes nothing.
func (job mpiJob) testTrain(t *testing.T) {
	for _, flags := range []string{"-allreduce ring", "-allreduce topology -bucket_mb 0.0001 -check_every 7", "-allreduce auto -core_groups 2", "-workers_strategy easgd -tau 2", "-workers_strategy sync_easgd3 -rho 0.5"} {
		models := map[string][]byte{}
		for _, way := range []string{"local", "mpi"} {
			dir := t.TempDir()
			args := append([]string{"train", "-solver", writeSolver(t, dir, "s.prototxt", 50)}, strings.Fields(flags)...)
			var out string
			var err error
			if way == "mpi" {
				out, err = job.run(t, append(args, "-trace", filepath.Join(dir, "t.json"), "-trace_iterations", "4")...)
			} else {
				var text []byte
				text, err = exec.Command(job.binary, append(args, "-workers", "4")...).CombinedOutput()
				out = string(text)
			}
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", flags, way, err, out)
			}
			if n := strings.Count(out, "Optimization Done."); n != 1 {
				t.Errorf("%s, %s: %d logs:\n%s", flags, way, n, out)
			}
			if way == "mpi" {
				checkJobTrace(t, flags, filepath.Join(dir, "t.json"))
			}
			if models[way], err = os.ReadFile(filepath.Join(dir, "s_iter_50.caffemodel")); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(models["local"], models["mpi"]) {
			t.Errorf("%s: local and mpi make other models", flags)
		}
	}
}

// longest is how soon a job must end after one of its processes has failed.
const longest = 30 * time.Second

// testFaults: a process that is killed, loses its connections, or has another net ends the whole job soon. The exit code is not
// 0, the message names the rank (the lowest of several), and the last snapshot is complete.
func (job mpiJob) testFaults(t *testing.T) {
	cutter := filepath.Join(filepath.Dir(job.binary), cuttingCommand)
	if err := os.Symlink(job.binary, cutter); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		script string // of a rank; $R is its number, $D the folder
		fail   func(t *testing.T, dir string)
		want   []string
	}{
		{"killed", `echo $$ > $D/pid.$R; exec ` + job.binary + ` train -solver $D/s.prototxt`, func(t *testing.T, dir string) {
			text, err := os.ReadFile(filepath.Join(dir, "pid.2"))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			p, err := os.FindProcess(pid)
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"rank 2"}},
		{"cut off", `if [ $R = 2 ]; then export ` + cutVariable + `=$D/cut; exec ` + cutter + ` train -solver $D/s.prototxt; fi; exec ` + job.binary + ` train -solver $D/s.prototxt`,
			func(t *testing.T, dir string) {
				if err := os.WriteFile(filepath.Join(dir, "cut"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}, []string{",2]"}}, // the rank in the name that mpirun gives a process
		{"another net", `if [ $R = 2 ]; then sed s/num_output:.5/num_output:6/ $D/s.prototxt > $D/other.prototxt; exec ` + job.binary + ` train -solver $D/other.prototxt; fi; exec ` + job.binary + ` train -solver $D/s.prototxt`,
			nil, []string{`layer "conv" (Convolution) differs: rank 0 has num_output: 5, rank 2 has num_output: 6`}},
		{"another program", `if [ $R = 2 ]; then mkdir $D/bin; cp ` + job.binary + ` $D/bin/swcaffe; echo >> $D/bin/swcaffe; exec $D/bin/swcaffe train -solver $D/s.prototxt; fi; exec ` + job.binary + ` train -solver $D/s.prototxt`,
			nil, []string{"rank 0: rank 2 runs another program than rank 0"}},
		{"no file", `exec ` + job.binary + ` train -solver $D/$([ $R = 2 ] && echo none || echo s).prototxt`,
			nil, []string{"rank 2", "none.prototxt"}},
		{"no files", `exec ` + job.binary + ` train -solver $D/none$R.prototxt`, nil, []string{"rank 0: ", "none0.prototxt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeSolver(t, dir, "s.prototxt", 100_000_000)
			wait := job.start(t, "sh", "-c", "D="+dir+"; R=$OMPI_COMM_WORLD_RANK; "+c.script)
			if c.fail != nil {
				snapshot := filepath.Join(dir, "s_iter_40.solverstate")
				eventually(t, snapshot, func() bool { return exists(snapshot) })
				c.fail(t, dir)
			}
			failed := time.Now()
			out, err := wait()
			if took := time.Since(failed); err == nil || c.fail != nil && took > longest {
				t.Errorf("ended after %v with error %v:\n%s", took, err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if c.fail != nil {
				resume(t, job, dir)
			} else if n := strings.Count(out, "] rank "); n != 1 {
				t.Errorf("%d ranks report, want one:\n%s", n, out)
			}
		})
	}
}

// testStopped: while a process is stopped, another one logs within five seconds which rank it waits for, and later that this rank
// is back. The job then continues.
func (job mpiJob) testStopped(t *testing.T) {
	dir := t.TempDir()
	writeSolver(t, dir, "s.prototxt", 100_000_000)
	var out logLines
	wait := job.startTo(t, &out, "sh", "-c", "D="+dir+"; echo $$ > $D/pid.$OMPI_COMM_WORLD_RANK; exec "+job.binary+" train -solver $D/s.prototxt -http 127.0.0.1:0")
	snapshot := filepath.Join(dir, "s_iter_40.solverstate")
	eventually(t, snapshot, func() bool { return exists(snapshot) })
	checkJobTimeline(t, &out)
	pid := func(rank int) *os.Process {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("pid.", rank)))
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(n)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	stopped := pid(2)
	signal := func(p *os.Process, sig os.Signal) {
		if err := p.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	signal(stopped, stopSignal)
	for _, line := range []string{" for rank 2: for ", "it goes on waiting"} {
		eventually(t, line, func() bool { return strings.Contains(out.String(), line) })
	}
	if took := time.Since(begun); took > 5*time.Second+time.Second/2 { // half a second for a busy machine
		t.Errorf("rank 2 was named after %v", took)
	}
	signal(stopped, continueSignal)
	eventually(t, "rank 2 is back", func() bool { return strings.Contains(out.String(), "rank 2 is back") })
	signal(pid(0), os.Interrupt)
	if err := wait(); err != nil || !strings.Contains(out.String(), "Optimization stopped early.") {
		t.Errorf("%v\n%s", err, out.String())
	}
	resume(t, job, dir)
}

// resume continues from the last snapshot in a folder.
func resume(t *testing.T, job mpiJob, dir string) {
	t.Helper()
	last := 0
	states, _ := filepath.Glob(filepath.Join(dir, "s_iter_*.solverstate"))
	for _, s := range states {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(s), "s_iter_"), ".solverstate"))
		if err != nil {
			t.Fatal(err)
		}
		last = max(last, n)
	}
	out, err := exec.Command(job.binary, "train", "-solver", writeSolver(t, dir, "on.prototxt", last+5),
		"-snapshot", filepath.Join(dir, fmt.Sprintf("s_iter_%d.solverstate", last))).CombinedOutput()
	if err != nil {
		t.Errorf("the last snapshot, of iteration %d, cannot be resumed: %v\n%s", last, err, out)
	}
}

// testAsynchronous: strategies whose order is not fixed train to their end.
func (job mpiJob) testAsynchronous(t *testing.T) {
	for _, strategy := range []string{"async_msgd", "hogwild_easgd"} {
		dir := t.TempDir()
		out, err := job.run(t, "train", "-solver", writeSolver(t, dir, "s.prototxt", 50), "-workers_strategy", strategy)
		if err != nil || strings.Count(out, "Optimization Done.") != 1 {
			t.Errorf("%s: %v\n%s", strategy, err, out)
		}
	}
}
