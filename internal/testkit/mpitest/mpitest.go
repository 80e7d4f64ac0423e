// Package mpitest runs a package's tests as MPI jobs, with the mpi build. Build makes the test binary, Job the command that runs
// it.
package mpitest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Build builds the test binary of the package in the current folder with the tag mpi, and returns its path. It skips the test if
// Open MPI or a C compiler is missing, or compiles for another processor than the tests run on.
func Build(t *testing.T, name string) string {
	t.Helper()
	for _, tool := range []string{"mpirun", "pkg-config", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: the mpi build is not tested", tool)
		}
	}
	if host, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err != nil || strings.TrimSpace(string(host)) != runtime.GOARCH {
		t.Skipf("the tests are for %s, Open MPI is for %s", runtime.GOARCH, host)
	}
	binary := filepath.Join(t.TempDir(), name)
	// Without debug information it links in half the time.
	build := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-tags", "mpi", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return binary
}

// Job returns a command that runs line in four MPI processes. They share this computer's cores.
func Job(ctx context.Context, line ...string) *exec.Cmd {
	args := []string{"--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", "4"}
	return exec.CommandContext(ctx, "mpirun", append(args, line...)...)
}
