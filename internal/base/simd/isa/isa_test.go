package isa

import (
	"slices"
	"testing"
)

func TestChoose(t *testing.T) {
	levels := supported()
	for _, name := range []string{"", "sse", "AVX512", "sse:vec.Elementwise"} {
		if got, only := choose(name, levels); got != levels[0] || only != nil {
			t.Errorf("choose(%q) = %s, %v", name, got.Name, only)
		}
	}
	for _, l := range levels {
		if got, only := choose(l.Name, levels); got != l || only != nil {
			t.Errorf("choose(%q) = %s, %v", l.Name, got.Name, only)
		}
		if got, only := choose(l.Name+":a.B+c.D", levels); got != l || !slices.Equal(only, []string{"a.B", "c.D"}) {
			t.Errorf("choose(%q) = %s, %v", l.Name+":a.B+c.D", got.Name, only)
		}
	}
}

// TestUse: a level lasts until it is restored, and its vectors are as wide as it says.
func TestUse(t *testing.T) {
	before := Name()
	for _, l := range supported() {
		restore := Use(l.Name)
		if Lanes() != l.Lanes {
			t.Errorf("level %s has vectors of %d values, want %d", l.Name, Lanes(), l.Lanes)
		}
		whole := 0
		if l.Lanes > 0 {
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

// block is a table as packages have it.
type block struct {
	Rows int
	One  uint8
	Many [2]uint8
}

// TestOffer: a table has a level's sizes and kernels as long as the level is in use, of a level with some kernels alone all sizes and those kernels,
// and for other levels what it began with.
func TestOffer(t *testing.T) {
	defer Use("go")()
	have := block{Rows: 4}
	Offer(&have, map[string]func(*block){supported()[0].Name: func(b *block) {
		b.Rows, b.One, b.Many[1] = 12, 1, 2
	}})
	if len(Levels()) == 1 {
		t.Skip("this computer has plain Go alone")
	}
	best := Levels()[0]
	for _, c := range []struct {
		level     string
		rows      int
		one, many bool
	}{{best, 12, true, true}, {best + ":isa.One", 12, true, false}, {best + ":isa.Many+isa.One", 12, true, true}, {best + ":vec.One", 12, false, false}, {"go", 4, false, false}} {
		restore := Use(c.level)
		if have.Rows != c.rows || have.One != 0 != c.one || have.Many[1] != 0 != c.many || have.Many[0] != 0 {
			t.Errorf("at level %s: %+v", c.level, have)
		}
		restore()
	}
	if have.Rows != 4 || have.One != 0 {
		t.Errorf("back at plain Go: %+v", have)
	}
}

// TestName: the name of a level says which kernels are in use, and that a request is not met.
func TestName(t *testing.T) {
	defer func(before string) { requested = before }(requested)
	best := Levels()[0]
	offered["isa.One"] = true
	for request, want := range map[string]string{
		"":                best,
		"go":              "go",
		best + ":isa.One": best + ":isa.One",
		"sse":             best + " (sse is not available)",
		"sse:isa.One":     best + " (sse:isa.One is not available)",
		best + ":isa.Two": best + ":isa.Two (" + best + ":isa.Two is not available)",
	} {
		requested = request
		level, kernels := choose(request, supported())
		before, some := active, only
		set(level, kernels)
		if got := Name(); got != want {
			t.Errorf("SWCAFFE_SIMD=%s: the level is %q, want %q", request, got, want)
		}
		set(before, some)
	}
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
