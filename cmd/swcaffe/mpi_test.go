package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cmd/internal/scoretest"
	"github.com/swcaffe/swcaffe/internal/testkit/mpitest"
)

// mpiJob starts jobs of four processes of the mpi build.
type mpiJob struct{ binary string }

// TestMPI builds the test binary for MPI, once for all that runs it as jobs: under the name of one of TestMain's commands it is that
// command.
func TestMPI(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	job := mpiJob{mpitest.Build(t, "swcaffe")}
	t.Run("allreduce", job.testAllreduce)
	t.Run("doctor", job.testDoctor)
	t.Run("train", job.testTrain)
	t.Run("test", job.testTest)
	t.Run("faults", job.testFaults)
	t.Run("stopped", job.testStopped)
	t.Run("asynchronous", job.testAsynchronous)
}

// run runs the command in every process of a job and returns what all have printed.
func (job mpiJob) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return job.start(t, append([]string{job.binary}, args...)...)()
}

// start starts any command line in every process of a job. The function it returns waits for the end.
func (job mpiJob) start(t *testing.T, line ...string) (wait func() (string, error)) {
	t.Helper()
	var out bytes.Buffer
	ended := job.startTo(t, &out, line...)
	return func() (string, error) {
		err := ended()
		return out.String(), err
	}
}

// startTo is start for output that is looked at before the end.
func (job mpiJob) startTo(t *testing.T, out interface {
	io.Writer
	String() string
}, line ...string) (wait func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	cmd := mpitest.Job(ctx, line...)
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	return func() error {
		defer cancel()
		err := cmd.Wait()
		if ctx.Err() != nil {
			t.Fatalf("the job did not end:\n%s", out.String())
		}
		return err
	}
}

// testAllreduce: four processes print one table, of checked sums. Bad input gives an exit code other than 0 and the message of
// the lowest rank that found the fault.
func (job mpiJob) testAllreduce(t *testing.T) {
	for _, c := range []struct {
		name, args string
		fails      bool
		want       []string
	}{
		{"all", "-bytes 40000 -iterations 2", false, []string{"over 4 nodes", "transport mpi", "\nring ", "\ntopology "}},
		{"dynamic", "-bytes 4000 -nodes 4 -algorithm dynamic", false, []string{"\ndynamic "}},
		{"wrong number", "-nodes 3", true, []string{"] rank 0", ": -nodes 3: the MPI job has 4 processes"}},
		{"small cluster", "-cluster infiniband_fdr -nodes 4 -bytes 400 -mapping round_robin", false, []string{"\nhierarchical "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := job.run(t, append([]string{"allreduce"}, strings.Fields(c.args)...)...)
			if (err != nil) != c.fails {
				t.Fatalf("error %v, want one: %v\n%s", err, c.fails, out)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if n := strings.Count(out, "All-reduce of"); !c.fails && n != 1 {
				t.Errorf("%d tables:\n%s", n, out)
			}
		})
	}
}

// testTest: four processes print the results of one process, once.
func (job mpiJob) testTest(t *testing.T) {
	net, weights := scoretest.Write(t, scoretest.Net)
	args := []string{"test", "-model", net, "-weights", weights, "-iterations", "7", "-seed", "3"}
	want, err := exec.Command(job.binary, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	got, err := job.run(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	figures := func(log string) (lines []string) {
		for line := range strings.Lines(log) {
			if _, text, _ := strings.Cut(line, "] "); strings.Contains(text, " = ") || strings.Contains(text, "Loss: ") {
				lines = append(lines, text)
			}
		}
		return lines
	}
	if g, w := figures(got), figures(string(want)); len(w) < 7 || !slices.Equal(g, w) {
		t.Errorf("four processes print\n%s, one prints\n%s", strings.Join(g, ""), strings.Join(w, ""))
	}
}

// testDoctor: doctor names the launcher, every rank's process, its links and the choice of auto, once.
func (job mpiJob) testDoctor(t *testing.T) {
	out, err := job.run(t, "doctor", "-cluster", "-bytes", "40000")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"has started this process as one of 4 processes", "Joined by ", "4 ranks on 1 computers", "From rank 0", "auto takes it"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("no line with %q, or several:\n%s", want, out)
		}
	}
}
