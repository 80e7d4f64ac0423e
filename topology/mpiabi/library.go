//go:build linux && (amd64 || arm64) && !(mpi && cgo)

package mpiabi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebitengine/purego"
)

// libraryVariable names the library to use, in place of those that are looked for.
const libraryVariable = "SWCAFFE_MPI_LIBRARY"

// families are the endings by which Debian tells the libraries of its two MPIs; "" is the standard's name.
var families = []string{"", "_openmpi", "_mpich"}

// sonames are the endings of file names: MPI 5.0 counts the ABI's versions from 1, early builds from 0.
var sonames = []string{".so.1", ".so.0", ".so.1.0.0", ".so.0.0.0", ".so"}

// candidates lists the files to try, the most fitting first. A library must belong to the launcher, so that the folders beside the launcher come
// first; of libraries that the loader finds by name, those of the MPI that the launcher's variables name.
func candidates(get func(string) string, lookPath func(string) (string, error)) (folders, list []string) {
	order := slices.Clone(families)
	if get("OMPI_COMM_WORLD_SIZE") != "" || get("PMIX_RANK") != "" {
		order = []string{"_openmpi", "", "_mpich"}
	} else if get("PMI_RANK") != "" || get("PMI_PORT") != "" {
		order = []string{"_mpich", "", "_openmpi"}
	}
	folders = []string{get("OMPI_LIBDIR_LOC")} // Open MPI 6 says where its libraries are
	for _, name := range []string{"mpirun", "mpiexec"} {
		if path, err := lookPath(name); err == nil {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			folders = append(folders, filepath.Join(filepath.Dir(path), "..", "lib"))
		}
	}
	slices.Sort(folders[1:])
	folders = append(slices.DeleteFunc(slices.Compact(folders), func(s string) bool { return s == "" }), "")
	for _, folder := range folders {
		for _, family := range order {
			for _, so := range sonames {
				list = append(list, filepath.Join(folder, "libmpi_abi"+family+so))
			}
		}
	}
	return folders[:len(folders)-1], list
}

// load opens the first library that there is, and returns its name.
func load() (handle uintptr, name string, err error) {
	const mode = purego.RTLD_NOW | purego.RTLD_GLOBAL // the library opens components that use its symbols
	if name := os.Getenv(libraryVariable); name != "" {
		if handle, err = purego.Dlopen(name, mode); err != nil {
			return 0, "", fmt.Errorf("MPI: %s=%s: %w", libraryVariable, name, err)
		}
		return handle, name, nil
	}
	var damaged []string
	folders, list := candidates(os.Getenv, exec.LookPath)
	for _, name := range list {
		if handle, err = purego.Dlopen(name, mode); err == nil {
			return handle, name, nil
		}
		if !missing(err, name) {
			damaged = append(damaged, err.Error())
		}
	}
	return 0, "", fmt.Errorf("no MPI library with the standard ABI of MPI 5.0: looked for libmpi_abi, libmpi_abi_openmpi and libmpi_abi_mpich (%s) in %s. "+
		"Install Open MPI 6 or MPICH 5, name a library in %s, or build swcaffe with -tags mpi for an older one (docs/workers.md)%s",
		strings.Join(sonames, ", "), strings.Join(append(folders, "LD_LIBRARY_PATH and the loader's folders"), ", "), libraryVariable, strings.Join(append([]string{""}, damaged...), "; "))
}

// missing reports whether an error of the loader says that there is no such file, and not that the file cannot be used.
func missing(err error, name string) bool {
	return strings.Contains(err.Error(), name+": cannot open shared object file: No such file")
}
