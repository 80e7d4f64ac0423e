package blob

import (
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func TestShapeArithmetic(t *testing.T) {
	b := New(2, 3, 4, 5)
	tests := []struct {
		what      string
		got, want int
	}{
		{"Count", b.Count(), 120}, {"CountFrom 2", b.CountFrom(2), 20}, {"CountFrom 4", b.CountFrom(4), 1},
		{"CountRange", b.CountRange(1, 3), 12}, {"Dim -1", b.Dim(-1), 5}, {"Legacy 5", New(7).Legacy(1), 1},
		{"scalar", New().Count(), 1}, {"zero value", (&Blob{}).Count(), 1}, {"empty", New(3, 0).Count(), 0},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s is %d, want %d", tt.what, tt.got, tt.want)
		}
	}
	for axis, want := range map[int]int{0: 0, 3: 3, -1: 3, -4: 0} {
		if got, ok := b.Axis(axis); !ok || got != want {
			t.Errorf("axis %d is %d, %v", axis, got, ok)
		}
	}
	for _, axis := range []int{4, -5} {
		if _, ok := b.Axis(axis); ok {
			t.Errorf("axis %d was accepted", axis)
		}
	}
	if s := b.ShapeString(); s != "2 3 4 5 (120)" {
		t.Errorf("shape string %q", s)
	}
}

func TestReshapeKeepsStorage(t *testing.T) {
	b := New(6)
	b.Data()[5] = 7
	first := &b.Data()[0]
	b.Reshape(2)
	b.Reshape(2, 3)
	if &b.Data()[0] != first || b.Data()[5] != 7 {
		t.Error("shrinking and growing back lost the values")
	}
	if n := testing.AllocsPerRun(10, func() { b.Reshape(3, 2); b.Data(); b.Diff() }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestSharing(t *testing.T) {
	a, b := New(2, 3), New(6)
	b.ShareData(a)
	a.Data()[4] = 9
	if b.Data()[4] != 9 || !b.SharesData(a) || b.SharesDiff(a) {
		t.Error("data is not shared, or diff is")
	}
	c, d := New(6), New(6)
	c.ShareDiff(a)
	if !a.SharesStorage(a) || !a.SharesStorage(b) || !a.SharesStorage(c) || a.SharesStorage(d) {
		t.Error("storage is shared by blobs that share none, or not by those that share data or diff")
	}
	if new(Blob).SharesData(new(Blob)) || new(Blob).SharesDiff(new(Blob)) {
		t.Error("blobs without storage share it")
	}
	if a.DataStorage() != b.DataStorage() || a.DiffStorage() == b.DiffStorage() || a.DiffStorage() != c.DiffStorage() || a.DataStorage() == d.DataStorage() {
		t.Error("storages are equal where none is shared, or not where one is")
	}
	for name, share := range map[string]func(b, other *Blob){"data": (*Blob).ShareData, "diff": (*Blob).ShareDiff} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("blobs of different counts shared %s", name)
				}
			}()
			share(New(5), a)
		}()
	}
}

func TestProtoRoundTrip(t *testing.T) {
	a := New(2, 2)
	copy(a.Data(), []float32{1, 2, 3, 4})
	copy(a.Diff(), []float32{5, 6, 7, 8})
	var b Blob
	if err := b.FromProto(a.ToProto(true)); err != nil {
		t.Fatal(err)
	}
	if b.ShapeString() != "2 2 (4)" || b.Data()[3] != 4 || b.Diff()[0] != 5 {
		t.Errorf("shape %s, data %v, diff %v", b.ShapeString(), b.Data(), b.Diff())
	}
}

func TestFromProto(t *testing.T) {
	legacy := &caffepb.BlobProto{Num: proto.Int32(1), Channels: proto.Int32(2), Height: proto.Int32(1), Width: proto.Int32(2), DoubleData: []float64{1, 2, 3, 4}}
	var b Blob
	if err := b.FromProto(legacy); err != nil {
		t.Fatal(err)
	}
	if b.ShapeString() != "1 2 1 2 (4)" || b.Data()[3] != 4 {
		t.Errorf("legacy: %s %v", b.ShapeString(), b.Data())
	}
	for _, p := range []*caffepb.BlobProto{{Num: proto.Int32(5)}, {Channels: proto.Int32(5)}, {Height: proto.Int32(5)}, {Width: proto.Int32(5)}} {
		if got := ProtoShape(p); len(got) != 4 {
			t.Errorf("%v has the shape %v, want four axes", p, got)
		}
	}
	for want, p := range map[string]*caffepb.BlobProto{
		"3 values are stored for shape [2 2], which needs 4": {Shape: &caffepb.BlobShape{Dim: []int64{2, 2}}, Data: make([]float32, 3)},
		"axis 0 of the stored shape":                         {Shape: &caffepb.BlobShape{Dim: []int64{-1}}},
		"axis 1 of the stored shape":                         {Shape: &caffepb.BlobShape{Dim: []int64{1 << 30, 1 << 30}}},
		"1 gradients are stored":                             {Shape: &caffepb.BlobShape{Dim: []int64{2}}, Data: make([]float32, 2), Diff: make([]float32, 1)},
	} {
		if err := new(Blob).FromProto(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestSameShape(t *testing.T) {
	legacy := &caffepb.BlobProto{Num: proto.Int32(1), Channels: proto.Int32(1), Height: proto.Int32(3), Width: proto.Int32(4)}
	modern := &caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{3, 4}}}
	tests := []struct {
		shape []int
		p     *caffepb.BlobProto
		want  bool
	}{
		{[]int{3, 4}, legacy, true}, {[]int{1, 3, 4}, legacy, true}, {[]int{4, 3}, legacy, false}, {[]int{2, 3, 4}, legacy, false},
		{[]int{1, 1, 1, 3, 4}, legacy, false}, {[]int{2, 1, 3, 4}, legacy, false}, {[]int{3, 4}, modern, true}, {[]int{1, 3, 4}, modern, false}, {[]int{3, 5}, modern, false},
	}
	for _, tt := range tests {
		if got := New(tt.shape...).SameShape(tt.p); got != tt.want {
			t.Errorf("%v and %v: %v", tt.shape, ProtoShape(tt.p), got)
		}
	}
}

// TestCountOf: a product beyond the int range gives math.MaxInt, and an extent of 0 gives 0.
func TestCountOf(t *testing.T) {
	const long, half = 1 << (bits.UintSize * 5 / 8), 1 << (bits.UintSize/2 - 1)
	for _, tt := range []struct {
		shape []int
		want  int
	}{{nil, 1}, {[]int{3, 4, 5}, 60}, {[]int{3, 0, 5}, 0}, {[]int{long, long}, math.MaxInt}, {[]int{long, long, 0}, 0}, {[]int{half, half, 2, 1 << 10}, math.MaxInt}} {
		if got := CountOf(tt.shape...); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.shape, got, tt.want)
		}
	}
}
