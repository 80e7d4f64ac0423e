package isa

import "testing"

func TestChoose(t *testing.T) {
	levels := supported()
	for _, name := range []string{"", "sse", "AVX512"} {
		if got := choose(name, levels); got != levels[0] {
			t.Errorf("choose(%q) = %s", name, got.Name)
		}
	}
	for _, l := range levels {
		if got := choose(l.Name, levels); got != l {
			t.Errorf("choose(%q) = %s", l.Name, got.Name)
		}
	}
}

// TestUse: a level lasts until it is restored, and its vectors are as wide as it says.
func TestUse(t *testing.T) {
	before := Name()
	for _, l := range supported() {
		restore := Use(l.Name)
		if Width() != l.Width || Vectors() != (l.Width > 0) {
			t.Errorf("level %s has vectors of %d values, want %d", l.Name, Width(), l.Width)
		}
		whole := 0
		if l.Width > 0 {
			whole = 48
		}
		if got := Whole(51); got != whole {
			t.Errorf("level %s: of 51 values %d are whole vectors, want %d", l.Name, got, whole)
		}
		restore()
	}
	if Name() != before {
		t.Errorf("the level is %s, was %s before", Name(), before)
	}
	defer func() {
		if recover() == nil {
			t.Error("a level was used that there is not")
		}
	}()
	Use("sse")
}

// TestMask: a mask has ones in its first n lanes.
func TestMask(t *testing.T) {
	for n := range 17 {
		at := 16 - n
		if Mask(n) != &words[at] {
			t.Fatalf("the mask of %d lanes is another", n)
		}
		for lane := range 16 {
			if ones := words[at+lane] == -1; ones != (lane < n) {
				t.Errorf("mask of %d lanes: lane %d is set: %v", n, lane, ones)
			}
		}
	}
}
