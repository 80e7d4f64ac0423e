package pages

import (
	"errors"
	"math"
	"math/bits"
	"strings"
	"testing"
)

// TestFloats: arrays around the length from which large pages are asked for are zeros, all of which can be written.
func TestFloats(t *testing.T) {
	for _, n := range []int{0, 1, least - 1, least, least + 1, 3*least + 12345} {
		x := Floats(n)
		if len(x) != n {
			t.Fatalf("%d values, want %d", len(x), n)
		}
		for i, v := range x {
			if v != 0 {
				t.Fatalf("value %d of %d is %g", i, n, v)
			}
			x[i] = 1
		}
	}
}

// TestMoreThanThereIs: an array that no memory holds is an error to who catches it, with both sizes, and other panics stay panics.
func TestMoreThanThereIs(t *testing.T) {
	catch := func(f func()) (err error) {
		defer Catch(&err)
		f()
		return nil
	}
	const n = 1 << (bits.UintSize - 2)
	err := catch(func() { Floats(n) })
	var e *TooMuch
	if !errors.As(err, &e) || e.Bytes != 4*n {
		t.Errorf("got %v", err)
	}
	if err := catch(func() { Floats(least) }); err != nil {
		t.Errorf("got %v", err)
	}
	if got, want := (&TooMuch{1 << 52}).Error(), "4.5 PB of memory would be needed in one piece, "; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, size(Memory())) {
		if !math.IsInf(Memory(), 1) {
			t.Errorf("got %q, want %q and %s", got, want, size(Memory()))
		}
	}
	if err := catch(func() { Make[float64](n) }); !errors.As(err, &e) || e.Bytes != 8*n {
		t.Errorf("got %v", err)
	}
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("panic with %v", r)
		}
	}()
	catch(func() { panic("other") })
}

// TestUndefined: arrays of any order of lengths are as long as asked for, can be written, and take hardly any memory before that.
func TestUndefined(t *testing.T) {
	for _, n := range []int{3, 5 * least, 0, least, 40 * least, 7} {
		x := Undefined(n)
		if len(x) != n || cap(x) != n {
			t.Fatalf("length %d, capacity %d, want %d", len(x), cap(x), n)
		}
		for i := 0; i < n; i += max(1, n-1) {
			x[i] = float32(i)
		}
	}
	var much *TooMuch
	func() {
		defer func() { much, _ = recover().(*TooMuch) }()
		Undefined(most)
	}()
	if much == nil {
		t.Error("no TooMuch for more than any memory")
	}
}
