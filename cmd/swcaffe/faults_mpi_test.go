//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/mpitest"
)

// testMPIFaults kills or stops a random rank of MPI jobs, or ends mpirun, at random moments. What is left is resumed by as many workers of
// one process, which make the same bits.
func testMPIFaults(t *testing.T, r *faultRun, seed uint64, count int) {
	binary := mpitest.Build(t, "swcaffe")
	for range count {
		rng := rand.New(rand.NewPCG(seed, 0))
		ranks := 2 + rng.IntN(3)
		c := &faultCase{faultRun: r, t: t, way: fmt.Sprintf("-allreduce ring -workers %d", ranks), dir: t.TempDir(), rng: rng}
		write(t, filepath.Join(c.dir, "solver.prototxt"), faultSolver)
		r.reference(t, c.way)
		failed := t.Failed()
		c.mpiFault(binary, ranks)
		if t.Failed() && !failed {
			t.Logf("repeat: go test ./cmd/swcaffe -run TestFaults -args -faults.kills 0 -faults.disks 0 -faults.pairs 0 -faults.mpi 1 -faults.seed %d", seed)
		}
		os.RemoveAll(c.dir)
		seed++
	}
}

func (c *faultCase) mpiFault(binary string, ranks int) {
	var out logLines
	cmd := exec.Command("mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", fmt.Sprint(ranks),
		"sh", "-c", `echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec `+binary+` train -solver solver.prototxt -allreduce ring`)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.dir, &out, &out, patience
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	if !comes(func() bool { return strings.Contains(out.String(), "Starting Optimization") }) {
		c.t.Fatalf("the job does not start:\n%s", out.String())
	}
	time.Sleep(time.Duration(c.rng.Int64N(int64(c.took[c.way]))))
	pids := c.rankPIDs(ranks)
	victim := pids[c.rng.IntN(ranks)]
	switch c.rng.IntN(5) {
	case 0:
		c.note = "SIGKILL of a rank"
		syscall.Kill(victim, syscall.SIGKILL)
	case 1:
		c.note = "SIGSTOP and SIGCONT of a rank"
		syscall.Kill(victim, syscall.SIGSTOP)
		time.Sleep(time.Duration(c.rng.IntN(300)) * time.Millisecond)
		syscall.Kill(victim, syscall.SIGCONT)
	case 2:
		c.note = "SIGKILL of mpirun"
		cmd.Process.Kill()
	case 3:
		c.note = "SIGTERM to mpirun"
		cmd.Process.Signal(syscall.SIGTERM)
	case 4:
		c.note = "SIGTERM and SIGHUP to a rank"
		syscall.Kill(victim, syscall.SIGTERM)
		syscall.Kill(victim, syscall.SIGHUP)
	}
	cmd.Wait()
	gone := func() bool {
		for _, pid := range pids {
			if syscall.Kill(pid, 0) == nil {
				return false
			}
		}
		return true
	}
	if !comes(gone) {
		c.errorf(out.String(), "processes remain")
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for rank := range ranks {
		os.Remove(filepath.Join(c.dir, fmt.Sprint("pid.", rank)))
	}
	c.judge(out.String(), true)
}

func (c *faultCase) rankPIDs(ranks int) []int {
	var pids []int
	for rank := range ranks {
		text, err := os.ReadFile(filepath.Join(c.dir, fmt.Sprint("pid.", rank)))
		if err != nil {
			c.t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			c.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}
