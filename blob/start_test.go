package blob

import (
	"slices"
	"testing"
)

// started returns a blob after StartDiff whose memory holds other values, and that memory.
func started(shape ...int) (*Blob, []float32) {
	b := New(shape...)
	memory := b.Diff()
	for i := range memory {
		memory[i] = 7
	}
	b.StartDiff()
	return b, memory
}

func TestStartedGradientsAreZeros(t *testing.T) {
	for _, tt := range []struct {
		name string
		read func(b *Blob) []float32
		want int // values
	}{
		{"Diff", (*Blob).Diff, 6},
		{"ToProto", func(b *Blob) []float32 { return b.ToProto(true).Diff }, 6},
		{"by one that shares them", func(b *Blob) []float32 {
			o := New(6)
			o.ShareDiff(b)
			return o.Diff()
		}, 6},
		{"after StartDiff of one that shares them", func(b *Blob) []float32 {
			b.Diff()[0] = 1
			o := New(6)
			o.ShareDiff(b)
			o.StartDiff()
			return b.Diff()
		}, 6},
		{"after ZeroDiff", func(b *Blob) []float32 { b.ZeroDiff(); return b.Diff() }, 6},
		{"after Place", func(b *Blob) []float32 {
			diff := []float32{1, 2, 3, 4, 5, 6}
			b.Place(make([]float32, 6), diff)
			return diff
		}, 6},
		{"after Own", func(b *Blob) []float32 { b.Own(); return b.Diff() }, 6},
		{"of a larger shape", func(b *Blob) []float32 { b.Reshape(9); return b.Diff() }, 9},
		{"of a smaller shape, then the first", func(b *Blob) []float32 {
			b.Reshape(2)
			b.StartDiff()
			b.Gradient()
			b.Reshape(6)
			return b.Diff()[2:]
		}, 4},
	} {
		b, _ := started(2, 3)
		if got := tt.read(b); len(got) != tt.want || slices.ContainsFunc(got, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestFirstOverwrites: the first caller of Gradient overwrites the memory; later ones add.
func TestFirstOverwrites(t *testing.T) {
	a, memory := started(4)
	b := New(2, 2)
	b.ShareDiff(a)
	first, add := b.Gradient()
	if add || &first[0] != &memory[0] || first[3] != 7 {
		t.Fatalf("the first to add is given %v, add: %v", first, add)
	}
	copy(first, []float32{1, 2, 3, 4})
	if second, add := a.Gradient(); !add || !slices.Equal(second, first) {
		t.Errorf("the second to add is given %v, add: %v", second, add)
	}
	if !slices.Equal(a.Diff(), []float32{1, 2, 3, 4}) {
		t.Errorf("the sum is %v", a.Diff())
	}
}

// TestNotToBeOverwritten: gradients that were read, or placed from outside, are added to.
func TestNotToBeOverwritten(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(b *Blob)
		want    []float32
	}{
		{"seen", func(b *Blob) { b.Diff() }, []float32{0, 0}},
		{"of a blob that grew", func(b *Blob) { b.Reshape(3); copy(b.Diff(), []float32{1, 2, 3}) }, []float32{1, 2, 3}},
		{"of a blob that shrank and grew", func(b *Blob) {
			b.Diff()
			b.Reshape(1)
			b.StartDiff()
			b.Reshape(2)
		}, []float32{0, 0}},
		{"given", func(b *Blob) { b.PlaceDiff([]float32{3, 4}) }, []float32{3, 4}},
	} {
		b, _ := started(2)
		tt.prepare(b)
		if got, add := b.Gradient(); !add || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, add: %v", tt.name, got, add)
		}
	}
}

func TestShadowsAreAddedTo(t *testing.T) {
	b := NewShadow(3)
	b.StartDiff()
	if diff, add := b.Gradient(); !add || len(diff) != 3 {
		t.Errorf("%v, add: %v", diff, add)
	}
}
