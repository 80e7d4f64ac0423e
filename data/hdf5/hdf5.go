// Package hdf5 reads numbers and strings from HDF5 files, and writes files as Caffe does. Read returns Datasets; Write writes a
// File.
//
// The reader understands files of libhdf5 1.6 to 1.14: groups of all kinds and sizes, soft links, contiguous, compact and chunked
// datasets with every kind of chunk index, values in external files, integers of up to 8 bytes and floats of up to 16 in both byte
// orders, the filters gzip, shuffle, fletcher32, szip, nbit, scaleoffset and lzf, and chunks that were stored without their filters.
// Other filters, external links and virtual datasets give an error that names the feature. The writer uses the oldest version of every
// structure, which every libhdf5 reads: symbol tables and contiguous datasets.
//
// A damaged file gives an error that names the file. It cannot make the reader loop for ever or allocate more memory than the
// file could fill.
package hdf5

import (
	"errors"
	"fmt"
	"strings"
)

// Dataset is one dataset, converted to float32 from its stored type.
type Dataset struct {
	Path  string // "/data/conv1/0"
	Shape []int
	Data  []float32
}

// Read returns the datasets of a file whose paths want accepts (nil accepts all), in the order of their names within each group.
// A wanted link without a target is an error.
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

// ReadString returns the string in a dataset.
func ReadString(path, dataset string) (string, error) {
	return readOne(path, dataset, (*storedSet).string)
}

// ReadInteger returns the only number in a dataset. Read would round it to the 24 bits of a float32.
func ReadInteger(path, dataset string) (int64, error) {
	return readOne(path, dataset, (*storedSet).integer)
}

// HasGroup reports whether a file has a group at a path.
func HasGroup(path, group string) bool {
	f, err := open(path)
	if err != nil {
		return false
	}
	defer f.close()
	address, err := f.resolve(group, f.root, 0)
	if err != nil {
		return false
	}
	o, err := f.object(address)
	return err == nil && o.isGroup()
}

// readOne calls use with the dataset at a path. A missing dataset is an error.
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

// Clean returns a path, or a part of one, in the form to which libhdf5 reduces it: without slashes at the ends, repeated slashes
// or "." components.
func Clean(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}
