package hdf5

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
)

// File is the content of a file for Write. Groups that hold a dataset may be left out of Groups; empty groups must be listed.
// Paths are read as Clean reads them.
type File struct {
	Groups   []string  // "/data/relu1"
	Floats   []Dataset // 32-bit floats
	Integers []Integers
	Strings  []String
}

// Integers is a dataset of 32-bit integers along one axis.
type Integers struct {
	Path string
	Data []int32
}

// String is a dataset of one string, without axes.
type String struct{ Path, Text string }

// Check returns the error of Write for this list of paths, whatever the values: an invalid path, or two equal ones.
func (f *File) Check() error {
	_, err := f.tree()
	return err
}

// Write creates or overwrites a file. Its datasets are contiguous, which every libhdf5 reads.
func Write(path string, f *File) error {
	root, err := f.tree()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(out, root)
	if closing := out.Close(); err == nil {
		err = closing
	}
	return err
}

// write writes the superblock, then the values of all datasets, then the headers and groups with their addresses.
func write(out *os.File, root *node) error {
	end := uint64(superblockSize)
	root.place(&end)
	l := &listing{base: end}
	top := l.group(root)
	w := bufio.NewWriterSize(out, 1<<16)
	if _, err := w.Write(newSuperblock(end+uint64(len(l.b)), top)); err != nil {
		return err
	}
	if err := root.writeValues(w); err != nil {
		return err
	}
	if _, err := w.Write(l.b); err != nil {
		return err
	}
	return w.Flush()
}

// place assigns addresses to the datasets of a tree, from *end on, and moves *end past the last one.
func (n *node) place(end *uint64) {
	for _, child := range n.sorted() {
		child.place(end)
	}
	if size := n.set.bytes(); size > 0 {
		n.set.address = *end
		*end += (size + 7) &^ 7
	}
}

// writeValues writes the values in the order in which place assigned addresses.
func (n *node) writeValues(w *bufio.Writer) error {
	for _, child := range n.sorted() {
		if err := child.writeValues(w); err != nil {
			return err
		}
	}
	if n.set == nil {
		return nil
	}
	if err := n.set.writeTo(w); err != nil {
		return err
	}
	_, err := w.Write(make([]byte, -n.set.bytes()&7))
	return err
}

// stored is a dataset to write: floats, integers or text, as its class says.
type stored struct {
	class    int
	shape    []int
	floats   []float32
	integers []int32
	text     []byte // NUL-terminated
	address  uint64
}

func (s *stored) bytes() uint64 {
	if s == nil {
		return 0
	}
	return 4*uint64(len(s.floats)) + 4*uint64(len(s.integers)) + uint64(len(s.text))
}

func (s *stored) writeTo(w *bufio.Writer) error {
	for _, v := range s.floats {
		b := binary.LittleEndian.AppendUint32(w.AvailableBuffer(), math.Float32bits(v))
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	for _, v := range s.integers {
		b := binary.LittleEndian.AppendUint32(w.AvailableBuffer(), uint32(v))
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	_, err := w.Write(s.text)
	return err
}
