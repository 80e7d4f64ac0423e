package lmdb

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// look calls f, which may read mapped pages and must keep no slice of them. Two things that others do to the file become errors:
// that it gets shorter, so that the processor faults; and, where no reader's slot keeps its pages, that a writer gives them away.
func (db *DB) look(f func() error) (err error) {
	defer db.fault(&err, debug.SetPanicOnFault(true))
	err = f()
	if changed := db.overwritten(); changed != nil {
		return changed
	}
	return err
}

// fault, deferred, makes an error of a fault in the mapped file.
func (db *DB) fault(err *error, faults bool) {
	debug.SetPanicOnFault(faults)
	r := recover()
	if r == nil {
		return
	}
	e, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok || len(db.data) == 0 {
		panic(r)
	}
	at := e.Addr() - uintptr(unsafe.Pointer(&db.data[0]))
	if at >= uintptr(len(db.data)) {
		panic(r)
	}
	what := "it cannot be read"
	if info, failed := os.Stat(db.path); failed == nil && info.Size() < int64(len(db.data)) {
		what = fmt.Sprintf("it had %d bytes when it was opened and has %d now", len(db.data), info.Size())
	}
	*err = fmt.Errorf("lmdb: %s: byte %d: %s", db.path, at, what)
}

// overwritten reports whether pages that the database was opened with may hold something else by now. A reader's slot keeps writers
// from them. Without one, transaction N+1 sets pages free that were there in transaction N, and N+3 is the first to write to them: they are
// as they were while N+1 is the last that was committed.
func (db *DB) overwritten() error {
	if db.reader != nil {
		return nil
	}
	newest, err := db.newest()
	if err != nil || newest.txn <= db.meta.txn+1 {
		return err
	}
	return fmt.Errorf("lmdb: %s: another process is writing to it (transaction %d when it was opened, %d now), and there is no lock that keeps what is read: %w",
		db.path, db.meta.txn, newest.txn, db.unlocked)
}
