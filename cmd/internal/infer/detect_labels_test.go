package infer

import (
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestLabelsDoNotOverlap: labels of boxes that lie over each other, at the picture's edges too, stay apart and within the picture.
func TestLabelsDoNotOverlap(t *testing.T) {
	p := labelPlaces{edge: vg.Rectangle{Max: vg.Point{X: 300, Y: 200}}}
	for k := range 40 {
		x, y := vg.Length(k%4*60), vg.Length(k%3*70)
		p.boxes = append(p.boxes, vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + 110, Y: y + 60}})
	}
	for k := range p.boxes {
		size := vg.Point{X: vg.Length(40 + k%5*5), Y: 12}
		placed := append([]vg.Rectangle(nil), p.labels...)
		at, _ := p.place(k, size)
		if shared := area(at, placed); shared > 0 {
			t.Errorf("label %d at %v covers %g of earlier labels", k, at, shared)
		}
		if at.Size() != size || at.Min.X < 0 || at.Min.Y < 0 || at.Max.X > p.edge.Max.X || at.Max.Y > p.edge.Max.Y {
			t.Errorf("label %d at %v of size %v leaves the picture", k, at, at.Size())
		}
	}
}

// TestLabelOfOneBox: a label stands above its box, or below it where the picture ends, or within it where that is the whole picture.
func TestLabelOfOneBox(t *testing.T) {
	size := vg.Point{X: 30, Y: 10}
	for _, tt := range []struct{ box, want vg.Rectangle }{
		{vg.Rectangle{Min: vg.Point{X: 20, Y: 20}, Max: vg.Point{X: 80, Y: 60}}, vg.Rectangle{Min: vg.Point{X: 20, Y: 60}, Max: vg.Point{X: 50, Y: 70}}},
		{vg.Rectangle{Min: vg.Point{X: 20, Y: 40}, Max: vg.Point{X: 80, Y: 100}}, vg.Rectangle{Min: vg.Point{X: 20, Y: 30}, Max: vg.Point{X: 50, Y: 40}}},
		{vg.Rectangle{Max: vg.Point{X: 100, Y: 100}}, vg.Rectangle{Min: vg.Point{Y: 90}, Max: vg.Point{X: 30, Y: 100}}},
	} {
		p := labelPlaces{edge: vg.Rectangle{Max: vg.Point{X: 100, Y: 100}}, boxes: []vg.Rectangle{tt.box}}
		if at, far := p.place(0, size); at != tt.want || far {
			t.Errorf("box %v: label at %v, far %v; want %v", tt.box, at, far, tt.want)
		}
	}
}

// TestLabelsInAFullPicture: without a free place, a label stays at its box.
func TestLabelsInAFullPicture(t *testing.T) {
	edge := vg.Rectangle{Max: vg.Point{X: 30, Y: 10}}
	p := labelPlaces{edge: edge, boxes: []vg.Rectangle{edge, edge}}
	for k := range 2 {
		if at, far := p.place(k, edge.Max); at != edge || far {
			t.Errorf("label %d at %v, far %v", k, at, far)
		}
	}
}
