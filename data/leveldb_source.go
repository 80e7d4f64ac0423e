package data

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// levelEntries walks over a LevelDB. Its keys and values are valid until the next move.
type levelEntries struct {
	iterator.Iterator
	db   *leveldb.DB
	path string
}

func openLevelDB(path string) (Source, error) {
	storage, err := openLevelDir(path)
	if err != nil {
		return nil, fmt.Errorf("leveldb: %w", err)
	}
	db, err := leveldb.Open(storage, &opt.Options{ReadOnly: true, ErrorIfMissing: true})
	if err != nil {
		return nil, fmt.Errorf("leveldb: %s: %w", path, err)
	}
	it := db.NewIterator(nil, &opt.ReadOptions{DontFillCache: true})
	s, err := newDBSource(levelEntries{it, db, path}, path, 0)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (e levelEntries) Value() ([]byte, error) { return e.Iterator.Value(), nil }

func (e levelEntries) Err() error {
	if err := e.Error(); err != nil {
		return fmt.Errorf("leveldb: %s: %w", e.path, err)
	}
	return nil
}

func (e levelEntries) Close() error {
	e.Release()
	return e.db.Close()
}
