package lmdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swcaffe/swcaffe/data/regular"
)

// DB is an LMDB database opened for reading. Several goroutines may use it, each with a Cursor of its own.
type DB struct {
	path     string // path of the data file
	data     []byte
	unmap    func() error
	meta     meta
	reader   *reader // nil: no slot in the table of readers
	unlocked error   // the reason for having no slot
}

// Open opens the database in directory path (the usual form), or the data file path itself. It reads the state of the last
// commit, whatever other processes write meanwhile. As in liblmdb, Open takes a slot in the lock file's table of readers, so that
// no writer reuses pages of this commit. Where no slot can be had, for example on read-only media, it reads without one; then a
// concurrent write to these pages is an error.
func Open(path string) (*DB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("lmdb: %w", err)
	}
	file, lock := path, path+"-lock"
	if info.IsDir() {
		file, lock = filepath.Join(path, dataFile), filepath.Join(path, lockFile)
	} else if _, err := os.Stat(lock); err != nil && filepath.Base(path) == dataFile {
		lock = filepath.Join(filepath.Dir(path), lockFile)
	}
	f, err := regular.Open(file)
	switch {
	case info.IsDir() && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("lmdb: no database in folder %q: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("lmdb: %w", err)
	}
	defer f.Close()
	db := &DB{path: file, unmap: func() error { return nil }}
	if err := db.open(f, lock); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// open takes the slot before it maps the file: the pages of the commit that the slot protects, and of later ones, are then not
// overwritten. A commit between the map and the look at the meta pages may have made the file longer than the map: open maps it anew.
func (db *DB) open(f *os.File, lock string) error {
	if _, err := newestOf(f); err == nil { // create no lock file beside a file that is no database
		db.reader, db.unlocked = openReader(lock, f)
	}
	for {
		var err error
		if db.data, db.unmap, err = mapFile(f); err != nil {
			db.unmap = func() error { return nil }
			return fmt.Errorf("lmdb: %w", err)
		}
		if err := db.look(db.readMetas); err != nil {
			return err
		}
		if mapped := uint64(len(db.data)); db.meta.lastPage < mapped/uint64(db.meta.pageSize) {
			return nil
		} else if info, err := f.Stat(); err != nil || uint64(info.Size()) <= mapped {
			return err // a file that ends early; a page beyond its end is an error when it is read
		}
		if err := db.unmap(); err != nil {
			return fmt.Errorf("lmdb: %w", err)
		}
	}
}

// newestOf returns the transaction number of a file's last commit.
func newestOf(f *os.File) (uint64, error) {
	db := DB{path: f.Name(), data: make([]byte, 2*maxPageSize)}
	n, err := f.ReadAt(db.data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	db.data = db.data[:n]
	m, err := db.newest()
	return m.txn, err
}

// newest returns the meta page of the last commit.
func (db *DB) newest() (meta, error) {
	m, err := readMeta(db.data)
	if err != nil {
		return meta{}, db.corrupt(0, "%v", err)
	}
	second, err := readMeta(db.data[min(m.pageSize, len(db.data)):])
	if err != nil {
		return meta{}, db.corrupt(1, "%v", err)
	}
	if second.pageSize != m.pageSize {
		return meta{}, db.corrupt(1, "page size %d, but page 0 says %d", second.pageSize, m.pageSize)
	}
	m.number, second.number = 0, 1
	if second.txn > m.txn {
		return second, nil
	}
	return m, nil
}

// readMetas reads the meta page of the last commit and checks its main database. It retries if the meta page is being written at
// the moment.
func (db *DB) readMetas() error {
	m, err := db.newest()
	for range 1000 {
		again, failed := db.newest()
		if err == nil && failed == nil && again == m {
			break
		}
		m, err = again, failed
	}
	if err != nil {
		return err
	}
	main := m.main
	switch {
	case main.flags != 0:
		return fmt.Errorf("lmdb: %s: database flags %#x (duplicates or another key order) are not supported", db.path, main.flags)
	case main.root == noPage && main.entries != 0:
		return db.corrupt(m.number, "%d entries but no root page", main.entries)
	case main.root != noPage && (main.depth < 1 || main.depth > maxDepth):
		return db.corrupt(m.number, "tree depth %d is outside 1..%d", main.depth, maxDepth)
	}
	db.meta = m
	return nil
}

// Len returns the number of entries.
func (db *DB) Len() int { return int(db.meta.main.entries) }

// Close releases the file. Cursors must not be used afterwards.
func (db *DB) Close() error {
	if db.reader != nil {
		db.reader.close()
		db.reader = nil
	}
	if db.data == nil {
		return nil
	}
	db.data = nil
	return db.unmap()
}

func (db *DB) corrupt(pgno uint64, format string, args ...any) error {
	return fmt.Errorf("lmdb: %s: page %d: %s", db.path, pgno, fmt.Sprintf(format, args...))
}

// span returns count pages from pgno on. They must lie inside the database and the file, and start with a header of the wanted
// kind.
func (db *DB) span(pgno, count uint64, kind uint16) ([]byte, error) {
	size := uint64(db.meta.pageSize)
	have := uint64(len(db.data)) / size
	switch {
	case pgno < 2 || pgno > db.meta.lastPage:
		return nil, db.corrupt(pgno, "referred to, but data pages are 2..%d", db.meta.lastPage)
	case pgno >= have || count > have-pgno:
		return nil, db.corrupt(pgno, "%d pages wanted, but the file ends early, at page %d", count, have)
	}
	p := db.data[pgno*size : (pgno+count)*size]
	if n := le.Uint64(p); n != pgno {
		return nil, db.corrupt(pgno, "its header has page number %d", n)
	}
	if flags := le.Uint16(p[10:]); flags&pageKind != kind {
		return nil, db.corrupt(pgno, "flags %#x, %s page expected", flags, kindName(kind))
	}
	return p, nil
}

func kindName(kind uint16) string {
	switch kind {
	case flagBranch:
		return "branch"
	case flagLeaf:
		return "leaf"
	}
	return "overflow"
}

// page is a branch or leaf page after checking.
type page struct {
	number uint64
	data   []byte
	nodes  int
	upper  int
}

func (db *DB) page(pgno uint64, kind uint16) (page, error) {
	data, err := db.span(pgno, 1, kind)
	if err != nil {
		return page{}, err
	}
	lower, upper := int(le.Uint16(data[12:])), int(le.Uint16(data[14:]))
	if lower < pageHeader || lower%2 != 0 || upper < lower || upper > len(data) {
		return page{}, db.corrupt(pgno, "free space from %d to %d in a page of %d bytes", lower, upper, len(data))
	}
	p := page{number: pgno, data: data, nodes: (lower - pageHeader) / 2, upper: upper}
	if p.nodes == 0 {
		return page{}, db.corrupt(pgno, "%s page without nodes", kindName(kind))
	}
	return p, nil
}

// node returns node i of p, from its header to the end of the page, and the node's key.
func (db *DB) node(p page, i int) (node, key []byte, err error) {
	at := int(le.Uint16(p.data[pageHeader+2*i:]))
	if at < p.upper || at+nodeHeader > len(p.data) {
		return nil, nil, db.corrupt(p.number, "node %d at offset %d, outside %d..%d", i, at, p.upper, len(p.data)-nodeHeader)
	}
	node = p.data[at:]
	size := int(le.Uint16(node[6:]))
	if nodeHeader+size > len(node) {
		return nil, nil, db.corrupt(p.number, "key of node %d has %d bytes, the page ends after %d", i, size, len(node)-nodeHeader)
	}
	return node, node[nodeHeader : nodeHeader+size], nil
}

// child returns the page that branch node i of p points to.
func (db *DB) child(p page, i int) (uint64, error) {
	n, _, err := db.node(p, i)
	if err != nil {
		return 0, err
	}
	return uint64(le.Uint16(n)) | uint64(le.Uint16(n[2:]))<<16 | uint64(le.Uint16(n[4:]))<<32, nil
}

// value returns the value of leaf node i of p, a slice of the mapped file.
func (db *DB) value(p page, i int) ([]byte, error) {
	n, key, err := db.node(p, i)
	if err != nil {
		return nil, err
	}
	size, flags := uint64(le.Uint16(n))|uint64(le.Uint16(n[2:]))<<16, le.Uint16(n[4:])
	n = n[nodeHeader+len(key):]
	switch {
	case flags&^nodeBigData != 0:
		return nil, db.corrupt(p.number, "node %d has flags %#x: named databases and duplicates are not supported", i, flags)
	case flags&nodeBigData == 0:
		if size > uint64(len(n)) {
			return nil, db.corrupt(p.number, "value of node %d has %d bytes, the page ends after %d", i, size, len(n))
		}
		return n[:size:size], nil
	case len(n) < 8:
		return nil, db.corrupt(p.number, "node %d has no room for its overflow page number", i)
	}
	pages := uint64(overflowPages(int(size), db.meta.pageSize))
	pgno := le.Uint64(n)
	data, err := db.span(pgno, pages, flagOverflow)
	if err != nil {
		return nil, fmt.Errorf("%w (value of node %d on page %d)", err, i, p.number)
	}
	if have := uint64(le.Uint32(data[12:])); have < pages {
		return nil, db.corrupt(pgno, "%d overflow pages, but the value of %d bytes needs %d", have, size, pages)
	}
	return data[pageHeader : pageHeader+size : pageHeader+size], nil
}
