package blob

import (
	"slices"
	"testing"
)

// TestPlacedBlobs: placed blobs use the given memory, as do all that share their storage. They do not write past its end when they grow,
// and Own moves them out.
func TestPlacedBlobs(t *testing.T) {
	memory := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	a, b := New(4), New(2, 2)
	b.ShareData(a)
	a.PlaceData(memory[2:6])
	a.PlaceDiff(memory[:4])
	if !slices.Equal(b.Data(), memory[2:6]) || &b.Data()[0] != &memory[2] || !a.SharesData(b) {
		t.Errorf("the sharing blob holds %v", b.Data())
	}
	if b.Diff()[0] = 9; memory[0] != 1 || a.Diff()[3] != 4 {
		t.Errorf("gradients are shared: %v", memory)
	}
	a.Reshape(5)
	for i := range a.Data() {
		a.Data()[i] = -1
	}
	if memory[6] != 7 || memory[2] != 3 {
		t.Errorf("a blob that outgrew its place wrote into the memory: %v", memory)
	}
	b.PlaceDiff(memory[4:])
	b.Diff()[0] = 11
	b.Own()
	if b.Diff()[0] != 11 || len(b.Diff()) != 4 {
		t.Errorf("Own changed the gradients to %v", b.Diff())
	}
	if b.Diff()[0] = 12; memory[4] != 11 {
		t.Error("Own left the gradients in the memory")
	}
}

func TestPlaceThatIsTooSmallPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(3).PlaceData(make([]float32, 2))
}
