package digits

import (
	"crypto/sha256"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/swcaffe/swcaffe/data/lineartest"
)

// TestPure renders images in two orders, by renderers that have done other things before.
func TestPure(t *testing.T) {
	a, b := NewRenderer(7), NewRenderer(7)
	var first [50]Image
	for i := range first {
		a.Render(uint64(i), &first[i])
	}
	for i := len(first) - 1; i >= 0; i-- {
		var again Image
		if b.Render(uint64(i), &again); again != first[i] {
			t.Errorf("image %d differs when it is rendered after image %d", i, i+1)
		}
	}
	other := Image{}
	if NewRenderer(8).Render(0, &other); other == first[0] {
		t.Error("seeds 7 and 8 give the same image 0")
	}
}

// TestGolden: the images of seed 1 do not change between versions. Architectures other than amd64 may fuse multiplications with
// additions and so round differently.
func TestGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digest is of amd64")
	}
	const want = "010c6bf9d5e2bd70c7f1cbdefa576eac9cfe8d7c1e4f70c933c1939a8a972684"
	r, h := NewRenderer(1), sha256.New()
	var image Image
	for i := range 200 {
		r.Render(uint64(i), &image)
		h.Write(append(image.Pixels[:], byte(image.Label)))
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("digest of images 0 to 199 of seed 1 is %s, was %s", got, want)
	}
}

// TestLabels: labels are equally frequent, and independent of the preceding label by a chi-square test of neighbouring pairs
// (mean 99, deviation 14).
func TestLabels(t *testing.T) {
	const n = 4000
	r := NewRenderer(1)
	var pairs [10][10]int
	var image Image
	r.Render(n, &image)
	for i := range n {
		last := image.Label
		r.Render(uint64(i), &image)
		pairs[last][image.Label]++
	}
	chi := 0.0
	for _, row := range pairs {
		for _, count := range row {
			chi += math.Pow(float64(count)-n/100, 2) / (n / 100)
		}
	}
	if chi > 99+5*14 {
		t.Errorf("chi-square of labels of neighbours is %.0f, want about 99", chi)
	}
}

// TestInkAndGround checks that every image has a digit on it: bright pixels on dark ground, most of them away from the
// border.
func TestInkAndGround(t *testing.T) {
	r := NewRenderer(3)
	var image Image
	for i := range uint64(2000) {
		r.Render(i, &image)
		bright, border := 0, 0
		for k, v := range image.Pixels {
			if v < 110 {
				continue
			}
			bright++
			if x, y := k%Size, k/Size; x == 0 || y == 0 || x == Size-1 || y == Size-1 {
				border++
			}
		}
		if bright < 15 || bright > Size*Size*6/10 || border > bright/3 {
			t.Errorf("image %d (a %d): %d bright pixels, %d of them at the border", i, image.Label, bright, border)
		}
	}
}

// TestHardForLinear: the set promises that softmax regression stays under 95 %, and it must not be noise either.
func TestHardForLinear(t *testing.T) {
	r := NewRenderer(1)
	var sets [2]lineartest.Set
	var image Image
	for i, n := range []int{8000, 2000} {
		for k := range n {
			r.Render(uint64(i)<<32+uint64(k), &image)
			sets[i].Add(image.Pixels[:], image.Label)
		}
	}
	got := lineartest.Accuracy(&sets[0], &sets[1], 10, 6)
	t.Logf("softmax regression: %.3f", got)
	if got < 0.7 || got > 0.93 {
		t.Errorf("softmax regression gets %.3f right, want 0.7 to 0.93", got)
	}
}

func BenchmarkRender(b *testing.B) {
	r := NewRenderer(1)
	var image Image
	for i := range b.N {
		r.Render(uint64(i), &image)
	}
}
