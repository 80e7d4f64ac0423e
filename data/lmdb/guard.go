package lmdb

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// look calls f, which may read mapped pages but must not keep slices of them. Interference by other processes becomes an error: a
// shortened file, which makes the processor fault, or reused pages, if no reader's slot protects them.
func (db *DB) look(f func() error) (err error) {
	defer db.fault(&err, debug.SetPanicOnFault(true))
	err = f()
	if changed := db.overwritten(); changed != nil {
		return changed
	}
	return err
}

// fault, called by defer, turns a fault in the mapped file into an error.
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

// overwritten reports whether a writer may have changed pages of the opened commit. A reader's slot prevents this. Without a
// slot, let N be the opened transaction. Transaction N+1 frees pages of N, and N+3 is the first to write to them. So the pages
// are intact while N+1 is the last commit.
func (db *DB) overwritten() error {
	if db.reader != nil {
		return nil
	}
	newest, err := db.newest()
	if err != nil || newest.txn <= db.meta.txn+1 {
		return err
	}
	return fmt.Errorf("lmdb: %s: another process is writing to it (transaction %d when it was opened, %d now), and no slot in its table of readers protects the pages being read: %w",
		db.path, db.meta.txn, newest.txn, db.unlocked)
}
