package pages

import (
	"testing"
	"unsafe"
)

// TestPool: arrays of any lengths are zero, aligned and apart, and most of them share few pieces of memory.
func TestPool(t *testing.T) {
	var p Pool
	var all [][]float32
	pieces := 0
	for i := range 400 {
		n := i * i % 5000
		if i%100 == 99 {
			n = 3 << 20 // longer than the pool's next piece
		}
		before := len(p.free)
		x := p.Floats(n)
		if len(p.free) > before {
			pieces++
		}
		if len(x) != n || cap(x) != n {
			t.Fatalf("%d values: length %d, capacity %d", n, len(x), cap(x))
		}
		for k := range x {
			if x[k] != 0 {
				t.Fatalf("array %d: value %d is %g", i, k, x[k])
			}
			x[k] = float32(i)
		}
		if n > 0 && uintptr(unsafe.Pointer(&x[0]))%(4*poolAlignment) != 0 && len(x) < 3<<20 {
			t.Errorf("array %d of %d values begins at %p", i, n, &x[0])
		}
		all = append(all, x)
	}
	for i, x := range all {
		for k := range x {
			if x[k] != float32(i) {
				t.Fatalf("array %d: value %d was overwritten by that of array %g", i, k, x[k])
			}
		}
	}
	if pieces > 10 {
		t.Errorf("400 arrays took %d pieces of memory", pieces)
	}
}
