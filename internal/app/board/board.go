// Package board reads the files of train -log_json in folders, and follows those that still grow.
//
// A Board has a list of runs, each with an events.History. Scan looks for new files and reads what others have grown by.
package board

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Run is a file of events. A file that is cut or replaced by a shorter one gets a new History.
type Run struct {
	Name    string // path of the file, relative to the folder, without its extension
	History *events.History
}

// Board is a set of runs. It may be used by several goroutines.
type Board struct {
	roots []string

	mu    sync.Mutex
	files map[string]*file // by path
}

// file is a file that is followed.
type file struct {
	name    string
	read    int64 // bytes of whole lines read so far
	history *events.History
	isRun   bool // it has had an event
}

// extensions are those of files that may have events.
var extensions = []string{".jsonl", ".json", ".ndjson", ".log"}

// New returns a board of folders, which are searched with their subfolders, and of files.
func New(roots []string) (*Board, error) {
	for _, r := range roots {
		if _, err := os.Stat(r); err != nil {
			return nil, err
		}
	}
	return &Board{roots: roots, files: map[string]*file{}}, nil
}

// Scan reads what is new. It returns the files that could not be read, as one error.
func (b *Board) Scan() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, root := range b.roots {
		errs = append(errs, regular.Walk(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				errs = append(errs, err)
				return nil
			case d.IsDir() || path != root && !slices.Contains(extensions, strings.ToLower(filepath.Ext(path))):
				return nil
			}
			if err := b.follow(root, path); err != nil {
				errs = append(errs, err)
			}
			return nil
		}))
	}
	return errors.Join(errs...)
}

// follow reads what a file has grown by.
func (b *Board) follow(root, path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	f := b.files[path]
	if f == nil || info.Size() < f.read {
		f = &file{name: nameOf(root, path, len(b.roots) > 1), history: &events.History{}}
		b.files[path] = f
	}
	if info.Size() == f.read {
		return nil
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	return f.take(io.NewSectionReader(from, f.read, info.Size()-f.read))
}

// nameOf names a run by its file's path below a root, with the root's own name if there are several.
func nameOf(root, path string, several bool) string {
	name, err := filepath.Rel(root, path)
	if err != nil || name == "." {
		name = filepath.Base(path)
	} else if several {
		name = filepath.Join(filepath.Base(root), name)
	}
	return strings.TrimSuffix(filepath.ToSlash(name), filepath.Ext(name))
}

// maxLine limits a line, as in events.Read.
const maxLine = 64 << 20

// take reads the whole lines of a part of a file. Lines that are no events are skipped.
func (f *file) take(r io.Reader) error {
	var buffer []byte
	block := make([]byte, 1<<20)
	for {
		n, err := r.Read(block)
		buffer = append(buffer, block[:n]...)
		for {
			end := bytes.IndexByte(buffer, '\n')
			if end < 0 {
				break
			}
			line := buffer[:end]
			buffer = buffer[end+1:]
			f.read += int64(end + 1)
			if e, err := events.Parse(line); err == nil {
				f.isRun = true
				f.history.Take(e)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(buffer) > maxLine:
			return fmt.Errorf("a line has more than %d bytes", maxLine)
		}
	}
}

// Runs lists the runs by name.
func (b *Board) Runs() []Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Run
	for _, f := range b.files {
		if f.isRun {
			list = append(list, Run{f.name, f.history})
		}
	}
	slices.SortFunc(list, func(a, b Run) int { return strings.Compare(a.Name, b.Name) })
	return list
}
