//go:build linux && (amd64 || arm64) && !(mpi && cgo)

package mpiabi

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Constants of the standard ABI: MPI 5.0, chapter "Application binary interface", tables of handles and integers.
const (
	commWorld      = 0x101
	errorsReturn   = 0x143
	float          = 0x210       // MPI_FLOAT
	oneByte        = 0x247       // MPI_BYTE
	anyTag         = ^uintptr(1) // -2
	threadMultiple = 4096
	textBytes      = 8192 // MPI_MAX_LIBRARY_VERSION_STRING, longer than MPI_MAX_ERROR_STRING
)

// status is MPI_Status.
type status struct {
	source, tag, err int32
	internal         [5]int32
}

// functions are addresses in the library.
type functions struct {
	initThread, queryThread, setErrhandler, commDup, commRank, commSize, libraryVersion, errorString, abort, finalize,
	send, recv, sendrecv, getCount, improbe, mrecv, exit uintptr
}

// find fills in the addresses.
func (f *functions) find(handle uintptr) error {
	for _, s := range []struct {
		name string
		at   *uintptr
	}{
		{"MPI_Init_thread", &f.initThread}, {"MPI_Query_thread", &f.queryThread}, {"MPI_Comm_set_errhandler", &f.setErrhandler},
		{"MPI_Comm_dup", &f.commDup}, {"MPI_Comm_rank", &f.commRank}, {"MPI_Comm_size", &f.commSize},
		{"MPI_Get_library_version", &f.libraryVersion}, {"MPI_Error_string", &f.errorString}, {"MPI_Abort", &f.abort},
		{"MPI_Finalize", &f.finalize}, {"MPI_Send", &f.send}, {"MPI_Recv", &f.recv}, {"MPI_Sendrecv", &f.sendrecv},
		{"MPI_Get_count", &f.getCount}, {"MPI_Improbe", &f.improbe}, {"MPI_Mrecv", &f.mrecv}, {"exit", &f.exit}, // of the C library
	} {
		at, err := purego.Dlsym(handle, s.name)
		if err != nil {
			return fmt.Errorf("it has no %s: %w", s.name, err)
		}
		*s.at = at
	}
	return nil
}

// checkABI returns an error if a library has an ABI of its own, whose constants differ.
func checkABI(handle uintptr) error {
	version, err := purego.Dlsym(handle, "MPI_Abi_get_version")
	if err != nil {
		return errors.New("it does not have the standard ABI of MPI 5.0, but one of its own; for such a library build swcaffe with -tags mpi (docs/workers.md)")
	}
	n := new([2]int32)
	purego.SyscallN(version, uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&n[1])))
	if n[0] != 1 {
		return fmt.Errorf("it has version %d.%d of the standard ABI; version 1 is needed", n[0], n[1])
	}
	return nil
}

// text returns the first line that a function writes into a buffer; it gets the addresses of the buffer and of the length.
func text(function uintptr, first ...uintptr) string {
	buffer, n := new([textBytes]byte), new(int32)
	if len(first) > 0 {
		purego.SyscallN(function, first[0], uintptr(unsafe.Pointer(&buffer[0])), uintptr(unsafe.Pointer(n)))
	} else {
		purego.SyscallN(function, uintptr(unsafe.Pointer(&buffer[0])), uintptr(unsafe.Pointer(n)))
	}
	line, _, _ := bytes.Cut(buffer[:max(0, min(int(*n), textBytes))], []byte("\n"))
	return strings.Join(strings.Fields(strings.TrimRight(string(line), "\x00")), " ")
}

// failure is the error that a function's result stands for.
func (f *functions) failure(code uintptr) error {
	if int32(code) == 0 {
		return nil
	}
	return errors.New(text(f.errorString, code))
}
