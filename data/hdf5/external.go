package hdf5

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swcaffe/swcaffe/data/regular"
)

// segment is a part of another file that holds values of a dataset. Its size may be undefined for the last segment: then it has no end.
type segment struct {
	path     string
	at, size uint64
}

// parseExternal reads the list of other files with a dataset's values.
func (d *storedSet) parseExternal(b []byte) error {
	c := d.f.cursor(b)
	if version := c.u8(); version != 1 {
		return damaged("a list of external files of version %d", version)
	}
	c.skip(5) // and the number of allocated entries
	n := c.u16()
	names := &oldGroup{f: d.f}
	address := c.offset()
	if c.err != nil {
		return c.err
	}
	if err := names.openHeap(address); err != nil {
		return err
	}
	d.external = []segment{}
	for range n {
		name, at, size := c.length(), c.length(), c.length()
		if c.err != nil {
			return c.err
		}
		path, err := names.text(name)
		if err != nil {
			return err
		}
		if size == undefined>>(64-8*c.widths) {
			size = undefined
		}
		if at > 1<<62 || size > 1<<62 && size != undefined {
			return damaged("%d bytes at %d of the external file %s", size, at, path)
		}
		d.external = append(d.external, segment{path, at, size})
		if have, err := d.f.stored(&d.external[len(d.external)-1]); err == nil {
			d.f.most += float64(min(have, size))
		}
	}
	return nil
}

// checkExternal fails if the external files have no room for the values, or cannot be opened. Like libhdf5, a file that ends early has zeros there, but
// no more than a dataset may have that was never written.
func (d *storedSet) checkExternal(need uint64) error {
	room := uint64(0)
	for _, s := range d.external {
		have, err := d.f.stored(&s)
		if err != nil {
			return err
		}
		if room += min(s.size, have+mostUnwritten); room >= need {
			return nil
		}
	}
	return fmt.Errorf("shape %v of %s needs %d bytes, for which its external files have no room", d.shape, d.kind, need)
}

// stored returns the bytes of a segment that its file has.
func (f *file) stored(s *segment) (uint64, error) {
	r, err := f.beside(s.path)
	if err != nil {
		return 0, err
	}
	info, err := r.Stat()
	if err != nil {
		return 0, err
	}
	return uint64(max(0, info.Size()-int64(s.at))), nil
}

// beside opens a file that this one names: relative to the working folder, as libhdf5 does, or else to this file's folder.
func (f *file) beside(name string) (*os.File, error) {
	if open := f.others[name]; open != nil {
		return open, nil
	}
	r, err := regular.Open(name)
	if errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(name) {
		if near, nearErr := regular.Open(filepath.Join(filepath.Dir(f.r.Name()), name)); nearErr == nil {
			r, err = near, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("its values are in another file: %w", err)
	}
	f.others[name] = r
	return r, nil
}

// readExternal reads values from a byte of the dataset on.
func (d *storedSet) readExternal(b []byte, at uint64) error {
	for _, s := range d.external {
		if len(b) == 0 {
			break
		}
		if s.size != undefined && at >= s.size {
			at -= s.size
			continue
		}
		n := uint64(len(b))
		if s.size != undefined {
			n = min(n, s.size-at)
		}
		file, err := d.f.beside(s.path)
		if err != nil {
			return err
		}
		got, err := file.ReadAt(b[:n], int64(s.at+at))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		clear(b[got:n])
		b, at = b[n:], 0
	}
	return nil
}
