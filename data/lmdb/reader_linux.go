//go:build linux && (amd64 || arm64)

package lmdb

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The lock file of liblmdb 0.9 on Linux. Every process with the database open maps its beginning:
//
//	magic u32, format u32, mutex of the table of readers, number of the last commit u64, slots in use u32,
//	then at the next multiple of 64 the writers' mutex, and at the next one the slots of 64 bytes:
//	number of the commit that is read u64, process u32, pad u32, thread u64
//
// A process holds a shared lock (fcntl) on byte 0 while it has the database open. A process that gets an exclusive lock on byte 0
// is the first, and initialises the table. Process p holds a lock on byte p while it has slots; a slot without this lock belongs
// to a dead process. This package uses open file description locks, which conflict with liblmdb's locks as usual. Several
// databases in one process do not release each other's locks.
const (
	lockFormat   = 1 | 1<<16 // version 1, with process locks
	mutexAt      = 8
	commitAt     = mutexAt + mutexSize
	usedAt       = commitAt + 8
	writersAt    = (usedAt + 8 + 63) &^ 63
	slotsAt      = writersAt + (mutexSize+63)&^63
	slotSize     = 64
	lockSize     = slotsAt + 126*slotSize // liblmdb's default number of readers
	processAt    = 8
	threadAt     = 16
	noCommit     = ^uint64(0)
	lockPatience = 5 * time.Second
)

// reader is a slot in a table of readers. While it exists, no writer reuses pages of its commit.
type reader struct {
	file  *os.File
	table []byte
	slot  []byte
}

// openReader takes a slot for the last commit to data. Like liblmdb, it creates a missing lock file.
func openReader(path string, data *os.File) (r *reader, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NONBLOCK, 0o664)
	if err != nil {
		return nil, err
	}
	r = &reader{file: f}
	if err := r.join(data); err != nil {
		r.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *reader) join(data *os.File) error {
	if info, err := r.file.Stat(); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	first, err := r.share()
	if err != nil {
		return err
	}
	if err := r.mapTable(first); err != nil {
		return err
	}
	return guardTable(func() error {
		if first {
			if err := r.initialise(data); err != nil {
				return err
			}
		}
		if err := r.check(); err != nil {
			return err
		}
		if err := r.lock(unix.F_RDLCK, int64(os.Getpid())); err != nil {
			return err
		}
		if err := lockedMutex(r.table[mutexAt:], r.claim); err != nil {
			return err
		}
		for { // repeat until the slot names the last commit
			last := r.u64(commitAt).Load()
			slotWord(r.slot, 0).Store(last)
			if r.u64(commitAt).Load() == last {
				return nil
			}
		}
	})
}

// lock locks one byte. It fails if another process holds a conflicting lock.
func (r *reader) lock(kind int16, at int64) error {
	l := unix.Flock_t{Type: kind, Start: at, Len: 1}
	return unix.FcntlFlock(r.file.Fd(), unix.F_OFD_SETLK, &l)
}

// share locks byte 0. The first process gets an exclusive lock, until initialise makes it a shared one.
func (r *reader) share() (first bool, err error) {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		if r.lock(unix.F_WRLCK, 0) == nil {
			return true, nil
		}
		if err = r.lock(unix.F_RDLCK, 0); err == nil {
			return false, nil
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) || time.Since(begun) > lockPatience {
			return false, fmt.Errorf("cannot lock it: %w", err)
		}
	}
}

func (r *reader) mapTable(first bool) error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if first && size < lockSize {
		size = lockSize
		if err := r.file.Truncate(size); err != nil {
			return err
		}
	}
	if size < slotsAt+slotSize || size > 1<<30 {
		return fmt.Errorf("a table of readers has no %d bytes", size)
	}
	r.table, err = unix.Mmap(int(r.file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return err
}

// initialise writes an empty table and makes the lock a shared one.
func (r *reader) initialise(data *os.File) error {
	last, err := newestOf(data)
	if err != nil {
		return err
	}
	clear(r.table[:slotsAt])
	le.PutUint32(r.table, metaMagic)
	le.PutUint32(r.table[4:], lockFormat)
	for _, mutex := range []int{mutexAt, writersAt} {
		le.PutUint32(r.table[mutex+mutexKind:], robustShared)
	}
	r.u64(commitAt).Store(last)
	return r.lock(unix.F_RDLCK, 0)
}

// check fails unless the table has the format above.
func (r *reader) check() error {
	switch magic, format, kind := le.Uint32(r.table), le.Uint32(r.table[4:]), le.Uint32(r.table[mutexAt+mutexKind:]); {
	case magic != metaMagic || format != lockFormat:
		return fmt.Errorf("a table of readers of an unknown kind (magic number %#x, format %#x)", magic, format)
	case kind != robustShared:
		return fmt.Errorf("its mutex is of an unknown kind (%#x): not glibc's", kind)
	}
	return nil
}

func (r *reader) u32(at int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&r.table[at])) }
func (r *reader) u64(at int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&r.table[at])) }

func slotWord(slot []byte, at int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&slot[at])) }
func process(slot []byte) *atomic.Uint32          { return (*atomic.Uint32)(unsafe.Pointer(&slot[processAt])) }

// claim takes a free slot. The caller holds the table's mutex.
func (r *reader) claim() error {
	used, most := int(r.u32(usedAt).Load()), (len(r.table)-slotsAt)/slotSize
	used = min(used, most)
	free := used
	for pass := 0; pass < 2 && free == used; pass++ {
		for free = 0; free < used && process(r.at(free)).Load() != 0; free++ {
		}
		if free < most {
			break
		}
		r.clearDead(used)
	}
	if free == most {
		return fmt.Errorf("all %d slots for readers are taken", most)
	}
	slot := r.at(free)
	process(slot).Store(0)
	slotWord(slot, 0).Store(noCommit)
	slotWord(slot, threadAt).Store(uint64(unix.Gettid()))
	if free == used {
		r.u32(usedAt).Store(uint32(free + 1))
	}
	process(slot).Store(uint32(os.Getpid()))
	r.slot = slot
	return nil
}

func (r *reader) at(slot int) []byte { return r.table[slotsAt+slot*slotSize:][:slotSize] }

// clearDead frees the slots of dead processes.
func (r *reader) clearDead(used int) {
	for i := range used {
		pid := process(r.at(i)).Load()
		l := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(pid), Len: 1}
		if int(pid) != os.Getpid() && unix.FcntlFlock(r.file.Fd(), unix.F_OFD_GETLK, &l) == nil && l.Type == unix.F_UNLCK {
			process(r.at(i)).Store(0)
		}
	}
}

// close frees the slot. Closing the file releases the locks.
func (r *reader) close() {
	if r.slot != nil {
		_ = guardTable(func() error { // an error is harmless: without its file the table has no users
			slotWord(r.slot, 0).Store(noCommit)
			process(r.slot).Store(0)
			return nil
		})
	}
	if r.table != nil {
		_ = unix.Munmap(r.table)
	}
	_ = r.file.Close()
}
