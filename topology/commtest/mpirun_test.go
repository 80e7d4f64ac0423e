package commtest

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/testkit/mpitest"
)

// jobVariable is set in the processes of a job that TestMPI starts.
const jobVariable = "SWCAFFE_MPI_TEST"

// mpirun runs this package's tests of the mpi build that match a pattern as a job of four processes.
func mpirun(t *testing.T, pattern string, longest int) (output string, err error) {
	t.Helper()
	binary := mpitest.Build(t, "commtest.test")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	job := mpitest.Job(ctx, binary, "-test.run", pattern, "-test.v")
	job.Env = append(os.Environ(), jobVariable+"="+strconv.Itoa(longest), "GOMAXPROCS=1")
	out, err := job.CombinedOutput()
	return string(out), err
}

// TestMPI tests the contract on the MPI transport.
func TestMPI(t *testing.T) {
	out, err := mpirun(t, "^TestJob$", longest())
	if err != nil {
		t.Fatalf("mpirun: %v\n%s", err, out)
	}
	if n := strings.Count(out, "--- PASS: TestJob "); n != 4 {
		t.Fatalf("%d of 4 ranks passed:\n%s", n, out)
	}
}
