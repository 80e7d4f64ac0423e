package blob

import (
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

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
