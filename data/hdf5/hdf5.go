// Package hdf5 reads numbers and strings from HDF5 files, and writes files as Caffe does.
//
// What libhdf5 1.6 to 1.14 write can be read: groups of all kinds and sizes, soft links, contiguous, compact and chunked datasets with every
// index of chunks, gzip, shuffle and fletcher32, integers and floats of up to 8 bytes in both orders. What cannot is an error that names it:
// other filters, external links and files, virtual datasets. Files are written with the structures of the oldest version, which every
// libhdf5 reads: symbol tables and contiguous datasets.
//
// A damaged file is an error that names it. It cannot make the reader run without end or take more memory than the file could fill.
package hdf5

import (
	"errors"
	"fmt"
	"strings"
)

// Dataset is one dataset, as float32 whatever it is stored as.
type Dataset struct {
	Path  string // "/data/conv1/0"
	Shape []int
	Data  []float32
}

// Read returns the datasets of a file that want accepts by path (all, if it is nil), group by group in the order of their names. Wanted
// links that lead to nothing are errors.
func Read(path string, want func(dataset string) bool) ([]Dataset, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	var sets []Dataset
	err = f.walk(func(name string, o *object, problem error) error {
		if want != nil && !want(name) {
			return nil
		}
		set, err := Dataset{Path: name}, problem
		if err == nil {
			set.Shape, set.Data, err = f.numbers(o)
		}
		if err != nil {
			return fmt.Errorf("dataset %s: %w", name, err)
		}
		sets = append(sets, set)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return sets, nil
}

func (f *file) numbers(o *object) ([]int, []float32, error) {
	d, err := f.dataset(o)
	if err != nil {
		return nil, nil, err
	}
	values, err := d.floats()
	return d.shape, values, err
}

// ReadString returns the string that a dataset holds.
func ReadString(path, dataset string) (string, error) {
	return readOne(path, dataset, (*storedSet).string)
}

// ReadInteger returns the one number that a dataset holds; Read would round it to 24 bits.
func ReadInteger(path, dataset string) (int64, error) {
	return readOne(path, dataset, (*storedSet).integer)
}

// readOne uses the dataset of a path; it is an error if there is none.
func readOne[T any](path, name string, use func(d *storedSet) (T, error)) (value T, err error) {
	f, err := open(path)
	if err != nil {
		return value, err
	}
	defer f.close()
	address, err := f.resolve(name, f.root, 0)
	if errors.Is(err, errNone) {
		return value, fmt.Errorf("%s: there is no dataset %s", path, name)
	}
	var o *object
	var d *storedSet
	if err == nil {
		o, err = f.object(address)
	}
	if err == nil && !o.isDataset() {
		return value, fmt.Errorf("%s: there is no dataset %s", path, name)
	}
	if err == nil {
		d, err = f.dataset(o)
	}
	if err == nil {
		value, err = use(d)
	}
	if err != nil {
		return value, fmt.Errorf("%s: dataset %s: %w", path, name, err)
	}
	return value, nil
}

// Clean returns a path, or a part of one, as libhdf5 reads it: slashes at its ends, or one behind another, stand for nothing or for one,
// and a dot between slashes for nothing.
func Clean(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}
