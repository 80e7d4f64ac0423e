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

// glibc's robust mutex between processes (nptl, 64 bits): words of 32 bits for the lock, a count, the owner's thread, the number of users and
// the kind. The lock is 0, or the owner's thread with two flags: somebody waits for it, and the owner has died, which the kernel sets.
const (
	mutexOwner   = 8
	mutexUsers   = 12
	mutexKind    = 16
	robustShared = 0x10 | 0x80
	waiters      = 0x80000000
	ownerDied    = 0x40000000
	lost         = 0x7ffffffe // the owner of a mutex that is not to be locked any more
	futexWake    = 1
)

// robustList is what the kernel looks at when a thread dies: the one lock that it may hold.
type robustList struct {
	next    uintptr
	offset  int64
	pending uintptr
}

// list is that of the thread that is in lockedMutex. The kernel keeps its address.
var list struct {
	sync.Mutex
	robustList
}

// lockedMutex calls f with a mutex, which is held for a moment only. If the process is killed in that moment, the kernel tells whoever locks
// the mutex next, as it does for liblmdb's own processes.
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

// acquire locks. Others hold the lock for moments, so that looking again is as good as waiting for them. What an owner that has died was doing to the
// table needs no repair: a slot is claimed by its last store.
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

// release unlocks, and wakes one of those that wait.
func release(lock *atomic.Uint32) {
	if lock.Swap(0)&waiters != 0 {
		unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(lock)), futexWake, 1, 0, 0, 0)
	}
}

// guardTable makes an error of a fault in the table, whose file somebody has cut.
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
