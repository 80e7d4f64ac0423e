package commtest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/topology"
)

func TestMain(m *testing.M) { topology.Exit(m.Run()) }

// part is a job's first ranks only.
type part struct {
	topology.Transport
	size int
}

func (p part) Size() int { return p.size }

// TestJob is one rank's part in a job of TestMPI: the contract for the job's first 1, 2, ... ranks, while the others
// wait at the next message, and at last a message whose sides disagree.
func TestJob(t *testing.T) {
	longest, err := strconv.Atoi(os.Getenv(jobVariable))
	if err != nil {
		t.Skip("not started by TestMPI")
	}
	job, err := topology.OpenMPI()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			job.Abort()
		}
		job.Close()
	}()
	for p := 1; p <= job.Size(); p++ {
		if job.Rank() >= p {
			continue
		}
		checkPart(t, part{job, p}, longest)
		if t.Failed() {
			return
		}
	}
	lengthsDiffer(t, job)
}

func checkPart(t *testing.T, tr part, longest int) {
	spec := small(t)
	for _, mapping := range []topology.Mapping{topology.Block, topology.RoundRobin} {
		l, err := topology.NewLayout(spec, tr.size, mapping)
		if err != nil {
			t.Fatal(err)
		}
		for _, algorithm := range topology.Fixed() {
			if err := Check(tr, l, algorithm, longest); err != nil {
				t.Errorf("rank %d of %d, %s: %v", tr.Rank(), tr.size, mapping, err)
				return
			}
		}
	}
}

// lengthsDiffer: the receiver gets an error for a message that is shorter or longer than it expects.
func lengthsDiffer(t *testing.T, tr topology.Transport) {
	for _, c := range []struct {
		sent, wanted int
		message      string
	}{{4, 5, "rank 1 sends 4 values to rank 0, which expects 5"}, {5, 4, "MPI: receive 4 values from rank 1: "}} {
		switch tr.Rank() {
		case 0:
			err := tr.Recv(1, make([]float32, c.wanted))
			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("receiving %d of %d values: got %v, want %q", c.wanted, c.sent, err, c.message)
			}
		case 1:
			if err := tr.Send(0, make([]float32, c.sent)); err != nil {
				t.Error(err)
			}
		}
	}
}
