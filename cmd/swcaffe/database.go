package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/syndtr/goleveldb/leveldb"
)

// database is a new database of a tool's results. It is written under a temporary name and gets its own when it is closed. An
// interrupt is an error of the next put.
type database struct {
	path, temporary string
	write           func(key, value []byte) error
	close           func() error
	interrupted     context.Context
	unwatch         context.CancelFunc
}

// backend parses the name of a kind of database.
func backend(name string) (caffepb.DataParameter_DB, error) {
	kind, ok := caffepb.DataParameter_DB_value[strings.ToUpper(name)]
	if !ok {
		return 0, fmt.Errorf("unknown backend %q (lmdb or leveldb)", name)
	}
	return caffepb.DataParameter_DB(kind), nil
}

// createDatabase starts a database; one that is there already is an error.
func createDatabase(path, kind string) (*database, error) {
	which, err := backend(kind)
	if err != nil {
		return nil, err
	}
	if err := checkFolder(path, "a database"); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s exists already; remove it or choose another name", path)
	}
	d := &database{path: path, temporary: path + ".partial"}
	if err := os.RemoveAll(d.temporary); err != nil {
		return nil, err
	}
	d.interrupted, d.unwatch = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := d.open(which); err != nil {
		d.unwatch()
		return nil, err
	}
	return d, nil
}

func (d *database) open(which caffepb.DataParameter_DB) error {
	if which == caffepb.DataParameter_LEVELDB {
		db, err := leveldb.OpenFile(d.temporary, nil)
		if err != nil {
			return fmt.Errorf("leveldb: %s: %w", d.temporary, err)
		}
		d.write = func(key, value []byte) error { return db.Put(key, value, nil) }
		d.close = db.Close
		return nil
	}
	w, err := lmdb.Create(d.temporary)
	if err != nil {
		return err
	}
	d.write, d.close = w.Put, w.Close
	return nil
}

// put adds a record.
func (d *database) put(key, value []byte) error {
	if d.interrupted.Err() != nil {
		return fmt.Errorf("interrupted; nothing was left behind of %s", d.path)
	}
	return d.write(key, value)
}

// publish closes the database and gives it its name, if all went well; else nothing is left of it.
func (d *database) publish(err error) error {
	defer d.unwatch()
	if closing := d.close(); err == nil {
		err = closing // else most often the same again
	}
	if err == nil {
		err = os.Rename(d.temporary, d.path)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(d.temporary))
	}
	return err
}

// eachRecord visits the records of a database once, in the order of their keys.
func eachRecord(path, kind string, visit func(r *data.Record) error) error {
	which, err := backend(kind)
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
