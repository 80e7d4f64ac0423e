package blob

import (
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestMade: what belongs to a version is made once, found by all blobs that share the values, and not found when they are others.
func TestMade(t *testing.T) {
	b, other, times := New(3), New(3), 0
	b.Seal()
	other.ShareData(b)
	create := func() any { times++; return times }
	for what, c := range map[string]func(){"the same values": func() {}, "stowed values": func() { v, _ := b.Version(); b.Stow(v, &copied{values: make([]float32, 3)}, false) }} {
		c()
		for _, of := range []*Blob{b, other} {
			if v, known := of.Version(); !known || of.Made(v, create) != 1 {
				t.Errorf("%s: made anew", what)
			}
		}
	}
	b.Data()[0]++
	b.Seal()
	if v, _ := other.Version(); other.Made(v, create) != 2 || b.Made(v, create) != 2 || times != 2 {
		t.Errorf("made %d times for two versions", times)
	}
}

// TestVersions: a version changes with the values, in every way in which they can change, and there is none while somebody may write to them.
func TestVersions(t *testing.T) {
	b, other := New(4), New(4)
	for _, o := range []*Blob{b, other} {
		o.Data()
		o.Seal()
	}
	last, _ := b.Version()
	for _, tt := range []struct {
		what        string
		do          func()
		same, known bool
	}{
		{"reading", func() { b.Values() }, true, true},
		{"describing", func() { b.ToProto(false) }, true, true},
		{"loading", func() {
			if err := b.Load(&caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{4}}, Data: []float32{1, 2, 3, 4}}, nil); err != nil {
				t.Fatal(err)
			}
		}, false, true},
		{"sharing", func() { b.ShareData(other) }, false, true},
		{"growing", func() { b.Reshape(9); b.Values() }, false, true},
		{"forgetting", func() { b.ForgetData(); b.Values() }, false, true},
		{"writing", func() { b.Data() }, true, false},
		{"reading what may be written", func() { b.Values() }, true, false},
		{"sealing", func() { b.Seal() }, false, true},
		{"writing by another that shares", func() { o := New(9); o.ShareData(b); o.Data() }, true, false},
		{"sealing again", func() { b.Seal() }, false, true},
		{"freezing", func() { b.Freeze() }, false, true},
		{"reading what nobody writes", func() { b.Data() }, true, true},
		{"unsharing", func() { b.ShareData(New(9)) }, false, true},
		{"placing in memory of others", func() { b.PlaceData(make([]float32, 9)) }, true, false},
	} {
		tt.do()
		v, known := b.Version()
		if known != tt.known || (v == last) != tt.same {
			t.Errorf("%s: the version is known: %t, and as before: %t; want %t and %t", tt.what, known, v == last, tt.known, tt.same)
		}
		last = v
	}
	if _, known := NewShadow(3).Version(); known {
		t.Error("undefined values have a version")
	}
}
