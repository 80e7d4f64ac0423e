// Package mpitest lets a package's tests run as MPI jobs of the mpi build.
package mpitest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Build builds the test binary of the package in the current folder for MPI, under a name, and returns its path. The test is skipped
// where Open MPI or a C compiler is missing.
func Build(t *testing.T, name string) string {
	t.Helper()
	for _, tool := range []string{"mpirun", "pkg-config", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: the mpi build is not tested", tool)
		}
	}
	binary := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "test", "-c", "-tags", "mpi", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return binary
}

// Job is a command line in each of four processes, which share this computer's cores.
func Job(ctx context.Context, line ...string) *exec.Cmd {
	args := []string{"--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", "4"}
	return exec.CommandContext(ctx, "mpirun", append(args, line...)...)
}
