package shapes

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"testing"
)

// TestSceneGolden pins the scenes of seed 1, as TestGolden does images.
func TestSceneGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digest is of amd64")
	}
	const want = "56bc399009d913991abeb66023e7289626cb4562116c8c9e70f09a41c68dd7a9"
	h := sha256.New()
	var s Scene
	for i := range uint64(30) {
		RenderScene(1, i, &s)
		h.Write(s.Pixels[:])
		h.Write(s.Classes[:])
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("digest of scenes 0 to 29 of seed 1 is %s, was %s", got, want)
	}
}

// TestSceneClasses: all classes come up, ground takes most of the pixels, and a class's pixels differ from the ground's in their
// mean colour, so that masks and pixels belong together.
func TestSceneClasses(t *testing.T) {
	const n = 300
	var count [1 + 10]int
	apart := 0
	for i := range uint64(n) {
		var s Scene
		RenderScene(7, i, &s)
		var in, out colour
		inside := 0
		for p, class := range s.Classes {
			if int(class) > len(classes) {
				t.Fatalf("scene %d: class %d", i, class)
			}
			count[class]++
			sum := &out
			if class > 0 {
				sum = &in
				inside++
			}
			for c := range sum {
				sum[c] += float64(s.Pixels[c*SceneSize*SceneSize+p]) / 255
			}
		}
		if inside == 0 {
			t.Errorf("scene %d is empty", i)
			continue
		}
		for c := range in {
			in[c] /= float64(inside)
			out[c] /= float64(len(s.Classes) - inside)
		}
		if distance(in, out) > minContrast/2 {
			apart++
		}
	}
	ground := float64(count[0]) / (n * SceneSize * SceneSize)
	t.Logf("ground: %.3f of the pixels", ground)
	if ground < 0.5 || ground > 0.9 {
		t.Errorf("%.2f of the pixels are ground", ground)
	}
	for class, k := range count {
		if k < n*SceneSize*SceneSize/200 {
			t.Errorf("class %d has %d pixels", class, k)
		}
	}
	if apart < n*3/4 {
		t.Errorf("shapes and ground differ in %d of %d scenes", apart, n)
	}
}
