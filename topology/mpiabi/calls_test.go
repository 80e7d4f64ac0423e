//go:build linux && (amd64 || arm64) && !(mpi && cgo)

package mpiabi

import (
	"sync"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestCallsAllocateNothing: messages allocate nothing. A function without arguments stands for the library's, which may be missing here.
func TestCallsAllocateNothing(t *testing.T) {
	racing.SkipSequential(t) // it also makes sync.Pool forget
	handle, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Skip(err)
	}
	nothing, err := purego.Dlsym(handle, "sched_yield") // it takes no arguments and returns 0
	if err != nil {
		t.Fatal(err)
	}
	f := functions{send: nothing, recv: nothing, sendrecv: nothing, getCount: nothing}
	b := &binding{functions: f, scratch: sync.Pool{New: func() any { return new(results) }}}
	values := make([]float32, 8)
	if n := testing.AllocsPerRun(100, func() {
		b.Send(values, 0, 0)
		b.Recv(values, 0)
		b.SendRecv(values, 0, 0, values, 0)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
