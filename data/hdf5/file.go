package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/swcaffe/swcaffe/internal/pages"
)

// verify is false in tests that reach the structures behind checksums with damaged ones.
var verify = true

// file is an open HDF5 file. Nothing in it is believed: lengths are held against the file's before anything is made for them.
type file struct {
	r    *os.File
	size int64
	base int64 // where addresses count from
	superblock

	// budget is how many bytes may still be read. What is reached on many ways is read again each time, so that it is more than the
	// file's length; a damaged file's structures may go round in circles, and then it ends.
	budget int64
	values float64 // how many values datasets may still have
	groups map[uint64][]link
}

// deflateRatio is the most by which gzip shrinks anything.
const deflateRatio = 1032

// open reads a file's superblock.
func open(path string) (*file, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{r: r, groups: map[uint64][]link{}}
	info, err := r.Stat()
	if err == nil {
		f.size = info.Size()
		f.budget = 1<<20 + min(f.size, math.MaxInt64/32)*16
		f.values = float64(f.size) * deflateRatio
		err = f.readSuperblock()
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (f *file) close() { f.r.Close() }

// check is an error unless n bytes at an address lie in the file.
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

// readChecked reads a structure whose last four bytes are a checksum, and returns what stands before them.
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

// allow is an error if a file of this length, or this computer's memory, cannot hold datasets of so many values besides those before.
func (f *file) allow(shape []int) error {
	count := 1.0
	for _, n := range shape {
		count *= float64(n)
	}
	if f.values -= count; f.values < 0 {
		return fmt.Errorf("shape %v is more than a file of %d bytes can hold", shape, f.size)
	}
	if bytes := 4 * (float64(f.size)*deflateRatio - f.values); bytes > pages.Memory() {
		return &pages.TooMuch{Bytes: bytes}
	}
	return nil
}
