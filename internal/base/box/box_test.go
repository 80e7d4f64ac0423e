package box

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want float32) {
	t.Helper()
	if !(math.Abs(float64(got-want)) <= 1e-6*(1+math.Abs(float64(want)))) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func TestOverlapsByHand(t *testing.T) {
	a, b := Box{0, 0, 2, 1}, Box{1, 0.5, 3, 2.5} // areas 2 and 4, intersection 0.5
	near(t, "overlap", Overlap(a, b), 0.5/5.5)
	near(t, "coverage of a", Coverage(a, b), 0.25)
	near(t, "coverage of b", Coverage(b, a), 0.125)
	p, q := Box{0, 0, 9, 9}, Box{5, 5, 14, 9} // 10 x 10 and 10 x 5 pixels, 5 x 5 in common
	near(t, "overlap of pixels", PixelOverlap(p, q), 25./125)
	for _, apart := range []Box{{2, 0, 3, 1}, {5, 5, 6, 6}, {1, 1, 0, 0}} { // beside, apart, inside out
		near(t, "overlap", Overlap(a, apart), 0)
		near(t, "coverage", Coverage(a, apart), 0)
	}
	if (Box{1, 1, 0, 2}).Size() != 0 {
		t.Error("a box inside out has an area")
	}
	if got := (Box{-1, 0.2, 0.5, 3}).Clip(1, 1); got != (Box{0, 0.2, 0.5, 1}) {
		t.Errorf("clipped: %v", got)
	}
	if got := (Box{0.5, 0.25, 1, 0.75}).Scale(200, 100); got != (Box{100, 25, 200, 75}) {
		t.Errorf("scaled: %v", got)
	}
	if got := (Box{0.5, 0.5, 0.75, 1}).Within(Box{0.5, 0, 1, 0.5}); got != (Box{0, 1, 0.5, 2}) {
		t.Errorf("in a part: %v", got)
	}
	if (Box{0, 0, 1, 1}).Leaves() || !(Box{0, 0, 1.1, 1}).Leaves() || !(Box{-0.1, 0, 1, 1}).Leaves() {
		t.Error("a box leaves the image, or does not")
	}
}

func TestCodesByHand(t *testing.T) {
	prior, b, variance := Box{1, 2, 3, 6}, Box{1.5, 2, 5.5, 4}, [4]float32{0.1, 0.2, 0.5, 1}
	ln := func(v float64) float32 { return float32(math.Log(v)) }
	for code, want := range map[Code][4]float32{
		Corner:     {0.5, 0, 2.5, -2},
		CenterSize: {0.75, -0.25, ln(2), ln(0.5)}, // centres (2, 4) and (3.5, 3)
		CornerSize: {0.25, 0, 1.25, -0.5},
	} {
		for _, plain := range []bool{false, true} {
			c := Coder{code, plain}
			got := c.Encode(prior, variance, b)
			for i := range got {
				w := want[i]
				if !plain {
					w /= variance[i]
				}
				near(t, "code", got[i], w)
			}
			back := c.Decode(prior, variance, got)
			near(t, "xmin", back.XMin, b.XMin)
			near(t, "ymin", back.YMin, b.YMin)
			near(t, "xmax", back.XMax, b.XMax)
			near(t, "ymax", back.YMax, b.YMax)
		}
	}
}

// TestMatch: object 0 prefers box 0 (0.9), and so does object 1 (0.8), which then gets box 2 (0.3); box 1 overlaps object 0 by 0.6.
func TestMatch(t *testing.T) {
	overlaps := []float32{
		0.9, 0.6, 0.1, 0, 0.7,
		0.8, 0.2, 0.3, 0, 0.1,
	}
	partner, best := make([]int, 5), make([]float32, 5)
	for _, tt := range []struct {
		name    string
		m       Matcher
		skip    int
		partner []int
		best    []float32
	}{
		{"bipartite", Matcher{}, -1, []int{0, None, 1, None, None}, []float32{0.9, 0.6, 0.3, 0, 0.7}},
		{"extra", Matcher{Extra: true, Threshold: 0.6}, -1, []int{0, 0, 1, None, 0}, []float32{0.9, 0.6, 0.3, 0, 0.7}},
		{"high threshold", Matcher{Extra: true, Threshold: 0.65}, -1, []int{0, None, 1, None, 0}, []float32{0.9, 0.6, 0.3, 0, 0.7}},
		{"skipping", Matcher{Extra: true, Threshold: 0.5}, 0, []int{Ignored, 0, 1, None, 0}, []float32{0, 0.6, 0.3, 0, 0.7}},
	} {
		tt.m.Match(partner, best, overlaps, 2, func(i int) bool { return i == tt.skip })
		if !slices.Equal(partner, tt.partner) || !slices.Equal(best, tt.best) {
			t.Errorf("%s: %v %v, want %v %v", tt.name, partner, best, tt.partner, tt.best)
		}
	}
	var m Matcher // an object that overlaps nothing stays alone, and so does one too many
	m.Match(partner[:1], best, []float32{0, 0.5, 0.5}, 3, nil)
	if partner[0] != 1 {
		t.Errorf("of equal overlaps the partner is %d", partner[0])
	}
}

// TestMatchAgainstSorting compares with a matching that sorts all pairs.
func TestMatchAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		boxes, objects := 1+r.IntN(12), r.IntN(6)
		overlaps := make([]float32, boxes*objects)
		for k := range overlaps {
			overlaps[k] = float32(r.IntN(8)) / 8
		}
		want := slices.Repeat([]int{None}, boxes)
		type pair struct{ i, j int }
		var pairs []pair
		for i := range boxes {
			for j := range objects {
				if overlaps[j*boxes+i] > 0 {
					pairs = append(pairs, pair{i, j})
				}
			}
		}
		slices.SortStableFunc(pairs, func(a, b pair) int {
			switch va, vb := overlaps[a.j*boxes+a.i], overlaps[b.j*boxes+b.i]; {
			case va > vb:
				return -1
			case va < vb:
				return 1
			}
			return 0
		})
		taken := map[int]bool{}
		for _, p := range pairs {
			if want[p.i] == None && !taken[p.j] {
				want[p.i], taken[p.j] = p.j, true
			}
		}
		got, best := make([]int, boxes), make([]float32, boxes)
		new(Matcher).Match(got, best, overlaps, objects, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("%d boxes, overlaps %v: %v, want %v", boxes, overlaps, got, want)
		}
	}
}

