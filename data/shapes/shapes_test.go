package shapes

import (
	"crypto/sha256"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/swcaffe/swcaffe/data/lineartest"
)

// TestGolden pins the images of seed 1: sets that were rendered earlier must stay what they are. Other architectures may
// fuse multiplications with additions and so round otherwise.
func TestGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digest is of amd64")
	}
	const want = "50d3a3c59844e85ffd89ad9a4d1da183acf6a3e2a31a9b60671b6da0a9b1c36e"
	h := sha256.New()
	var image Image
	for i := range uint64(100) {
		Render(1, i, &image)
		h.Write(append(image.Pixels[:], byte(image.Label)))
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("digest of images 0 to 99 of seed 1 is %s, was %s", got, want)
	}
}

func TestSeedsAndImagesDiffer(t *testing.T) {
	seen := map[Image]string{}
	for _, seed := range []uint64{1, 2} {
		for _, index := range []uint64{0, 1, 1 << 32} {
			var image Image
			Render(seed, index, &image)
			name := fmt.Sprintf("seed %d image %d", seed, index)
			if other, ok := seen[image]; ok {
				t.Errorf("%s is %s", name, other)
			}
			seen[image] = name
		}
	}
}

// TestAreas compares the area of each class in its own frame, counted on a fine grid, with its formula.
func TestAreas(t *testing.T) {
	const star = 5 * 0.42 * 0.58778525 // ten triangles of sides 1 and 0.42 around sin 36 degrees
	want := map[string]float64{
		"disc": math.Pi * 0.8, "square": 4 * 0.78 * 0.78, "triangle": 0.6 * 1.6 * 1.6, "star": star,
		"cross": 4*0.28*0.9*2 - 4*0.28*0.28, "ring": math.Pi * 0.55,
	}
	const n = 1000
	for _, c := range classes {
		count := 0
		for y := range n {
			for x := range n {
				if c.inside(3*(float64(x)+0.5)/n-1.5, 3*(float64(y)+0.5)/n-1.5) {
					count++
				}
			}
		}
		area := 9 * float64(count) / (n * n)
		if w, ok := want[c.name]; ok && math.Abs(area-w) > 0.01*w {
			t.Errorf("%s: area %.4f, want %.4f", c.name, area, w)
		}
		if area < 0.6 || area > 3 {
			t.Errorf("%s: area %.4f is nothing that 28 x 28 pixels show", c.name, area)
		}
	}
}

// TestColoursSayNothing checks that the mean colour of every class is grey: classes must not differ in it.
func TestColoursSayNothing(t *testing.T) {
	var sums [len(classes)][Channels]float64
	var counts [len(classes)]float64
	var image Image
	for i := range uint64(3000) {
		Render(1, i, &image)
		counts[image.Label]++
		for c := range Channels {
			for _, v := range image.Pixels[c*Size*Size : (c+1)*Size*Size] {
				sums[image.Label][c] += float64(v) / (Size * Size)
			}
		}
	}
	for label, class := range classes {
		if counts[label] < 200 || counts[label] > 400 {
			t.Errorf("%s: %.0f of 3000 images", class.name, counts[label])
		}
		for c, s := range sums[label] {
			// The deviation of an image's mean is about 55, that of 300 images' 3.2.
			if mean := s / counts[label]; math.Abs(mean-127.5) > 5*3.2 {
				t.Errorf("%s: channel %d has mean %.1f, want about 127.5", class.name, c, mean)
			}
		}
	}
}

// TestHardForLinear: the set promises that softmax regression stays under 60 %.
func TestHardForLinear(t *testing.T) {
	var sets [2]lineartest.Set
	var image Image
	for i, n := range []int{4000, 1000} {
		for k := range n {
			Render(1, uint64(i)<<32+uint64(k), &image)
			sets[i].Add(image.Pixels[:], image.Label)
		}
	}
	got := lineartest.Accuracy(&sets[0], &sets[1], len(classes), 3)
	t.Logf("softmax regression: %.3f", got)
	if got > 0.4 {
		t.Errorf("softmax regression gets %.3f right, want less than 0.4", got)
	}
}

func BenchmarkRender(b *testing.B) {
	var image Image
	for i := range b.N {
		Render(1, uint64(i), &image)
	}
}
