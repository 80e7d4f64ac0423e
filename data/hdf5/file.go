package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// verify is false in tests that damage structures behind a checksum: the checksum is then not checked.
var verify = true

// file is an open HDF5 file. Its contents are not trusted: lengths are compared with the file's length before memory is
// allocated.
type file struct {
	r    *os.File
	size int64
	base int64 // addresses are relative to this offset
	superblock

	// budget is the number of bytes that may still be read. A structure reachable on several paths is read again on each, so the
	// budget exceeds the file's length. In a damaged file structures may form a cycle; the budget then ends the reading.
	budget int64
	values float64 // number of values in the datasets so far
	most   float64 // limit on it
	groups map[uint64][]link
	others map[string]*os.File // external files, by the names that they have here
}

// deflateRatio is the highest compression ratio of gzip.
const deflateRatio = 1032

// open opens a file and reads its superblock.
func open(path string) (*file, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{r: r, groups: map[uint64][]link{}, others: map[string]*os.File{}}
	info, err := r.Stat()
	if err == nil {
		f.size = info.Size()
		f.budget = 1<<20 + min(f.size, math.MaxInt64/32)*16
		f.most = float64(f.size)*deflateRatio + mostUnwritten
		err = f.readSuperblock()
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (f *file) close() {
	f.r.Close()
	for _, other := range f.others {
		other.Close()
	}
}

// check fails unless n bytes at an address lie in the file.
func (f *file) check(address, n uint64, what string) error {
	length := uint64(f.size - f.base)
	if address > length || n > length-address {
		return damaged("%s of %d bytes at address %d of a file of %d", what, n, address, length)
	}
	return nil
}

// read returns n bytes at an address.
func (f *file) read(address, n uint64, what string) ([]byte, error) {
	if err := f.check(address, n, what); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, f.readInto(b, address, what)
}

func (f *file) readInto(b []byte, address uint64, what string) error {
	if err := f.check(address, uint64(len(b)), what); err != nil {
		return err
	}
	if f.budget -= int64(len(b)) + 16; f.budget < 0 {
		return damaged("its structures lead to the same places over and over, last to %s at address %d", what, address)
	}
	_, err := f.r.ReadAt(b, f.base+int64(address))
	return err
}

// readChecked reads a structure that ends with a 4-byte checksum, and returns it without the checksum.
func (f *file) readChecked(address, n uint64, what string) ([]byte, error) {
	b, err := f.read(address, n, what)
	if err != nil {
		return nil, err
	}
	if n < 4 {
		return nil, damaged("%s of %d bytes at address %d", what, n, address)
	}
	body := b[:n-4]
	if verify && binary.LittleEndian.Uint32(b[n-4:]) != lookup3(body) {
		return nil, damaged("the checksum of %s at address %d is wrong", what, address)
	}
	return body, nil
}

// allow fails if this file, or this computer's memory, cannot hold a dataset of this shape in addition to the datasets before.
func (f *file) allow(shape []int) error {
	count := 1.0
	for _, n := range shape {
		count *= float64(n)
	}
	if f.values += count; f.values > f.most {
		return fmt.Errorf("shape %v is more than a file of %d bytes can hold", shape, f.size)
	}
	if bytes := 4 * f.values; bytes > pages.Memory() {
		return &pages.TooMuch{Bytes: bytes}
	}
	return nil
}
