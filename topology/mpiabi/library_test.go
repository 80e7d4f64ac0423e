//go:build linux && (amd64 || arm64) && !(mpi && cgo)

package mpiabi

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCandidates: libraries beside the launcher come before those of the loader, and those of the launcher's MPI before the other's.
func TestCandidates(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"bin", "lib"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mpirun := filepath.Join(dir, "bin", "mpirun")
	if err := os.WriteFile(mpirun, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	here := func(name string) (string, error) {
		if name == "mpirun" {
			return mpirun, nil
		}
		return "", errors.New("none")
	}
	for _, c := range []struct {
		variable, first, before, after string
	}{
		{"OMPI_COMM_WORLD_SIZE", "lib/libmpi_abi_openmpi.so.1", "libmpi_abi_openmpi.so", "libmpi_abi_mpich.so.1"},
		{"PMIX_RANK", "lib/libmpi_abi_openmpi.so.1", "libmpi_abi.so", "libmpi_abi_mpich.so.1"},
		{"PMI_RANK", "lib/libmpi_abi_mpich.so.1", "libmpi_abi_mpich.so", "libmpi_abi_openmpi.so.1"},
		{"", "lib/libmpi_abi.so.1", "libmpi_abi.so", "libmpi_abi_openmpi.so.1"},
	} {
		_, list := candidates(func(name string) string {
			if name == c.variable {
				return "2"
			}
			return ""
		}, here)
		if want := filepath.Join(dir, c.first); list[0] != want {
			t.Errorf("%s: first %s, want %s", c.variable, list[0], want)
		}
		before, after := slices.Index(list, c.before), slices.Index(list, c.after)
		if before < len(families)*len(sonames) || after < before {
			t.Errorf("%s: %s at %d, %s at %d of %q", c.variable, c.before, before, c.after, after, list)
		}
	}
	none := func(string) (string, error) { return "", errors.New("none") }
	_, list := candidates(func(string) string { return "" }, none)
	if len(list) != len(families)*len(sonames) || slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "/") }) {
		t.Errorf("without a launcher: %q", list)
	}
}

// TestNoLibrary: the error names the file that was asked for, and why it cannot be used.
func TestNoLibrary(t *testing.T) {
	text := filepath.Join(t.TempDir(), "libmpi_abi.so")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"/none/libmpi_abi.so.1", "No such file"},
		{text, "libmpi_abi.so: "},
		{"libc.so.6", "does not have the standard ABI"},
	} {
		t.Setenv(libraryVariable, c.path)
		if _, err := open(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}
