package points

import (
	"math"
	"testing"
)

// TestDraw: points depend on seed and index, classes are as frequent as each other, and the coordinates hang together as the
// package says.
func TestDraw(t *testing.T) {
	const n = 4000
	seen := map[Point]bool{}
	ones := 0
	for i := range uint64(n) {
		var p, again Point
		Draw(1, i, &p)
		Draw(1, i, &again)
		if p != again {
			t.Fatalf("point %d is %v, then %v", i, p, again)
		}
		if seen[p] {
			t.Fatalf("point %d, %v, was drawn before", i, p)
		}
		seen[p] = true
		ones += p.Label
		x, y := float64(p.Coordinates[0]), float64(p.Coordinates[2])
		if math.Abs(float64(p.Coordinates[1])-0.7*x+0.4*y) > 1e-6 || math.Abs(float64(p.Coordinates[3])+0.3*x+0.9*y) > 1e-6 {
			t.Fatalf("point %d: %v", i, p.Coordinates)
		}
	}
	if math.Abs(float64(ones)/n-0.5) > 0.03 {
		t.Errorf("%d of %d points are of class 1", ones, n)
	}
	var a, b Point
	Draw(1, 0, &a)
	Draw(2, 0, &b)
	if a == b {
		t.Error("seeds 1 and 2 draw the same point")
	}
}

// TestHardness: the best of many lines is right for about five points in six, and the nearest cluster for more, so that a
// hidden layer has something to find.
func TestHardness(t *testing.T) {
	const n = 2000
	all := make([]Point, n)
	for i := range all {
		Draw(3, uint64(i), &all[i])
	}
	share := func(classify func(x, y float64) bool) float64 {
		right := 0
		for _, p := range all {
			if classify(float64(p.Coordinates[0]), float64(p.Coordinates[2])) == (p.Label == 1) {
				right++
			}
		}
		return float64(right) / n
	}
	line := 0.0
	for angle := 0.0; angle < 2*math.Pi; angle += 0.05 {
		for offset := -2.0; offset < 2; offset += 0.1 {
			line = max(line, share(func(x, y float64) bool { return math.Cos(angle)*x+math.Sin(angle)*y > offset }))
		}
	}
	nearest := share(func(x, y float64) bool {
		var d [Classes]float64
		for k := range d {
			d[k] = math.Inf(1)
			for _, c := range clusters[k] {
				d[k] = min(d[k], (x-c.x)*(x-c.x)+(y-c.y)*(y-c.y))
			}
		}
		return d[1] < d[0]
	})
	t.Logf("line %.3f, nearest cluster %.3f", line, nearest)
	if line < 0.78 || line > 0.88 || nearest < line+0.02 {
		t.Errorf("the best line gets %.3f right, the nearest cluster %.3f", line, nearest)
	}
}
