// Package blob holds Caffe's unit of data: an N-dimensional float32 array with a gradient of the same shape.
//
// A Blob is a shape and two storages, data and diff. Storage is allocated when it is first asked for, zeroed, and is
// kept when a blob shrinks, so that a Reshape to a size seen before allocates nothing. Two blobs may share one storage
// (ShareData, ShareDiff): that is how Split, in-place layers, shared weights and Reshape avoid copies.
//
// Axes may be given from the end: -1 is the last one. Broken contracts inside the library (an axis out of range, a
// shared storage that is too small) panic with the package's prefix; whatever depends on the user's files is checked
// by the layer before it gets here, but for sizes that no memory has room for: these panic with a pages.TooMuch, of which
// the net makes an error.
package blob

import (
	"fmt"
	"math"
	"strings"

	"github.com/swcaffe/swcaffe/internal/pages"
)

// Blob is an N-dimensional array of float32 values (data) and their gradients (diff), both in C order.
// The zero value is a blob without axes (a scalar) and without storage.
type Blob struct {
	shape []int
	count int
	data  *storage
	diff  *storage
}

// storage is a growable float32 buffer that several blobs may share.
type storage struct {
	buf       []float32
	unwritten int     // so many of the first values are zero, whatever buf holds; see StartDiff
	shadow    *Shadow // not nil: where the values are instead
}

// slice returns the first n values; it grows the buffer (zeroed, old values lost) when it is too short.
func (s *storage) slice(n int) []float32 {
	if s.shadow != nil {
		return s.shadow.of.slice(n)
	}
	if cap(s.buf) < n {
		s.buf, s.unwritten = pages.Floats(n), 0
	}
	return s.buf[:n]
}

// New returns a blob of the given shape.
func New(shape ...int) *Blob {
	b := &Blob{}
	b.Reshape(shape...)
	return b
}

// What blobs can be asked for, as in Caffe: values and axes.
const (
	MaxCount = math.MaxInt32
	MaxAxes  = 32
)

// CountOf returns the product of extents, math.MaxInt where that is larger.
func CountOf(shape ...int) int {
	n := 1
	for _, d := range shape {
		if d == 0 {
			return 0
		}
		if n > math.MaxInt/d {
			n = math.MaxInt
		} else {
			n *= d
		}
	}
	return n
}

// Reshape sets the shape. Values survive as long as the storage is large enough; new storage is zero. It panics with a pages.TooMuch
// where the computer's memory cannot hold the values.
func (b *Blob) Reshape(shape ...int) {
	for i, d := range shape {
		if d < 0 {
			panic(fmt.Sprintf("blob: extent %d of axis %d is negative", d, i))
		}
	}
	n := CountOf(shape...)
	if b.data != nil && b.data.shadow != nil {
		pages.DemandShape(float64(n))
	} else {
		pages.Demand(float64(n))
	}
	b.shape = append(b.shape[:0], shape...)
	b.count = n
	if b.data == nil {
		b.data, b.diff = &storage{}, &storage{}
	}
}

// ReshapeLike gives b the shape of other.
func (b *Blob) ReshapeLike(other *Blob) { b.Reshape(other.shape...) }

// Shape returns the extents of the axes. It is the blob's own slice: read only.
func (b *Blob) Shape() []int { return b.shape }

// NumAxes returns the number of axes.
func (b *Blob) NumAxes() int { return len(b.shape) }

// Count returns the number of values. A blob without axes has one.
func (b *Blob) Count() int {
	if b.data == nil {
		return 1
	}
	return b.count
}

// CountFrom returns the product of the extents from axis (which may be NumAxes) to the end.
func (b *Blob) CountFrom(axis int) int { return b.CountRange(axis, len(b.shape)) }

// CountRange returns the product of the extents of axes from <= i < to.
func (b *Blob) CountRange(from, to int) int {
	n := 1
	for _, d := range b.shape[from:to] {
		n *= d
	}
	return n
}

