package infer

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// labelPlaces finds places for the labels of boxes: within the picture, over no other label while there is room, and over as little as
// possible of the boxes.
type labelPlaces struct {
	edge   vg.Rectangle
	boxes  []vg.Rectangle
	labels []vg.Rectangle // placed so far
}

// place returns the place of a label of a size for box i. far means that it does not touch its box.
func (p *labelPlaces) place(i int, size vg.Point) (place vg.Rectangle, far bool) {
	b := p.boxes[i]
	left, right, top, bottom := b.Min.X, b.Max.X-size.X, b.Max.Y, b.Min.Y-size.Y
	least := math.Inf(1)
	for _, at := range []vg.Point{
		{X: left, Y: top}, {X: right, Y: top}, {X: left, Y: bottom}, {X: right, Y: bottom}, // above and below
		{X: b.Max.X, Y: top - size.Y}, {X: left - size.X, Y: top - size.Y}, // beside
		{X: left, Y: top - size.Y}, {X: right, Y: top - size.Y}, {X: left, Y: b.Min.Y}, {X: right, Y: b.Min.Y}, // within
	} {
		r := p.within(at, size)
		hidden := area(r, p.boxes)
		if over := area(r, p.labels); over > 0 {
			hidden += 1e6 * over
		}
		if hidden < least {
			place, least = r, hidden
		}
	}
	if area(place, p.labels) > 0 {
		place, far = p.elsewhere(place, size)
	}
	p.labels = append(p.labels, place)
	return place, far
}

// elsewhere returns the free place nearest to one that is taken, or the latter if the picture is full.
func (p *labelPlaces) elsewhere(taken vg.Rectangle, size vg.Point) (place vg.Rectangle, far bool) {
	place = taken
	least := math.Inf(1)
	for y := p.edge.Min.Y; y+size.Y <= p.edge.Max.Y; y += size.Y / 2 {
		for x := p.edge.Min.X; x+size.X <= p.edge.Max.X; x += size.X / 4 {
			r := p.within(vg.Point{X: x, Y: y}, size)
			distance := math.Hypot(float64(x-taken.Min.X), float64(y-taken.Min.Y))
			if distance < least && area(r, p.labels) == 0 {
				place, far, least = r, true, distance
			}
		}
	}
	return place, far
}

// within returns the rectangle at a point, moved into the picture.
func (p *labelPlaces) within(at, size vg.Point) vg.Rectangle {
	at.X = max(p.edge.Min.X, min(at.X, p.edge.Max.X-size.X))
	at.Y = max(p.edge.Min.Y, min(at.Y, p.edge.Max.Y-size.Y))
	return vg.Rectangle{Min: at, Max: at.Add(size)}
}

// area is the sum of the areas that a rectangle shares with others.
func area(r vg.Rectangle, others []vg.Rectangle) (sum float64) {
	for _, o := range others {
		w, h := min(r.Max.X, o.Max.X)-max(r.Min.X, o.Min.X), min(r.Max.Y, o.Max.Y)-max(r.Min.Y, o.Min.Y)
		if w > 0 && h > 0 {
			sum += float64(w) * float64(h)
		}
	}
	return sum
}

// inkOn is black or white, whichever is easier to read on a colour.
func inkOn(c color.Color) color.Color {
	if color.GrayModel.Convert(c).(color.Gray).Y > 140 {
		return color.Black
	}
	return color.White
}
