// Package blob holds Caffe's unit of data: an N-dimensional float32 array with a gradient of the same shape.
//
// The central type is Blob: a shape and two storages, data and diff. Storage is allocated and zeroed on first use. It is kept when a blob
// shrinks, so that a Reshape to an earlier size allocates nothing. Two blobs may share a storage (ShareData, ShareDiff). Split, in-place
// layers, shared weights and Reshape use this to avoid copies.
//
// Negative axes count from the end; -1 is the last one. Violated contracts inside the library, such as an axis out of range or a shared
// storage that is too small, panic with the package's prefix. Layers check anything that depends on the user's files before they call this
// package. The exception is a size beyond the computer's memory: it panics with a pages.TooMuch, which the net turns into an error.
package blob

import (
	"fmt"
	"math"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/pages"
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
	unwritten int  // number of leading values that count as zero, whatever buf holds; see StartDiff
	shadow    bool // the values are undefined, in memory of no one; see NewShadow
	open      bool // somebody may write to the values unseen; see Version
	frozen    bool // nobody will write to the values; see Freeze
	version   uint64
	stow      *stowage // nil until the values are sealed
}

// slice returns the first n values. It grows the buffer if necessary; new buffers are zeroed, and old values are lost.
func (s *storage) slice(n int) []float32 {
	if s.shadow {
		return pages.Undefined(n)
	}
	if cap(s.buf) < n {
		s.buf, s.unwritten = pages.Floats(n), 0
		s.version++
	}
	return s.buf[:n]
}

// New returns a blob of the given shape.
func New(shape ...int) *Blob {
	b := &Blob{}
	b.Reshape(shape...)
	return b
}

// Limits of a blob's values and axes, as in Caffe.
const (
	MaxCount = math.MaxInt32
	MaxAxes  = 32
)

// CountOf returns the product of extents, or math.MaxInt if that is larger.
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

// SizeOf is CountOf for counts that no memory holds, so that errors state them.
func SizeOf(shape ...int) float64 {
	n := 1.0
	for _, d := range shape {
		n *= float64(d)
	}
	return n
}

// Reshape sets the shape. Values survive while the storage is large enough; new storage is zero. Reshape panics with a pages.TooMuch if the
// values exceed the computer's memory.
func (b *Blob) Reshape(shape ...int) {
	for i, d := range shape {
		if d < 0 {
			panic(fmt.Sprintf("blob: extent %d of axis %d is negative", d, i))
		}
	}
	if n := SizeOf(shape...); b.data != nil && b.data.shadow {
		pages.DemandShape(n)
	} else {
		pages.Demand(n)
	}
	b.shape = append(b.shape[:0], shape...)
	b.count = CountOf(shape...)
	if b.data == nil {
		b.data, b.diff = &storage{}, &storage{}
	}
}

// ReshapeLike sets b's shape to other's.
func (b *Blob) ReshapeLike(other *Blob) { b.Reshape(other.shape...) }

// Shape returns the extents of the axes. Callers must not change the slice.
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

// Dim returns the extent of an axis. Negative axes count from the end.
func (b *Blob) Dim(axis int) int {
	i, ok := b.Axis(axis)
	if !ok {
		panic(fmt.Sprintf("blob: axis %d is outside shape %v", axis, b.shape))
	}
	return b.shape[i]
}

// Axis converts a possibly negative axis to 0 <= axis < NumAxes. ok is false if the blob has no such axis.
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

// Legacy returns the extent of axis i in Caffe's old num x channels x height x width view. Missing axes have extent 1.
func (b *Blob) Legacy(i int) int {
	if i >= len(b.shape) {
		return 1
	}
	return b.shape[i]
}

// Data returns the Count values, to be read and written. Values returns them to be read.
func (b *Blob) Data() []float32 {
	return b.storageOf(&b.data).look(b.Count(), true)
}

// Diff returns the Count gradients.
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

// ShareData makes b use other's values from now on, so that each sees the other's writes. The counts must be equal.
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

// Storage identifies a storage of values or gradients. Two are equal if and only if blobs share the storage.
type Storage struct{ of *storage }

// DataStorage identifies the storage of the values, DiffStorage that of the gradients.
func (b *Blob) DataStorage() Storage { return Storage{b.storageOf(&b.data)} }
func (b *Blob) DiffStorage() Storage { return Storage{b.storageOf(&b.diff)} }

// Place moves values and gradients into the given slices of Count values each. These become the storage of b and of all blobs that share
// it.
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

// ZeroDiff clears the gradients immediately; compare StartDiff.
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
