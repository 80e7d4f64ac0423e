//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/internal/testkit/mpitest"
)

// mpiFault is a fault of a job: a signal to mpirun, or to one of its ranks.
type mpiFault struct {
	note   string
	toJob  bool
	send   []syscall.Signal
	stops  bool // it ends well, early
	goesOn bool // it ends well, at its last iteration
}

var mpiFaults = []mpiFault{
	{note: "SIGKILL to a rank", send: []syscall.Signal{syscall.SIGKILL}},
	{note: "SIGKILL to mpirun", toJob: true, send: []syscall.Signal{syscall.SIGKILL}},
	{note: "SIGTERM to mpirun", toJob: true, send: []syscall.Signal{syscall.SIGTERM}},
	{note: "SIGINT to mpirun", toJob: true, send: []syscall.Signal{syscall.SIGINT}},
	{note: "SIGHUP to mpirun", toJob: true, send: []syscall.Signal{syscall.SIGHUP}},
	{note: "SIGTERM to a rank", send: []syscall.Signal{syscall.SIGTERM}, stops: true},
	{note: "SIGINT to a rank", send: []syscall.Signal{syscall.SIGINT}, stops: true},
	{note: "SIGTERM and SIGHUP to a rank", send: []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}, stops: true},
	{note: "SIGHUP to a rank", send: []syscall.Signal{syscall.SIGHUP}, goesOn: true},
	{note: "SIGSTOP and SIGCONT to a rank", send: []syscall.Signal{syscall.SIGSTOP}, goesOn: true},
}

// mpi injects a fault into an MPI job, and resumes with the same number of workers in one process, which must give the same bits.
func (c *faultCase) mpi() {
	if c.mpiBinary == "" {
		c.mpiBinary = mpitest.Build(c.t, "swcaffe")
	}
	ranks := 2 + c.rng.IntN(3)
	flags := []string{"-allreduce ring", "-workers_strategy easgd -tau 2", "-workers_strategy sync_easgd3"}[c.rng.IntN(3)]
	fault := mpiFaults[c.rng.IntN(len(mpiFaults))]
	c.note, c.way = fault.note, fmt.Sprintf("%s -workers %d", flags, ranks)
	c.prepare()
	if !fault.goesOn {
		c.prolong()
	}
	var out logLines
	cmd := exec.Command("mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", fmt.Sprint(ranks),
		"sh", "-c", `echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec `+c.mpiBinary+` train -solver solver.prototxt `+flags)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.dir, &out, &out, patience
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	if !comes(func() bool { return strings.Contains(out.String(), "Starting Optimization") }) {
		cmd.Process.Kill()
		c.t.Fatalf("the job does not start:\n%s", out.String())
	}
	time.Sleep(time.Duration(c.rng.Int64N(2 * int64(c.took[c.way]))))
	pids := c.rankPIDs(ranks)
	victim := pids[c.rng.IntN(ranks)]
	if fault.toJob {
		victim = cmd.Process.Pid
	}
	for _, sig := range fault.send {
		syscall.Kill(victim, sig)
		time.Sleep(time.Duration(c.rng.IntN(20_000)) * time.Microsecond)
	}
	if !fault.toJob {
		time.Sleep(time.Duration(c.rng.IntN(200)) * time.Millisecond)
		syscall.Kill(victim, syscall.SIGCONT)
	}
	err := cmd.Wait()
	c.end = fault.note + ": " + ending(err)
	c.allGone(pids, out.String())
	for rank := range ranks {
		os.Remove(filepath.Join(c.dir, fmt.Sprint("pid.", rank)))
	}
	c.endsAs(fault, out.String(), err)
	if !fault.goesOn {
		c.goOn()
	}
	c.judge(out.String(), !fault.stops && !fault.goesOn)
}

// endsAs checks how a job has ended.
func (c *faultCase) endsAs(fault mpiFault, out string, err error) {
	c.t.Helper()
	early, done := strings.Contains(out, "] Optimization stopped early."), strings.Contains(out, "] Optimization Done.")
	switch {
	case fault.goesOn && (err != nil || early || !done), fault.stops && (err != nil || !early):
		c.errorf(out, "%v, stopped early: %t, done: %t", err, early, done)
	case early:
		c.stoppedWhere(out)
	case !fault.goesOn && err == nil:
		c.errorf(out, "exit code 0")
	}
}

// allGone demands that no process of a job is left.
func (c *faultCase) allGone(pids []int, out string) {
	c.t.Helper()
	gone := func() bool {
		for _, pid := range pids {
			if syscall.Kill(pid, 0) == nil {
				return false
			}
		}
		return true
	}
	if !comes(gone) {
		c.errorf(out, "processes remain")
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
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
