package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/launch"
	"github.com/swcaffe/swcaffe/internal/base/version"
)

// mpiProgram is the program that has MPI. It is linked dynamically, which the static one must not be.
const mpiProgram = "swcaffe-mpi"

// releaseVariable tells mpiProgram which release hands over to it.
const releaseVariable = "SWCAFFE_RELEASE"

// handOver runs the command line by mpiProgram in place of this process. It returns only with an error.
func (e *Env) handOver(w launch.World) error {
	path, looked := findMPIProgram()
	if path == "" || !e.whole {
		return fmt.Errorf("%s, and %s, which joins such processes by MPI, is missing (looked for: %s). Install it beside swcaffe, and Open MPI 6 or MPICH 5; "+
			"with older ones build swcaffe with -tags mpi (docs/workers.md). %s", w.Among(), mpiProgram, looked, aloneBy(w))
	}
	err := replaceProcess(path, os.Args, append(os.Environ(), releaseVariable+"="+release()))
	return fmt.Errorf("%s, but %s cannot run: %w. It needs the C library (glibc) of this computer", w.Among(), path, err)
}

// findMPIProgram returns the path of mpiProgram, "" if it is missing, and where it was looked for.
func findMPIProgram() (path, looked string) {
	own, err := os.Executable()
	if err == nil {
		if real, err := filepath.EvalSymlinks(own); err == nil {
			own = real
		}
		beside := filepath.Join(filepath.Dir(own), mpiProgram)
		if _, err := os.Stat(beside); err == nil && beside != own {
			return beside, ""
		}
		looked = beside + ", "
	}
	path, err = exec.LookPath(mpiProgram)
	if err != nil || path == own {
		return "", looked + "PATH"
	}
	return path, ""
}

// release names the sources from which this program was built, as far as that is known.
func release() string {
	b := version.Read()
	return strings.TrimSpace(b.Version + " " + b.Commit)
}

// checkRelease returns an error if another release of swcaffe has handed over to this program.
func checkRelease() error {
	if from, ok := os.LookupEnv(releaseVariable); ok && from != release() {
		return fmt.Errorf("swcaffe %s hands over to %s %s: install the same release of both", from, mpiProgram, release())
	}
	return nil
}
