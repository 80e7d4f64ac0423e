package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/syndtr/goleveldb/leveldb"
)

// Database is a new database of a tool's results. It is made in a temporary folder, which gets the database's name when all is there. An
// interrupt is an error of the next put.
type Database struct {
	path        string
	temporary   *temporaryFolder
	write       func(key, value []byte) error
	close       func() error
	interrupted context.Context
	unwatch     context.CancelFunc
}

// ParseBackend parses the name of a kind of database.
func ParseBackend(name string) (caffepb.DataParameter_DB, error) {
	kind, ok := caffepb.DataParameter_DB_value[strings.ToUpper(name)]
	if !ok {
		return 0, fmt.Errorf("unknown backend %q (lmdb or leveldb)", name)
	}
	return caffepb.DataParameter_DB(kind), nil
}

// CreateDatabase starts a database; one that is there already is an error.
func CreateDatabase(path, kind string) (*Database, error) {
	which, err := ParseBackend(kind)
	if err != nil {
		return nil, err
	}
	if err := CheckFolder(path, "a database"); err != nil {
		return nil, err
	}
	d := &Database{path: path}
	if err := d.absent(); err != nil {
		return nil, err
	}
	d.interrupted, d.unwatch = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if d.temporary, err = NewTemporary(path); err != nil {
		d.unwatch()
		return nil, err
	}
	if err = d.absent(); err == nil { // another process may have finished since
		err = d.open(which)
	}
	if err != nil {
		err = errors.Join(err, d.temporary.Remove())
		d.unwatch()
		return nil, err
	}
	return d, nil
}

func (d *Database) absent() error {
	if _, err := os.Lstat(d.path); err == nil {
		return fmt.Errorf("%s exists already; remove it or choose another name", d.path)
	}
	return nil
}

func (d *Database) open(which caffepb.DataParameter_DB) error {
	if which == caffepb.DataParameter_LEVELDB {
		db, err := leveldb.OpenFile(d.temporary.Path, nil)
		if err != nil {
			return fmt.Errorf("leveldb: %s: %w", d.temporary.Path, err)
		}
		d.write = func(key, value []byte) error { return db.Put(key, value, nil) }
		d.close = db.Close
		return nil
	}
	w, err := lmdb.Create(d.temporary.Path)
	if err != nil {
		return err
	}
	d.write, d.close = w.Put, w.Close
	return nil
}

// Put adds a record.
func (d *Database) Put(key, value []byte) error {
	if d.interrupted.Err() != nil {
		return d.interruption()
	}
	return d.write(key, value)
}

func (d *Database) interruption() error {
	return fmt.Errorf("interrupted; nothing was left behind of %s", d.path)
}

// Fill puts what work puts, which returns the number of records, and publishes the database. Work that is interrupted while it waits for a pipe
// is left alone.
func (d *Database) Fill(work func() (int, error)) (int, error) {
	n, err := Interruptibly(d.interrupted, work)
	if errors.Is(err, ErrLeftAlone) {
		d.close = func() error { return nil } // work may still use it
		err = d.interruption()
	}
	return n, d.Publish(err)
}

// Publish closes the database and gives it its name, if all went well; else nothing is left of it.
func (d *Database) Publish(err error) error {
	defer d.unwatch()
	if closing := d.close(); err == nil {
		err = closing // else most often the same again
	}
	if err == nil {
		err = Publish(d.temporary.Path, d.path)
	}
	if err != nil {
		return errors.Join(err, d.temporary.Remove())
	}
	return d.temporary.release()
}

// ErrLeftAlone is that of work which an interrupt could not end.
var ErrLeftAlone = errors.New("interrupted")

// Interruptibly returns what work does. After an interrupt it gives work two seconds to notice, and then leaves it alone: it may wait for a pipe
// to which nobody writes. The process should end soon then.
func Interruptibly[T any](interrupted context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() { done <- r }()
		defer pages.Catch(&r.err)
		r.value, r.err = work()
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-interrupted.Done():
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(2 * time.Second):
		var none T
		return none, ErrLeftAlone
	}
}

// EachRecord visits the records of a database once, in the order of their keys.
func EachRecord(path, kind string, visit func(r *data.Record) error) error {
	which, err := ParseBackend(kind)
	if err != nil {
		return err
	}
	source, err := data.OpenDB(&caffepb.DataParameter{Source: &path, Backend: which.Enum()})
	if err != nil {
		return err
	}
	defer source.Close()
	var r data.Record
	last := ""
	for n := 0; ; n++ {
		if err := source.Next(&r); err != nil {
			return err
		}
		if key := string(r.Key); n == 0 || key > last {
			last = key
		} else {
			return nil // the first one again
		}
		if err := visit(&r); err != nil {
			return fmt.Errorf("%s: key %q: %w", path, r.Key, err)
		}
	}
}
