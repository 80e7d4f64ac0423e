package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/solver"
)

// logResumption says how a run that a signal has stopped can go on.
func logResumption(log *logrus.Logger, s *solver.Solver, resume func(state string) string) {
	state, iteration := s.LastSnapshot()
	switch {
	case !s.Stopped():
	case state == "":
		log.Warn("No snapshot was written: this run cannot go on where it stopped")
	case iteration != s.Iter():
		log.Infof("To go on from the last snapshot, at iteration %d: %s", iteration, resume(state))
	default:
		log.Infof("To go on: %s", resume(state))
	}
}

// resumption is the command line that goes on from a solver state: the one that was given, with -snapshot in the place of what the run
// started from. called is how the program was called; flag files are read, since they may say what the run started from.
func resumption(called string, args []string, state string) string {
	if expanded, err := expandFlagFiles(args, 0); err == nil {
		args = expanded
	}
	words := []string{shellWord(called)}
	takesValue := valueFlags()
	for i := 0; i < len(args); i++ {
		name, value := cutFlag(args[i])
		apart := name != "" && value == nil && takesValue[name] && i+1 < len(args)
		if name != "snapshot" && name != "weights" {
			words = append(words, shellWord(args[i]))
			if apart {
				words = append(words, shellWord(args[i+1]))
			}
		}
		if apart {
			i++
		}
	}
	return strings.Join(append(words, "-snapshot", shellWord(state)), " ")
}

var plainWord = regexp.MustCompile(`^[\w./=,:+@%-]+$`)

// shellWord quotes a word for the shell if it needs that.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// resumption returns the command line that goes on from a state, with what starts as many MPI processes as there are.
func (o *trainOptions) resumption(e *env, team *solver.Team) func(state string) string {
	return func(state string) string {
		line := e.resume(state)
		if o.workers.transport == transportMPI {
			line = fmt.Sprintf("mpirun -np %d %s", team.Transport.Size(), line)
		}
		return line
	}
}
