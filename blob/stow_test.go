package blob

import (
	"slices"
	"sync"
	"testing"
)

// copied restores values from a copy.
type copied struct {
	values []float32
	times  int
}

func (c *copied) Restore(values []float32) {
	copy(values, c.values)
	c.times++
}

// stowable returns a blob of 20000 values that nobody has seen, and what restores it.
func stowable() (*Blob, *copied, Version) {
	b, c := New(100, 200), &copied{values: make([]float32, 20000)}
	for i, v := range b.Data() {
		c.values[i] = v + float32(i)
	}
	copy(b.Data(), c.values)
	b.Seal()
	v, _ := b.Version()
	return b, c, v
}

// TestStow: stowed values come back when somebody looks, whatever way, as the version that they were.
func TestStow(t *testing.T) {
	for what, look := range map[string]func(b *Blob) []float32{
		"Values":    (*Blob).Values,
		"Data":      (*Blob).Data,
		"ToProto":   func(b *Blob) []float32 { return b.ToProto(false).Data },
		"Hold":      func(b *Blob) []float32 { return b.Hold(false) },
		"Own":       func(b *Blob) []float32 { b.Own(); return b.Values() },
		"Seal":      func(b *Blob) []float32 { b.Seal(); return b.Values() },
		"Freeze":    func(b *Blob) []float32 { b.Freeze(); return b.Values() },
		"ShareData": func(b *Blob) []float32 { o := New(20000); o.ShareData(b); return o.Values() },
		"Place":     func(b *Blob) []float32 { b.Place(make([]float32, 20000), make([]float32, 20000)); return b.Values() },
	} {
		b, c, v := stowable()
		memory, ok := b.Stow(v, c, false)
		if !ok || len(memory) != 20000 || !b.Stowed() {
			t.Fatalf("%s: stowed %t, %d values of memory", what, ok, len(memory))
		}
		if now, known := b.Version(); now != v || !known {
			t.Errorf("%s: stowing changes the version", what)
		}
		clear(memory)
		if got := look(b); !slices.Equal(got, c.values) || c.times != 1 || b.Stowed() {
			t.Errorf("%s: values are others, or restored %d times", what, c.times)
		}
	}
	b, c, v := stowable()
	b.Stow(v, c, false)
	if b.ForgetData(); b.Values()[5] != 0 || c.times != 0 {
		t.Error("values that were to be forgotten came back")
	}
}

// TestStowRefused: values that others read, that may change or that have changed stay in memory.
func TestStowRefused(t *testing.T) {
	for what, do := range map[string]func(b *Blob){
		"another holds":    func(b *Blob) { b.Hold(false) },
		"open":             func(b *Blob) { b.Data() },
		"another version":  func(b *Blob) { b.Seal() },
		"stowed by others": func(b *Blob) { v, _ := b.Version(); b.Stow(v, &copied{values: make([]float32, 20000)}, false) },
		"a reader was without": func(b *Blob) {
			v, _ := b.Version()
			b.Stow(v, &copied{values: make([]float32, 20000)}, false)
			b.Hold(true)
			b.Free()
		},
	} {
		b, c, v := stowable()
		if do(b); true {
			if _, ok := b.Stow(v, c, false); ok {
				t.Errorf("%s: stowed", what)
			}
		}
	}
	if b, c, v := stowable(); true {
		b.Hold(false)
		if _, ok := b.Stow(v, c, true); !ok {
			t.Error("the only one who holds the values cannot stow them")
		}
	}
	b, c, v := stowable()
	mine := b.Values()
	if memory, ok := b.Stow(v, c, false); !ok || memory != nil {
		t.Errorf("memory that somebody has seen is given away: %t", memory != nil)
	}
	if !slices.Equal(mine, c.values) {
		t.Error("a slice that Values returned has changed")
	}
}

// TestStowTogether: whoever reads values while others stow them reads the right ones.
func TestStowTogether(t *testing.T) {
	b, c, v := stowable()
	want := slices.Clone(c.values)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 200 {
				if own := b.Hold(false); !slices.Equal(own, want) {
					t.Error("other values")
				}
				if memory, ok := b.Stow(v, c, true); ok {
					clear(memory)
				} else {
					b.Free()
				}
				if i == 0 && !slices.Equal(b.Values(), want) {
					t.Error("other values to somebody who looks")
				}
			}
		})
	}
	all.Wait()
}