func TestSuppress(t *testing.T) {
	boxes := []Box{{0, 0, 10, 10}, {0, 0, 10, 9}, {0, 0, 10, 5.5}, {20, 0, 30, 10}, {0, 0, 1e-3, 1e-3}} // overlaps with the first: 0.9, 0.55
	scores := []float32{0.9, 0.8, 0.95, 0.1, 0.99}
	for _, tt := range []struct {
		s    Suppressor
		want []int
	}{
		{Suppressor{Threshold: 0.5, Eta: 1}, []int{4, 2, 3}},
		{Suppressor{Threshold: 0.56, Eta: 1, Least: 1e-5}, []int{2, 0, 3}},
		{Suppressor{Threshold: 0.95, Eta: 1, Least: 1e-5}, []int{2, 0, 1, 3}},
		{Suppressor{Threshold: 0.9, Eta: 0.6, Least: 1e-5}, []int{2, 3}}, // 0.54 after the first, then no lower: 0.9 * 0.6 * 0.6
	} {
		order := []int{0, 1, 2, 3, 4}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		if got := tt.s.Suppress(order, func(i int) Box { return boxes[i] }); !slices.Equal(got, tt.want) {
			t.Errorf("%+v keeps %v, want %v", tt.s, got, tt.want)
		}
	}
	for threshold, want := range map[float32][2]bool{0.5: {true, false}, 1: {false, false}} { // of a box, and of an empty one
		s := Suppressor{Threshold: threshold, Eta: 1}
		if got := [2]bool{s.DropsEqual(boxes[0]), s.DropsEqual(Box{2, 3, 2, 9})}; got != want {
			t.Errorf("threshold %g drops equal boxes: %v, want %v", threshold, got, want)
		}
	}
}

// TestSuppressPlainly compares with the definition, whose every pair of boxes is measured: boxes that touch, are empty or inside out, and values that
// are no numbers or infinite.
func TestSuppressPlainly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0}
	value := func() float32 {
		if r.IntN(20) == 0 {
			return odd[r.IntN(len(odd))]
		}
		return float32(r.IntN(9)) / 8
	}
	for range 400 {
		boxes, order := make([]Box, 1+r.IntN(40)), []int(nil)
		for i := range boxes {
			boxes[i], order = Box{value(), value(), value() + 0.25, value() + 0.25}, append(order, i)
		}
		s := Suppressor{Threshold: []float32{math.Nextafter32(0, -1), 0, 0.2, 0.5, 0.9, 1.5}[r.IntN(6)], Eta: []float32{1, 0.8}[r.IntN(2)]}
		var want []int
		threshold := s.Threshold
		for _, i := range order {
			if slices.ContainsFunc(want, func(k int) bool { return !(Overlap(boxes[i], boxes[k]) <= threshold) }) {
				continue
			}
			if want = append(want, i); s.Eta < 1 && threshold > 0.5 {
				threshold *= s.Eta
			}
		}
		for range 2 { // the second time with used scratch
			if got := s.Suppress(slices.Clone(order), func(i int) Box { return boxes[i] }); !slices.Equal(got, want) {
				t.Fatalf("%+v of %v keeps %v, want %v", s, boxes, got, want)
			}
		}
	}
}

// TestAverageByHand: detections right, wrong, right, wrong of 4 objects have recalls 1/4, 1/4, 2/4, 2/4 and precisions 1, 1/2, 2/3, 1/2.
func TestAverageByHand(t *testing.T) {
	curve := func(objects int) *Curve {
		c := &Curve{Objects: objects}
		c.Add(0.2, false)
		c.Add(0.9, true)
		c.Add(0.5, true)
		c.Add(0.7, false)
		return c
	}
	for version, want := range map[string]float64{
		ElevenPoint: (3*1 + 3*2./3) / 11, // recalls 0, 0.1, 0.2; 0.3, 0.4, 0.5
		MaxIntegral: 0.25 + 0.25*2/3,
		Integral:    0.25 + 0.25*2/3,
	} {
		if got := curve(4).Average(version); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %g, want %g", version, got, want)
		}
		if (&Curve{Objects: 3}).Average(version) != 0 || curve(0).Average(version) != 0 {
			t.Errorf("%s of nothing is not 0", version)
		}
		if err := CheckVersion(version); err != nil {
			t.Error(err)
		}
	}
	// Wrong, right: the maximal precision equals the curve's, 1/2. Wrong, right, right: 1/2 and 2/3, maxima 2/3 and 2/3.
	c := &Curve{Objects: 2}
	c.Add(3, false)
	c.Add(2, true)
	c.Add(1, true)
	if got := c.Average(MaxIntegral); math.Abs(got-2./3) > 1e-12 {
		t.Errorf("MaxIntegral: %g", got)
	}
	if got := c.Average(Integral); math.Abs(got-(1./4+1./3)) > 1e-12 {
		t.Errorf("Integral: %g", got)
	}
	if CheckVersion("12point") == nil {
		t.Error("12point is a version")
	}
}
