package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/syndtr/goleveldb/leveldb"
)

// Database is a new database of results. It is written in a temporary folder and renamed when complete. After an error or an interrupt, the
// records so far are kept beside it as NAME.incomplete, which data layers refuse (data.IncompleteMark). After an interrupt, the next Put fails.
type Database struct {
	// OnlyWhole drops the records after an error.
	OnlyWhole bool

	path        string
	records     int
	temporary   *temporaryFolder
	write       func(key, value []byte) error
	close       func() error
	interrupted context.Context
	unwatch     context.CancelFunc
}

// ParseBackend parses the name of a database backend.
func ParseBackend(name string) (caffepb.DataParameter_DB, error) {
	kind, ok := caffepb.DataParameter_DB_value[strings.ToUpper(name)]
	if !ok {
		return 0, Usagef("unknown backend %q (lmdb or leveldb)", name)
	}
	return caffepb.DataParameter_DB(kind), nil
}

// CreateDatabase starts a database. It fails if the database exists.
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
	if err = d.absent(); err == nil { // another process may have finished meanwhile
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
		return errInterrupted
	}
	err := d.write(key, value)
	if err == nil {
		d.records++
	}
	return err
}

// Fill calls work, which puts records and returns their number, and publishes the database. If work does not return after an
// interrupt, because it waits for a pipe, Fill abandons it.
func (d *Database) Fill(work func() (int, error)) (int, error) {
	n, err := Interruptibly(d.interrupted, work)
	if errors.Is(err, ErrLeftAlone) {
		d.close = func() error { return err } // the abandoned work may still use the database
	}
	return n, d.Publish(err)
}

// Publish closes the database and renames it. After an error it keeps what can be read of the database as an incomplete one.
func (d *Database) Publish(err error) error {
	defer d.unwatch()
	closing := d.close()
	if err == nil {
		err = closing // closing mostly repeats an earlier error
	}
	if err == nil {
		err = Publish(d.temporary.Path, d.path)
	}
	if err == nil {
		return errors.Join(d.removeIncomplete(), d.temporary.Release())
	}
	if closing == nil && d.records > 0 && !d.OnlyWhole {
		return d.keepIncomplete(err)
	}
	if errors.Is(err, errInterrupted) || errors.Is(err, ErrLeftAlone) {
		err = fmt.Errorf("%w; nothing was left behind of %s", err, d.path)
	}
	return errors.Join(err, d.temporary.Remove())
}

// incomplete is the name of the records that an error has left of the database.
func (d *Database) incomplete() string { return filepath.Clean(d.path) + ".incomplete" }

// keepIncomplete marks the closed database as incomplete and gives it its name, in place of an earlier one.
func (d *Database) keepIncomplete(cause error) error {
	text := fmt.Sprintf("%s would have had more records than these %d. What ended it: %v\n", d.path, d.records, cause)
	err := os.WriteFile(filepath.Join(d.temporary.Path, data.IncompleteMark), []byte(text), 0o666)
	if err == nil {
		err = d.removeIncomplete()
	}
	if err == nil {
		err = Publish(d.temporary.Path, d.incomplete())
	}
	if err != nil {
		return errors.Join(cause, err, d.temporary.Remove())
	}
	return errors.Join(fmt.Errorf("%w; the %d records until then are kept in %s, marked as incomplete", cause, d.records, d.incomplete()), d.temporary.Release())
}

// removeIncomplete removes what an earlier error has left of the same database.
func (d *Database) removeIncomplete() error {
	if _, err := os.Lstat(filepath.Join(d.incomplete(), data.IncompleteMark)); err != nil {
		return nil
	}
	return os.RemoveAll(d.incomplete())
}

// ErrLeftAlone reports abandoned work: an interrupt could not end it.
var ErrLeftAlone = errors.New("interrupted")

var errInterrupted = errors.New("interrupted")

// Interruptibly returns the results of work. After an interrupt, work has two seconds to return. Then Interruptibly abandons it,
// since it may wait for a pipe without a writer. The process should end soon after that. Interruptibly raises a panic of work.
func Interruptibly[T any](interrupted context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() { done <- r }()
		defer relay.CatchError(&r.err)
		defer pages.Catch(&r.err)
		r.value, r.err = work()
	}()
	select {
	case r := <-done:
		return r.value, relay.RaiseIn(r.err)
	case <-interrupted.Done():
	}
	select {
	case r := <-done:
		return r.value, relay.RaiseIn(r.err)
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
			return nil // the stream has returned to the first record
		}
		if err := visit(&r); err != nil {
			return fmt.Errorf("%s: key %q: %w", path, r.Key, err)
		}
	}
}
