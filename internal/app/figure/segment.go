package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// segment is a straight line between two points.
type segment struct{ from, to vg.Point }

// side is the distance of a point from the line through the segment, positive to its left.
func (s segment) side(q vg.Point) float64 {
	along, to := s.to.Sub(s.from), q.Sub(s.from)
	return float64(along.X*to.Y-along.Y*to.X) / math.Hypot(float64(along.X), float64(along.Y))
}

// onLine is the distance in points up to which a point lies on a line.
const onLine = 0.5

// parts reports whether two points lie on different sides of a segment, and the line between them meets it.
func (s segment) parts(a, b vg.Point) bool {
	u, v := s.side(a), s.side(b)
	if math.Abs(u) <= onLine || math.Abs(v) <= onLine || (u > 0) == (v > 0) {
		return false
	}
	across := segment{a, b}
	return across.side(s.from)*across.side(s.to) <= 0
}

// barred reports whether a barrier passes through a box, or closer by than the half width of its line.
func (f *space) barred(box vg.Rectangle) bool {
	const width = 1.5
	box.Min, box.Max = box.Min.Sub(vg.Point{X: width, Y: width}), box.Max.Add(vg.Point{X: width, Y: width})
	corners := [...]vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}}
	for _, s := range f.barriers {
		if inside(vg.Rectangle{Min: s.from, Max: s.from}, box) {
			return true
		}
		for i, c := range corners {
			if s.parts(c, corners[(i+1)%4]) {
				return true
			}
		}
	}
	return false
}

// between reports whether a barrier separates two points.
func (f *space) between(a, b vg.Point) bool {
	for _, s := range f.barriers {
		if s.parts(a, b) {
			return true
		}
	}
	return false
}
