package commtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// jobVariable is set in the processes of a job that TestMPI starts.
const jobVariable = "SWCAFFE_MPI_TEST"

// mpirun runs this package's tests of the mpi build that match a pattern as a job of four processes.
func mpirun(t *testing.T, pattern string, longest int) (output string, err error) {
	t.Helper()
	for _, tool := range []string{"mpirun", "pkg-config", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: Open MPI's transport is not tested", tool)
		}
	}
	binary := filepath.Join(t.TempDir(), "commtest.test")
	build := exec.Command("go", "test", "-c", "-tags", "mpi", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	job := exec.CommandContext(ctx, "mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1",
		"-np", "4", binary, "-test.run", pattern, "-test.v")
	job.Env = append(os.Environ(), jobVariable+"="+strconv.Itoa(longest), "GOMAXPROCS=1")
	out, err := job.CombinedOutput()
	return string(out), err
}

// TestMPI holds the MPI transport to the contract.
func TestMPI(t *testing.T) {
	out, err := mpirun(t, "^TestJob$", longest())
	if err != nil {
		t.Fatalf("mpirun: %v\n%s", err, out)
	}
	if n := strings.Count(out, "--- PASS: TestJob "); n != 4 {
		t.Fatalf("%d of 4 ranks passed:\n%s", n, out)
	}
}
