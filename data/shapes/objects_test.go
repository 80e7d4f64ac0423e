package shapes

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
)

// TestPictureGolden pins the pictures of seed 1, as TestGolden does images.
func TestPictureGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digest is of amd64")
	}
	const want = "7454c6d71ec0df587a066a1dd5a34597d7ab3dc7ce8f67e475d57ba1a1aafb17"
	h := sha256.New()
	for i := range uint64(20) {
		p := RenderPicture(1, i, int(i%2*100))
		h.Write(p.Pixels)
		h.Write(p.Mask)
		for _, o := range p.Objects {
			if err := binary.Write(h, binary.LittleEndian, []int32{int32(o.Label), int32(o.X0), int32(o.Y0), int32(o.X1), int32(o.Y1)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("digest of pictures 0 to 19 of seed 1 is %s, was %s", got, want)
	}
}

// TestPictures: boxes belong to the mask. A pixel of a class lies in a box of the class, a box that nothing hides is the extent of its pixels,
// and all classes, difficult objects, hidden ones, cut ones and several sizes come up.
func TestPictures(t *testing.T) {
	const n = 200
	var labels [7]int
	difficult, cut, hidden, small, large := 0, 0, 0, 0, 0
	for k := range uint64(n) {
		p := RenderPicture(3, k, 0)
		if len(p.Objects) == 0 {
			t.Errorf("picture %d has no objects", k)
		}
		for i, label := range p.Mask {
			x, y := i%p.Width, i/p.Width
			covered := label == 0
			for _, o := range p.Objects {
				covered = covered || o.Label == int(label) && x >= o.X0 && x < o.X1 && y >= o.Y0 && y < o.Y1
			}
			if !covered {
				t.Fatalf("picture %d: pixel x %d, y %d of class %d is in no box of it: %+v", k, x, y, label, p.Objects)
			}
		}
		for i, o := range p.Objects {
			labels[o.Label]++
			if o.X0 < 0 || o.Y0 < 0 || o.X1 > p.Width || o.Y1 > p.Height || o.X1-o.X0 < 5 || o.Y1-o.Y0 < 5 {
				t.Errorf("picture %d of %d x %d: object %+v", k, p.Width, p.Height, o)
			}
			count(&difficult, o.Difficult)
			count(&cut, o.X0 == 0 || o.Y0 == 0 || o.X1 == p.Width || o.Y1 == p.Height)
			count(&small, o.X1-o.X0 < 20)
			count(&large, o.X1-o.X0 > 50)
			alone := true
			for j, other := range p.Objects {
				alone = alone && (i == j || other.X0 >= o.X1 || other.X1 <= o.X0 || other.Y0 >= o.Y1 || other.Y1 <= o.Y0)
			}
			count(&hidden, !alone)
			if alone && !o.Difficult {
				p.checkExtent(t, k, o)
			}
		}
	}
	t.Logf("difficult %d, cut %d, overlapping %d, small %d, large %d, by label %v", difficult, cut, hidden, small, large, labels)
	if difficult < 3 || cut < 50 || hidden < 50 || small < 50 || large < 50 || labels[0] > 0 || min(labels[1], labels[2], labels[3], labels[4], labels[5], labels[6]) < 50 {
		t.Error("some kind of object is too rare")
	}
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}

// checkExtent compares a box with the extent of its class's pixels within it.
func (p *Picture) checkExtent(t *testing.T, k uint64, o PictureObject) {
	x0, y0, x1, y1 := o.X1, o.Y1, o.X0, o.Y0
	for y := o.Y0; y < o.Y1; y++ {
		for x := o.X0; x < o.X1; x++ {
			if int(p.Mask[y*p.Width+x]) == o.Label {
				x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1)
			}
		}
	}
	if x0 != o.X0 || y0 != o.Y0 || x1 != o.X1 || y1 != o.Y1 {
		t.Errorf("picture %d: object %+v has pixels in x %d to %d, y %d to %d", k, o, x0, x1, y0, y1)
	}
}
