package topology

import (
	"math"
	"testing"
)

// FuzzSpec: any text of a cluster's file is refused, or gives times that are finite and not negative.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(goodSpec))
	files, err := clusterFiles.ReadDir("clusters")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := clusterFiles.ReadFile("clusters/" + file.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSpec("fuzz.prototxt", text)
		if err != nil {
			return
		}
		l, err := NewLayout(s, min(max(s.Nodes, 1), 6), Block)
		if err != nil {
			return
		}
		for _, name := range Fixed() {
			if c := float64(Cost(name, s, l, 1<<20)); !(c >= 0) || math.IsInf(c, 1) {
				t.Errorf("%s takes %g s on\n%s", name, c, text)
			}
		}
	})
}
