package cpe

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// thread is the operating system's thread of a worker.
type thread struct {
	id      atomic.Int32 // 0: it runs where it is put
	allowed unix.CPUSet
	avoided int // the processor it is kept from, plus one
}

// claim makes the thread of the calling goroutine its own. It can be kept from processors if there is one for each of groups.
func (t *thread) claim(groups int) {
	runtime.LockOSThread()
	if unix.SchedGetaffinity(0, &t.allowed) == nil && t.allowed.Count() >= groups {
		t.id.Store(int32(unix.Gettid()))
	}
}

// avoid keeps the thread from a processor, and from none else.
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

// processor is the number of the one that the caller runs on.
func processor() int {
	var n uint32
	unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&n)), 0, 0)
	return int(n)
}

// yield lets a thread run that waits for the caller's processor.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// sleeper puts a goroutine to sleep together with its thread, so that waking it takes one step, not two.
type sleeper struct{}

// Operations of futex(2) on words of one process.
const (
	futexWait = 128
	futexWake = 129
)

func (sleeper) init() {}

// sleep returns when it is woken, or if the word is not what it was.
func (sleeper) sleep(word *atomic.Uint32, was uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(was), 0, 0, 0)
}

// wake ends the sleep.
func (sleeper) wake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}
