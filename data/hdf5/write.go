package hdf5

import (
	"fmt"
	"strings"

	"github.com/scigolib/hdf5"
)

// File is what Write puts into a file. Groups above a dataset need not be listed; those without datasets do.
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

// String is a dataset of one string: an array of one, since the library writes no scalars, which Caffe reads as well.
type String struct{ Path, Text string }

// Write makes a file, or overwrites one: contiguous datasets, which every libhdf5 reads.
func Write(path string, f *File) error {
	w, err := hdf5.CreateForWrite(path, hdf5.CreateTruncate)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out := writer{w, map[string]bool{"": true}}
	err = out.all(f)
	if closing := w.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

type writer struct {
	file   *hdf5.FileWriter
	groups map[string]bool // there already
}

func (w *writer) all(f *File) error {
	for _, g := range f.Groups {
		if err := w.group(g); err != nil {
			return err
		}
	}
	for _, d := range f.Floats {
		shape := make([]uint64, len(d.Shape))
		for i, n := range d.Shape {
			shape[i] = uint64(n)
		}
		if len(shape) == 0 {
			shape = []uint64{1}
		}
		if err := w.dataset(d.Path, hdf5.Float32, shape, d.Data); err != nil {
			return err
		}
	}
	for _, d := range f.Integers {
		if err := w.dataset(d.Path, hdf5.Int32, []uint64{uint64(len(d.Data))}, d.Data); err != nil {
			return err
		}
	}
	for _, d := range f.Strings {
		size := hdf5.WithStringSize(uint32(len(d.Text) + 1)) // with the NUL that ends it
		if err := w.dataset(d.Path, hdf5.String, []uint64{1}, []string{d.Text}, size); err != nil {
			return err
		}
	}
	return nil
}

// group makes a group and those above it, where they are missing.
func (w *writer) group(path string) error {
	if w.groups[path] {
		return nil
	}
	w.groups[path] = true
	if err := w.group(path[:strings.LastIndexByte(path, '/')]); err != nil {
		return err
	}
	if _, err := w.file.CreateGroup(path); err != nil {
		return fmt.Errorf("group %s: %w", path, err)
	}
	return nil
}

func (w *writer) dataset(path string, kind hdf5.Datatype, shape []uint64, data any, opts ...hdf5.DatasetOption) error {
	if err := w.group(path[:strings.LastIndexByte(path, '/')]); err != nil {
		return err
	}
	d, err := w.file.CreateDataset(path, kind, shape, opts...)
	if err != nil {
		return fmt.Errorf("dataset %s: %w", path, err)
	}
	if err := d.Write(data); err != nil {
		return fmt.Errorf("dataset %s: %w", path, err)
	}
	return nil
}
