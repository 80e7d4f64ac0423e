package data

import "github.com/swcaffe/swcaffe/data/lmdb"

// lmdbEntries iterates over an LMDB.
type lmdbEntries struct {
	*lmdb.Cursor
	db *lmdb.DB
}

func (e lmdbEntries) Close() error { return e.db.Close() }

func openLMDB(path string) (Source, error) {
	db, err := lmdb.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := newDBSource(lmdbEntries{db.Cursor(), db}, path, uint64(db.Len()))
	if err != nil {
		return nil, err
	}
	return s, nil
}
