package data

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// levelEntries iterates over a LevelDB. Its keys and values are valid until the next move.
type levelEntries struct {
	iterator.Iterator
	db     *leveldb.DB
	path   string
	broken error // set after a panic of goleveldb
}

func openLevelDB(path string) (Source, error) {
	storage, err := openLevelDir(path)
	if err != nil {
		return nil, fmt.Errorf("leveldb: %w", err)
	}
	e, err := newLevelEntries(storage)
	if err != nil {
		return nil, fmt.Errorf("leveldb: %s: %w", path, err)
	}
	s, err := newDBSource(e, path, 0)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newLevelEntries(d levelDir) (e *levelEntries, err error) {
	defer damaged(&err)
	if _, _, err := d.manifest(); err != nil {
		return nil, err
	}
	db, err := leveldb.Open(d, &opt.Options{ReadOnly: true, ErrorIfMissing: true})
	if err != nil {
		return nil, err
	}
	return &levelEntries{Iterator: db.NewIterator(nil, &opt.ReadOptions{DontFillCache: true}), db: db, path: d.path}, nil
}

// damaged turns a panic of goleveldb into an error. goleveldb trusts the numbers in records with correct checksums.
func damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the database is damaged: %v", r)
	}
}

func (e *levelEntries) First() bool { return e.move(e.Iterator.First) }
func (e *levelEntries) Next() bool  { return e.move(e.Iterator.Next) }

func (e *levelEntries) move(to func() bool) bool {
	defer damaged(&e.broken)
	return to()
}

func (e *levelEntries) AppendValue(dst []byte) ([]byte, error) {
	return append(dst, e.Iterator.Value()...), nil
}

func (e *levelEntries) Err() error {
	err := e.broken
	if err == nil {
		err = e.Error()
	}
	if err != nil {
		return fmt.Errorf("leveldb: %s: %w", e.path, err)
	}
	return nil
}

func (e *levelEntries) Close() (err error) {
	defer damaged(&err)
	e.Release()
	return e.db.Close()
}
