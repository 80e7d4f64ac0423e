//go:build linux && (amd64 || arm64)

package lmdb

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// glibc's robust process-shared mutex (nptl, 64 bits) has 32-bit words: the lock, a count, the owner's thread, the number of
// users and the kind. The lock is 0 if free, else the owner's thread with two flags: other threads wait, and the owner has died.
// The kernel sets the second flag.
const (
	mutexOwner   = 8
	mutexUsers   = 12
	mutexKind    = 16
	robustShared = 0x10 | 0x80
	waiters      = 0x80000000
	ownerDied    = 0x40000000
	lost         = 0x7ffffffe // owner of a mutex that must not be locked any more
	futexWake    = 1
)

// robustList is read by the kernel when a thread dies. It names the one lock that the thread may hold.
type robustList struct {
	next    uintptr
	offset  int64
	pending uintptr
}

// list is the robustList of the thread in lockedMutex. The kernel keeps its address.
var list struct {
	sync.Mutex
	robustList
}

// lockedMutex calls f while it holds mutex, for a moment only. If the process is killed in that moment, the kernel marks the
// mutex, and the next process to lock it learns of the death. The same holds for liblmdb's processes.
func lockedMutex(mutex []byte, f func() error) error {
	word := func(at int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&mutex[at])) }
	list.Lock()
	defer list.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var old, size uintptr
	if _, _, err := unix.RawSyscall(unix.SYS_GET_ROBUST_LIST, 0, uintptr(unsafe.Pointer(&old)), uintptr(unsafe.Pointer(&size))); err != 0 {
		return fmt.Errorf("get_robust_list: %w", err)
	}
	list.robustList = robustList{uintptr(unsafe.Pointer(&list.robustList)), 0, uintptr(unsafe.Pointer(&mutex[0]))}
	if _, _, err := unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, uintptr(unsafe.Pointer(&list.robustList)), unsafe.Sizeof(list.robustList), 0); err != 0 {
		return fmt.Errorf("set_robust_list: %w", err)
	}
	defer unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, old, unsafe.Sizeof(list.robustList), 0)

	self := uint32(unix.Gettid())
	if err := acquire(word(0), self); err != nil {
		return err
	}
	if word(mutexOwner).Load() == lost {
		release(word(0))
		return errors.New("its mutex is not usable any more: a process that held it has died")
	}
	word(mutexOwner).Store(self)
	word(mutexUsers).Add(1)
	err := f()
	word(mutexOwner).Store(0)
	word(mutexUsers).Add(^uint32(0))
	release(word(0))
	return err
}

// acquire locks the mutex. Other processes hold it only for moments, so it polls instead of waiting in the kernel. After an
// owner's death the table needs no repair, because the last store of claim is the one that takes a slot.
func acquire(lock *atomic.Uint32, self uint32) error {
	for begun := time.Now(); ; time.Sleep(200 * time.Microsecond) {
		v := lock.Load()
		if v == 0 && lock.CompareAndSwap(0, self) || v&ownerDied != 0 && lock.CompareAndSwap(v, self|v&waiters) {
			return nil
		}
		if time.Since(begun) > lockPatience {
			return fmt.Errorf("thread %d does not let go of its mutex", v&^(waiters|ownerDied))
		}
	}
}

// release unlocks, and wakes one waiting thread.
func release(lock *atomic.Uint32) {
	if lock.Swap(0)&waiters != 0 {
		unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(lock)), futexWake, 1, 0, 0, 0)
	}
}

// guardTable turns a fault in the table into an error. A process that truncates the lock file causes one.
func guardTable(f func() error) (err error) {
	defer func(faults bool) {
		debug.SetPanicOnFault(faults)
		if r := recover(); r != nil {
			e, ok := r.(interface {
				runtime.Error
				Addr() uintptr
			})
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("the table of readers cannot be read: %w", e)
		}
	}(debug.SetPanicOnFault(true))
	return f()
}