// Dim returns the extent of an axis, negative axes counting from the end.
func (b *Blob) Dim(axis int) int {
	i, ok := b.Axis(axis)
	if !ok {
		panic(fmt.Sprintf("blob: axis %d is outside shape %v", axis, b.shape))
	}
	return b.shape[i]
}

// Axis turns a possibly negative axis into 0 <= axis < NumAxes; ok is false where there is no such axis.
func (b *Blob) Axis(axis int) (canonical int, ok bool) {
	n := len(b.shape)
	if axis < -n || axis >= n {
		return 0, false
	}
	if axis < 0 {
		axis += n
	}
	return axis, true
}

// Legacy returns the extent of axis i of Caffe's old num x channels x height x width view: 1 for axes the blob lacks.
func (b *Blob) Legacy(i int) int {
	if i >= len(b.shape) {
		return 1
	}
	return b.shape[i]
}

// Data returns the values, Count of them.
func (b *Blob) Data() []float32 { return b.storageOf(&b.data).slice(b.Count()) }

// Diff returns the gradients, Count of them.
func (b *Blob) Diff() []float32 {
	s := b.storageOf(&b.diff)
	if s.unwritten > 0 {
		s.write()
	}
	return s.slice(b.Count())
}

func (b *Blob) storageOf(s **storage) *storage {
	if *s == nil {
		b.Reshape(b.shape...)
	}
	return *s
}

// ShareData makes b use other's values from now on; both see each other's writes. The counts must be equal.
func (b *Blob) ShareData(other *Blob) {
	b.mustMatch(other)
	b.data = other.storageOf(&other.data)
}

// ShareDiff makes b use other's gradients from now on. The counts must be equal.
func (b *Blob) ShareDiff(other *Blob) {
	b.mustMatch(other)
	b.diff = other.storageOf(&other.diff)
}

func (b *Blob) mustMatch(other *Blob) {
	if b.Count() != other.Count() {
		panic(fmt.Sprintf("blob: %v cannot share the storage of %v", b.shape, other.shape))
	}
	b.storageOf(&b.data)
}

// SharesData reports whether b and other use the same values.
func (b *Blob) SharesData(other *Blob) bool { return b.data != nil && b.data == other.data }

// SharesDiff reports whether b and other use the same gradients.
func (b *Blob) SharesDiff(other *Blob) bool { return b.diff != nil && b.diff == other.diff }

// SharesStorage reports whether b is other, or they use the same values or gradients.
func (b *Blob) SharesStorage(other *Blob) bool {
	return b == other || b.SharesData(other) || b.SharesDiff(other)
}

// Storage tells the storage of values or gradients from others: two are equal if blobs share it.
type Storage struct{ of *storage }

// DataStorage returns the storage of the values, DiffStorage that of the gradients.
func (b *Blob) DataStorage() Storage { return Storage{b.storageOf(&b.data)} }
func (b *Blob) DiffStorage() Storage { return Storage{b.storageOf(&b.diff)} }

// Place moves the values and gradients into slices of Count values each, which are the blob's storage from now on, and that of
// the blobs that share it.
func (b *Blob) Place(data, diff []float32) {
	n := b.Count()
	if len(data) != n || len(diff) != n {
		panic(fmt.Sprintf("blob: %d and %d values cannot hold %v", len(data), len(diff), b.shape))
	}
	copy(data, b.Data())
	copy(diff, b.Diff())
	b.data.place(b, data)
	b.diff.place(b, diff)
}

// ZeroDiff clears the gradients, at once.
func (b *Blob) ZeroDiff() { clear(b.Diff()) }

// ShapeString prints the shape as Caffe does: "64 1 28 28 (50176)".
func (b *Blob) ShapeString() string {
	var s strings.Builder
	for _, d := range b.shape {
		fmt.Fprintf(&s, "%d ", d)
	}
	fmt.Fprintf(&s, "(%d)", b.Count())
	return s.String()
}
