// Package tensors reads and writes named arrays of numbers in the two formats in which weights are exchanged with Python: safetensors and numpy's npz.
//
// A Tensor has its values as float32, in the order of C: the last axis is the fastest. Files may have any floating-point type; what is no floating-point
// number (counters, texts) is listed by its name and type, without values.
package tensors

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tensor is an array with a name.
type Tensor struct {
	Name   string
	Shape  []int // empty: a single value
	Type   string
	Values []float32 // nil if Type is no floating-point type
}

// Count returns the number of values that a shape has.
func Count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Read reads all tensors of a file in either format, which its first bytes tell.
func Read(path string) ([]Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	read := readSafetensors
	head := make([]byte, 4)
	if n, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	} else if head = head[:n]; bytes.Equal(head, []byte("PK\x03\x04")) || bytes.Equal(head, []byte("PK\x05\x06")) {
		read = readNPZ
	}
	list, err := read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// Formats are the endings of the files that can be written.
func Formats() []string { return []string{".safetensors", ".npz"} }

// Write writes tensors in the format of the path's ending. The same tensors give the same bytes.
func Write(w io.Writer, path string, list []Tensor) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(path), ".npz") {
		return writeNPZ(w, list)
	}
	return writeSafetensors(w, list)
}

// CheckPath returns an error if the path's ending names no format.
func CheckPath(path string) error {
	if !slices.Contains(Formats(), strings.ToLower(filepath.Ext(path))) {
		return fmt.Errorf("%s: its ending must be one of %s", path, strings.Join(Formats(), ", "))
	}
	return nil
}
