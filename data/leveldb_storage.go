package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

// levelDir is a read-only view of a database directory for goleveldb: without LOCK or LOG, and without writing anything.
// Databases on read-only media, and in other people's directories, can therefore be read. It merges several journals into one
// (leveldb_journals.go).
type levelDir struct{ path string }

func openLevelDir(path string) (levelDir, error) {
	info, err := os.Stat(path)
	if err != nil {
		return levelDir{}, err
	}
	if !info.IsDir() {
		return levelDir{}, fmt.Errorf("%s: not a directory", path)
	}
	return levelDir{path}, nil
}

var errReadOnly = errors.New("the database is opened for reading only")

func (levelDir) Unlock()                                         {}
func (levelDir) Log(string)                                      {}
func (levelDir) Close() error                                    { return nil }
func (d levelDir) Lock() (storage.Locker, error)                 { return d, nil }
func (levelDir) SetMeta(storage.FileDesc) error                  { return errReadOnly }
func (levelDir) Create(storage.FileDesc) (storage.Writer, error) { return nil, errReadOnly }
func (levelDir) Remove(storage.FileDesc) error                   { return errReadOnly }
func (levelDir) Rename(storage.FileDesc, storage.FileDesc) error { return errReadOnly }

// GetMeta returns the manifest named by the file CURRENT.
func (d levelDir) GetMeta() (storage.FileDesc, error) {
	text, err := regular.ReadFile(filepath.Join(d.path, "CURRENT"))
	if err != nil {
		return storage.FileDesc{}, err
	}
	fd, ok := parseLevelName(strings.TrimSuffix(string(text), "\n"))
	if !ok || fd.Type != storage.TypeManifest {
		return storage.FileDesc{}, &storage.ErrCorrupted{Err: fmt.Errorf("CURRENT says %.40q, which is no manifest", text)}
	}
	return fd, nil
}

// List implements storage.Storage. It lists one journal, under the number of the newest live one.
func (d levelDir) List(types storage.FileType) ([]storage.FileDesc, error) {
	fds, err := d.files(types &^ storage.TypeJournal)
	if err != nil || types&storage.TypeJournal == 0 {
		return fds, err
	}
	live, err := d.liveJournals()
	if len(live) > 0 {
		fds = append(fds, live[len(live)-1])
	}
	return fds, err
}

// files returns the database's files of the given types.
func (d levelDir) files(types storage.FileType) ([]storage.FileDesc, error) {
	files, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var fds []storage.FileDesc
	for _, f := range files {
		if fd, ok := parseLevelName(f.Name()); ok && fd.Type&types != 0 {
			fds = append(fds, fd)
		}
	}
	return fds, nil
}

// Open implements storage.Storage. The listed journal holds the records of all live journals.
func (d levelDir) Open(fd storage.FileDesc) (storage.Reader, error) {
	if fd.Type != storage.TypeJournal {
		return d.openFile(fd)
	}
	live, err := d.liveJournals()
	if err != nil {
		return nil, err
	}
	return &mergedJournals{dir: d, rest: live}, nil
}

// openFile opens a file. Older databases name their tables .sst.
func (d levelDir) openFile(fd storage.FileDesc) (storage.Reader, error) {
	f, err := regular.Open(filepath.Join(d.path, fd.String()))
	if errors.Is(err, fs.ErrNotExist) && fd.Type == storage.TypeTable {
		f, err = regular.Open(filepath.Join(d.path, fmt.Sprintf("%06d.sst", fd.Num)))
	}
	if err == nil && fd.Type == storage.TypeTable {
		if err = checkFooter(f); err != nil {
			err = errors.Join(&storage.ErrCorrupted{Fd: fd, Err: err}, f.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkFooter checks that the blocks named by a table's footer lie in the file. A checksum protects everything else in a table,
// but goleveldb allocates buffers of the footer's lengths without a check.
func checkFooter(f *os.File) error {
	const footer, trailer = 48, 5
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var b [footer]byte
	size := info.Size()
	if size < footer {
		return fmt.Errorf("a table of %d bytes has no footer of %d", size, footer)
	}
	if _, err := f.ReadAt(b[:], size-footer); err != nil {
		return err
	}
	rest := b[:]
	for _, name := range []string{"metaindex", "index"} {
		offset, n := binary.Uvarint(rest)
		length, m := binary.Uvarint(rest[max(n, 0):])
		if n <= 0 || m <= 0 {
			return fmt.Errorf("the footer does not say where the %s block is", name)
		}
		if end := uint64(size) - footer; offset > end || length > end-offset || end-offset-length < trailer {
			return fmt.Errorf("the footer says that the %s block is %d bytes at %d, but the blocks end at %d", name, length, offset, end)
		}
		rest = rest[n+m:]
	}
	return nil
}

// parseLevelName parses names such as MANIFEST-000002, 000003.log and 000005.ldb.
func parseLevelName(name string) (storage.FileDesc, bool) {
	kind, digits := storage.FileType(0), ""
	if rest, ok := strings.CutPrefix(name, "MANIFEST-"); ok {
		kind, digits = storage.TypeManifest, rest
	} else {
		number, ext, _ := strings.Cut(name, ".")
		digits = number
		switch ext {
		case "log":
			kind = storage.TypeJournal
		case "ldb", "sst":
			kind = storage.TypeTable
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return storage.FileDesc{Type: kind, Num: n}, err == nil && n >= 0 && kind != 0
}
