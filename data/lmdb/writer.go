package lmdb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const writePageSize = 4096

// Writer makes a new database from entries with ascending keys. It writes to a temporary file; the database appears
// under its own name when Close succeeds.
type Writer struct {
	dir  string
	tmp  *os.File
	out  *bufio.Writer
	err  error // the first write error; later calls return it
	next uint64
	main tree

	last   []byte // the last key
	leaf   *builder
	leaves []child
	zero   [writePageSize]byte
}

// Create starts a new database in directory dir and creates dir if necessary. It fails if dir already holds a database.
func Create(dir string) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("lmdb: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, dataFile)); err == nil {
		return nil, fmt.Errorf("lmdb: %s holds a database already; remove it or choose another name", dir)
	}
	tmp, err := os.CreateTemp(dir, dataFile+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("lmdb: %w", err)
	}
	w := &Writer{dir: dir, tmp: tmp, out: bufio.NewWriterSize(tmp, 1<<20), next: 2, leaf: newBuilder()}
	w.write(w.zero[:]) // space for the meta pages, which are written last
	w.write(w.zero[:])
	return w, w.err
}

// Put appends an entry. Keys have 1 to MaxKeySize bytes, each greater (bytewise) than the one before.
func (w *Writer) Put(key, value []byte) error {
	switch {
	case w.err != nil:
		return w.err
	case w.tmp == nil:
		return fmt.Errorf("lmdb: %s: Put after Close", w.dir)
	case len(key) == 0 || len(key) > MaxKeySize:
		return fmt.Errorf("lmdb: %s: key of %d bytes, must be 1 to %d", w.dir, len(key), MaxKeySize)
	case w.last != nil && bytes.Compare(w.last, key) >= 0:
		return fmt.Errorf("lmdb: %s: key %q does not come after %q", w.dir, key, w.last)
	case uint64(len(value)) > 0xffffffff:
		return fmt.Errorf("lmdb: %s: value of %d bytes is too long", w.dir, len(value))
	}
	size := nodeHeader + len(key) + len(value)
	big := size > maxNode
	if big {
		size = nodeHeader + len(key) + 8
	}
	if !w.leaf.fits(size) {
		w.flushLeaf()
	}
	n := w.leaf.add(size)
	le.PutUint16(n, uint16(len(value)))
	le.PutUint16(n[2:], uint16(len(value)>>16))
	le.PutUint16(n[6:], uint16(len(key)))
	copy(n[nodeHeader:], key)
	if big {
		le.PutUint16(n[4:], nodeBigData)
		le.PutUint64(n[nodeHeader+len(key):], w.writeOverflow(value))
	} else {
		copy(n[nodeHeader+len(key):], value)
	}
	w.last = append(w.last[:0], key...)
	w.main.entries++
	return w.err
}

// Close finishes the database: branch pages, meta pages, sync, rename. If it fails, no files remain.
func (w *Writer) Close() error {
	if w.tmp == nil {
		return w.err
	}
	w.main.root = noPage
	if w.leaf.count > 0 {
		w.flushLeaf()
		w.main.root, w.main.depth = w.leaves[0].pgno, 1
		for level := w.leaves; len(level) > 1; w.main.depth++ {
			level = w.writeBranches(level)
			w.main.root = level[0].pgno
		}
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		w.err = w.writeMetas()
	}
	if w.err == nil {
		w.err = w.tmp.Sync()
	}
	if w.err == nil {
		w.err = w.tmp.Chmod(0o644)
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	return w.publish()
}

// publish gives the finished file its name, beside an empty lock file that liblmdb fills when it opens the database.
func (w *Writer) publish() error {
	name := w.tmp.Name()
	err := w.tmp.Close()
	w.tmp = nil
	if err == nil {
		var lock *os.File
		if lock, err = os.OpenFile(filepath.Join(w.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644); err == nil {
			err = lock.Close()
		}
	}
	if err == nil {
		err = w.giveName(name)
	}
	if err != nil {
		w.err = fmt.Errorf("lmdb: %w", errors.Join(err, os.Remove(name)))
		return w.err
	}
	if d, err := os.Open(w.dir); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}

// giveName gives the finished file its name. If another writer has published a database meanwhile, that one stays.
func (w *Writer) giveName(temporary string) error {
	name := filepath.Join(w.dir, dataFile)
	err := os.Link(temporary, name) // unlike a rename, a link replaces nothing
	if err == nil {
		return os.Remove(temporary)
	}
	if _, exists := os.Lstat(name); exists == nil {
		return fmt.Errorf("%s holds a database already, which was made meanwhile", w.dir)
	}
	return os.Rename(temporary, name) // this file system has no links
}

// Abort discards the entries written so far. It does nothing after Close.
func (w *Writer) Abort() error {
	if w.tmp == nil {
		return nil
	}
	err := errors.Join(w.tmp.Close(), os.Remove(w.tmp.Name()))
	w.tmp = nil
	return err
}

func (w *Writer) write(p []byte) {
	if w.err == nil {
		if _, err := w.out.Write(p); err != nil {
			w.err = fmt.Errorf("lmdb: %w", err)
		}
	}
}

// writeOverflow writes a value on overflow pages and returns the number of the first.
func (w *Writer) writeOverflow(value []byte) uint64 {
	pages := overflowPages(len(value), writePageSize)
	var head [pageHeader]byte
	le.PutUint64(head[:], w.next)
	le.PutUint16(head[10:], flagOverflow)
	le.PutUint32(head[12:], uint32(pages))
	w.write(head[:])
	w.write(value)
	w.write(w.zero[:pages*writePageSize-pageHeader-len(value)])
	first := w.next
	w.next += uint64(pages)
	w.main.overflow += uint64(pages)
	return first
}

func (w *Writer) flushLeaf() {
	w.leaves = append(w.leaves, child{bytes.Clone(w.leaf.firstKey()), w.next})
	w.flush(w.leaf, flagLeaf)
	w.main.leaf++
}

// flush writes b as the next page and empties it.
func (w *Writer) flush(b *builder, kind uint16) {
	b.seal(w.next, kind)
	w.write(b.page)
	w.next++
	clear(b.page)
	b.count, b.upper = 0, writePageSize
}

// writeMetas writes two meta pages: page 0 for an empty database (transaction 0), page 1 for this one (transaction 1). The map
// size leaves room for liblmdb users to add entries.
func (w *Writer) writeMetas() error {
	m := meta{pageSize: writePageSize, mapSize: max(1<<30, 4*w.next*writePageSize), main: tree{root: noPage}, lastPage: 1}
	pages := make([]byte, 2*writePageSize)
	m.put(pages, 0)
	m.main, m.lastPage, m.txn = w.main, w.next-1, 1
	m.put(pages[writePageSize:], 1)
	_, err := w.tmp.WriteAt(pages, 0)
	return err
}
