package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAllreduceUnderMPI runs the mpi build as a job of four processes: one table, checked sums, and for bad input an exit
// code that is not 0 and a message with the rank.
func TestAllreduceUnderMPI(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	for _, tool := range []string{"mpirun", "pkg-config", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: the mpi build is not tested", tool)
		}
	}
	binary := filepath.Join(t.TempDir(), "swcaffe")
	build := exec.Command("go", "build", "-tags", "mpi", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	for _, c := range []struct {
		name, args string
		fails      bool
		want       []string
	}{
		{"all", "-bytes 40000 -iterations 2", false, []string{"over 4 nodes", "transport mpi", "\nring ", "\ntopology "}},
		{"dynamic", "-bytes 4000 -nodes 4 -algorithm dynamic", false, []string{"\ndynamic "}},
		{"wrong number", "-nodes 3", true, []string{"rank 0: -nodes 3: the MPI job has 4 processes"}},
		{"small cluster", "-cluster infiniband_fdr -nodes 4 -bytes 400 -mapping round_robin", false, []string{"\nhierarchical "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := []string{"--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", "4", binary, "allreduce"}
			out, err := exec.CommandContext(ctx, "mpirun", append(args, strings.Fields(c.args)...)...).CombinedOutput()
			if ctx.Err() != nil || (err != nil) != c.fails {
				t.Fatalf("error %v, want one: %v\n%s", err, c.fails, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if n := strings.Count(string(out), "All-reduce of"); !c.fails && n != 1 {
				t.Errorf("%d tables:\n%s", n, out)
			}
		})
	}
}
