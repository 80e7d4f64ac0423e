package figure

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// TestBand: a band is one tinted area round its curve, upper ends first; without ranges nothing is drawn.
func TestBand(t *testing.T) {
	points := plotter.XYs{{X: 1, Y: 2}, {X: 2, Y: 3}, {X: 3, Y: 5}}
	for _, ranges := range [][]Span{nil, {{1, 3}, {2, 6}, {4, 8}}} {
		p := New("", "x", "y")
		before := p.Y.Max
		if err := AddBand(p, Palette[0], points, ranges); err != nil {
			t.Fatal(err)
		}
		svg, err := Render("svg", 300, 200, func(c draw.Canvas) { Draw(p, c) })
		if err != nil {
			t.Fatal(err)
		}
		if drawn := strings.Contains(string(svg), "fill-opacity"); drawn != (ranges != nil) {
			t.Errorf("ranges %v: an area is drawn: %v", ranges, drawn)
		}
		if ranges != nil && (p.Y.Max != 8 || p.Y.Min != 1 || p.X.Max != 3) {
			t.Errorf("the axes show %g to %g, not the band (%g before)", p.Y.Min, p.Y.Max, before)
		}
	}
}
