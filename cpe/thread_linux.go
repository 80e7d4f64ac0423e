package cpe

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// thread is a worker's operating-system thread.
type thread struct {
	id      atomic.Int32 // thread id; 0: the thread may run on any processor
	allowed unix.CPUSet
	avoided int // the processor that the thread avoids, plus one
}

// claim locks the calling goroutine to its thread. The thread can avoid processors only if there is one for each of groups.
func (t *thread) claim(groups int) {
	runtime.LockOSThread()
	if unix.SchedGetaffinity(0, &t.allowed) == nil && t.allowed.Count() >= groups {
		t.id.Store(int32(unix.Gettid()))
	}
}

// avoid keeps the thread off one processor, and allows all others.
func (t *thread) avoid(processor int) {
	id := int(t.id.Load())
	if id == 0 || t.avoided == processor+1 {
		return
	}
	others := t.allowed
	others.Clear(processor)
	if unix.SchedSetaffinity(id, &others) == nil {
		t.avoided = processor + 1
	}
}

// processor returns the number of the caller's processor.
func processor() int {
	var n uint32
	unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&n)), 0, 0)
	return int(n)
}

// yield lets other threads run on the caller's processor.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// sleeper puts a goroutine to sleep together with its thread, so that waking it takes one step, not two.
type sleeper struct{}

// Operations of futex(2) on words of one process.
const (
	futexWait = 128
	futexWake = 129
)

func (sleeper) init() {}

// sleep returns when it is woken, or at once if the word is not was.
func (sleeper) sleep(word *atomic.Uint32, was uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(was), 0, 0, 0)
}

// wake ends the sleep.
func (sleeper) wake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}
