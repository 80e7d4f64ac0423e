// Package hdf5 reads numeric datasets from HDF5 files (contiguous, chunked, gzip and shuffle, floats and integers of any size) and
// writes contiguous ones. The format itself is read and written by github.com/scigolib/hdf5, in pure Go.
package hdf5

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/scigolib/hdf5"
)

const signature = "\x89HDF\r\n\x1a\n"

// Is reports whether a file begins as HDF5 files do.
func Is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(signature))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == signature
}

// Dataset is one dataset, as float32 whatever it is stored as.
type Dataset struct {
	Path  string // "/data/conv1/0"
	Shape []int
	Data  []float32
}

// Read returns the datasets of a file that want accepts by path (all, if it is nil), in the file's order.
func Read(path string, want func(dataset string) bool) (sets []Dataset, err error) {
	// The library is young: a panic on a damaged file must not end the program.
	defer func() {
		if r := recover(); r != nil {
			sets, err = nil, fmt.Errorf("%s: damaged HDF5 file: %v", path, r)
		}
	}()
	f, length, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.Walk(func(name string, object hdf5.Object) {
		d, ok := object.(*hdf5.Dataset)
		if !ok || err != nil || want != nil && !want(name) {
			return
		}
		var set Dataset
		if set, err = read(name, d, length); err != nil {
			err = fmt.Errorf("%s: dataset %s: %w", path, name, err)
			return
		}
		sets = append(sets, set)
	})
	if err != nil {
		return nil, err
	}
	return sets, nil
}

// open opens a file that has no lengths the library must not believe, and returns how long it is.
func open(path string) (*hdf5.File, int64, error) {
	raw, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer raw.Close()
	info, err := raw.Stat()
	if err != nil {
		return nil, 0, err
	}
	head, err := readSuperblock(raw)
	if err == nil {
		err = head.checkEnd(info.Size())
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	if err := checkHeaps(raw, head, info.Size()); err != nil {
		return nil, 0, fmt.Errorf("%s: damaged HDF5 file: %w", path, err)
	}
	f, err := hdf5.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: not a readable HDF5 file: %w", path, err)
	}
	return f, info.Size(), nil
}

func read(name string, d *hdf5.Dataset, fileLength int64) (Dataset, error) {
	shape, err := shapeOf(d, fileLength)
	if err != nil {
		return Dataset{}, err
	}
	values, err := d.Read()
	if err != nil {
		return Dataset{}, err
	}
	count := 1
	for _, n := range shape {
		count *= n
	}
	if count != len(values) {
		return Dataset{}, fmt.Errorf("%d values for shape %v, which needs %d", len(values), shape, count)
	}
	set := Dataset{Path: name, Shape: shape, Data: make([]float32, count)}
	for i, v := range values {
		set.Data[i] = float32(v)
	}
	return set, nil
}

// shapeOf returns the extents of a dataset, which its file can hold.
func shapeOf(d *hdf5.Dataset, fileLength int64) ([]int, error) {
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	shape, err := parseShape(info)
	if err != nil {
		return nil, err
	}
	return shape, checkCount(shape, fileLength)
}

// extents finds the shape in the library's description of a dataset, the only place where it gives it:
// "Dataset: float (size=4 bytes), 2D array [30 x 4], contiguous (...)", with more axes "4D array [5 1 2 2]".
var extents = regexp.MustCompile(`\dD array \[(\d+(?:(?: x | )\d+)*)\]`)

func parseShape(info string) ([]int, error) {
	m := extents.FindStringSubmatch(info)
	if m == nil {
		if strings.Contains(info, "scalar") {
			return nil, nil
		}
		return nil, fmt.Errorf("no array of numbers: %s", info)
	}
	var shape []int
	for text := range strings.FieldsSeq(strings.ReplaceAll(m[1], " x ", " ")) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		shape = append(shape, n)
	}
	return shape, nil
}

// ReadString returns the string that a dataset holds.
func ReadString(path, dataset string) (text string, err error) {
	err = visit(path, dataset, func(d *hdf5.Dataset) error {
		list, err := d.ReadStrings()
		if err == nil && len(list) > 0 {
			text = strings.TrimRight(list[0], "\x00")
		}
		return err
	})
	return text, err
}

// ReadInteger returns the one number that a dataset holds; Read would round it to 24 bits.
func ReadInteger(path, dataset string) (n int64, err error) {
	err = visit(path, dataset, func(d *hdf5.Dataset) error {
		values, err := d.Read()
		if err != nil {
			return err
		}
		if len(values) != 1 || values[0] != math.Trunc(values[0]) || math.Abs(values[0]) > 1<<53 {
			return fmt.Errorf("%v is not one integer", values[:min(len(values), 3)])
		}
		n = int64(values[0])
		return nil
	})
	return n, err
}

// visit gives use the dataset of a path; it is an error if there is none.
func visit(path, dataset string, use func(d *hdf5.Dataset) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: damaged HDF5 file: %v", path, r)
		}
	}()
	f, length, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = fmt.Errorf("%s: there is no dataset %s", path, dataset)
	f.Walk(func(name string, object hdf5.Object) {
		d, ok := object.(*hdf5.Dataset)
		if !ok || name != dataset {
			return
		}
		if _, err = shapeOf(d, length); err == nil {
			err = use(d)
		}
		if err != nil {
			err = fmt.Errorf("%s: dataset %s: %w", path, dataset, err)
		}
	})
	return err
}
