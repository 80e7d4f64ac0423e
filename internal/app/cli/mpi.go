package cli

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/launch"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// expectedFlag is the flag of commands whose processes work together.
const expectedFlag = "workers_expected"

// ElasticFlag and JoinFlag are the flags of workers that find one another without a launcher.
const (
	ElasticFlag = "elastic"
	JoinFlag    = "join"
)

// ExpectVar registers -workers_expected.
func ExpectVar(fs *flag.FlagSet, n *int) {
	fs.IntVar(n, expectedFlag, 0, "stop unless there are so many workers in all; 1: this process is alone, whatever a launcher's variables suggest (0: no check)")
}

// CheckExpected returns an error unless n workers are as many as -workers_expected says, which is 0 if it was not given.
func CheckExpected(expected, n int) error {
	if expected == 0 || expected == n {
		return nil
	}
	found := fmt.Sprintf("there are %d", n)
	if n == 1 {
		found = "this one is alone: no launcher's variables are set"
		if sibling := launch.Sibling(os.LookupEnv); sibling != "" {
			found += ", and " + sibling + " of Kubernetes tells nothing of other pods"
		}
	}
	return fmt.Errorf("-%s %d workers: %s", expectedFlag, expected, found)
}

// World returns the processes that a launcher has started with this one; the zero World if it is alone, or if the user says so.
func (e *Env) World() launch.World { return e.world }

// UnderMPI reports whether a launcher has started this process as one of several that join by MPI.
func (e *Env) UnderMPI() bool { return e.world.Several() }

// LaunchedRank is this process's rank of several, 0 if it is alone.
func (e *Env) LaunchedRank() int { return max(0, e.world.Rank) }

// settle finds out whether this process is one of several, and returns an error if it is and the command cannot join them: each would work
// alone, and they would overwrite one another's files.
func (e *Env) settle(c Command, own *flag.FlagSet) error {
	e.world = launch.World{Rank: -1}
	expected := 0
	if f := own.Lookup(expectedFlag); f != nil {
		expected, _ = strconv.Atoi(f.Value.String())
	}
	given := func(name string) bool {
		f := own.Lookup(name)
		return f != nil && f.Value.String() != ""
	}
	w := launch.Look(os.LookupEnv)
	host, _ := os.Hostname()
	ignored := launch.Ignored(os.LookupEnv, host)
	switch {
	case c.Prints, c.Joins && given(JoinFlag):
		return nil
	case c.Joins && given(ElasticFlag) && w.Several() && w.Rank != 0:
		return fmt.Errorf("%s, and each would coordinate a training of its own: start one with -%s, rank 0, and the others with -%s", w.Among(), ElasticFlag, JoinFlag)
	case c.Joins && given(ElasticFlag):
		return nil
	case !w.Several(), expected == 1 && w.Size == 0:
		e.tellSibling()
		return nil
	case expected > 0 && w.Size > 0 && expected != w.Size:
		return fmt.Errorf("-%s %d workers: %s", expectedFlag, expected, w.Among())
	case !c.Joins:
		return fmt.Errorf("%s: %s works in one process, and several would overwrite one another's files. %s", w.Among(), c.Name, aloneBy(w))
	case !w.MPI || w.Rank < 0:
		return fmt.Errorf("%s, which would train alone. %s %s", w.Among(), w.Advice, aloneBy(w))
	case ignored != "":
		return fmt.Errorf("%s, in the launcher's pod, which %s does not name: this mpirun does not know the operator's variable for the file, as Open MPI 5 and later do not. Use `mpirun --hostfile %s ...`", w.Among(), ignored, ignored)
	case !topology.HasMPI():
		return e.handOver(w)
	}
	e.world = w
	return checkRelease()
}

// aloneBy says how to start one process on purpose.
func aloneBy(w launch.World) string {
	return fmt.Sprintf("For one process on purpose: env -u %s swcaffe ...", strings.Join(w.Variables(), " -u "))
}

// tellSibling warns of a process that may be meant to work with others, but that nothing joins.
func (e *Env) tellSibling() {
	if sibling := launch.Sibling(os.LookupEnv); sibling != "" {
		e.Log.Warnf("%s: this pod is one of an indexed job of Kubernetes and works alone; pods that work together are started by the MPI operator", sibling)
	}
}

// InJob runs this process's rank of an MPI job of as many workers as expected; 0: any number. An error of any rank ends the whole job and is
// shown; of several errors, that of the lowest rank.
func InJob(e *Env, expected int, work func(job *topology.MPIJob) error) error {
	if e.world.Unwired {
		e.Log.Warnf("%s, but has set no variables of PMIx or PMI, without which few MPI libraries can join them. %s", e.world.Among(), e.world.Advice)
	}
	job, err := topology.OpenMPI()
	if err != nil && e.UnderMPI() {
		return fmt.Errorf("%s, and cannot join them: %w", e.world.Among(), err)
	}
	if err != nil {
		return err
	}
	if err := e.checkJob(job, expected); err != nil {
		job.Close()
		return err
	}
	RankLog(e, job.Rank()).Infof("Joined %d workers by MPI: %s", job.Size(), job.Library())
	job.TellWaits(func(line string) { e.Log.Warn(line) })
	if err = checkPrograms(job); err == nil {
		err = work(job)
	}
	if peer := (*solver.PeerError)(nil); errors.As(err, &peer) {
		err = errors.Join(topology.ErrAborted, err)
	}
	first := job.End(err)
	if err == nil {
		job.Close()
		return nil
	}
	if first {
		e.Log.Errorf("rank %d: %v", job.Rank(), err)
	}
	job.Abort()
	return err
}

// checkJob returns an error if a job is not what its launcher or the user says. Every process of a job that is too small finds out alone, since
// an MPI that does not know the launcher takes each for a job of its own.
func (e *Env) checkJob(job *topology.MPIJob, expected int) error {
	if w := e.world; w.Size > 0 && w.Size != job.Size() || w.Rank > 0 && job.Size() == 1 {
		return fmt.Errorf("%s, but MPI (%s) knows of %d: they do not belong together, and each would work alone. %s", w.Among(), job.Library(), job.Size(), w.Advice)
	}
	return CheckExpected(expected, job.Size())
}
