package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Label is a name for a point of a plot. Its marker has the given radius.
type Label struct {
	X, Y   float64
	Radius vg.Length
	Text   string
}

// Labels writes names beside points. Names overlap neither each other nor the plot's edge, markers or barriers. A line connects a distant
// name to its point; it crosses no name and no barrier, and if possible no marker. A name without a free place is left out. Earlier names
// are placed first.
type Labels struct {
	Labels   []Label
	Markers  []Label // markers to keep visible; their texts are unused
	Barriers []Barrier
	Style    text.Style
}

// Barrier is a straight line that neither names nor their lines cross, by the values at its ends.
type Barrier struct{ X0, Y0, X1, Y1 float64 }

// NewLabels makes labels in the plots' font.
func NewLabels(labels, markers []Label) *Labels {
	return &Labels{Labels: labels, Markers: markers, Style: Style(vg.Points(8.5))}
}

// directions from a point to its name, preferred ones first.
var directions = []vg.Point{
	{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 0.7, Y: 0.7}, {X: -0.7, Y: 0.7}, {X: 0.7, Y: -0.7}, {X: -0.7, Y: -0.7},
	{X: 0.4, Y: 0.9}, {X: -0.4, Y: 0.9}, {X: 0.4, Y: -0.9}, {X: -0.4, Y: -0.9}, {X: 0.9, Y: 0.4}, {X: -0.9, Y: 0.4}, {X: 0.9, Y: -0.4}, {X: -0.9, Y: -0.4},
}

// Plot implements plot.Plotter.
func (l *Labels) Plot(c draw.Canvas, p *plot.Plot) {
	for _, n := range l.Layout(&c, p) {
		if n.Far {
			to := nearest(n.At, n.Box)
			c.StrokeLine2(draw.LineStyle{Color: color.Gray{120}, Width: vg.Points(0.5)}, n.At.X, n.At.Y, to.X, to.Y)
		}
		style := l.Style
		style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
		c.FillText(style, vg.Point{X: (n.Box.Min.X + n.Box.Max.X) / 2, Y: (n.Box.Min.Y + n.Box.Max.Y) / 2}, n.Text)
	}
}

// Place is where a name stands. Far: a line connects it to its point.
type Place struct {
	At   vg.Point
	Box  vg.Rectangle
	Far  bool
	Text string
}

// Layout finds places for the names on a canvas.
func (l *Labels) Layout(c *draw.Canvas, p *plot.Plot) []Place {
	x, y := p.Transforms(c)
	free := space{edge: c.Rectangle}
	spots := func(labels []Label) (boxes []vg.Rectangle) {
		for _, m := range labels {
			boxes = append(boxes, around(vg.Point{X: x(m.X), Y: y(m.Y)}, vg.Point{X: m.Radius, Y: m.Radius}))
		}
		return boxes
	}
	free.markers = spots(l.Markers)
	for _, b := range l.Barriers {
		free.barriers = append(free.barriers, segment{vg.Point{X: x(b.X0), Y: y(b.Y0)}, vg.Point{X: x(b.X1), Y: y(b.Y1)}})
	}
	var names []Place
	for _, label := range l.Labels {
		at := vg.Point{X: x(label.X), Y: y(label.Y)}
		half := vg.Point{X: l.Style.Width(label.Text)/2 + 1, Y: l.Style.Height(label.Text)/2 + 1}
		if box, far, ok := free.place(at, label.Radius, half); ok {
			names = append(names, Place{at, box, far, label.Text})
		}
	}
	return names
}

// space holds the boxes already taken.
type space struct {
	edge           vg.Rectangle
	markers        []vg.Rectangle
	barriers       []segment
	names, leaders []vg.Rectangle // a leader is a row of small boxes along the line from a point to its name
}

// place finds a box for a name with the given half extents, near its point or further off. Names overlap no names, leaders,
// markers and barriers. Leaders cross no names and barriers, and if possible no markers.
func (f *space) place(at vg.Point, radius vg.Length, half vg.Point) (box vg.Rectangle, far, ok bool) {
	const step, steps = vg.Length(8), 40
	for _, avoid := range [][]vg.Rectangle{elsewhere(at, f.markers), nil} {
		for k := range steps {
			for _, d := range directions {
				reach := radius + 1 + vg.Length(k)*step
				box = around(at.Add(vg.Point{X: d.X * (reach + half.X), Y: d.Y * (reach + half.Y)}), half)
				if !inside(box, f.edge) || !clear(box, f.names) || !clear(box, f.leaders) || !clear(box, f.markers) || f.barred(box) {
					continue
				}
				var line []vg.Rectangle
				if k > 0 {
					line = leader(at, nearest(at, box))
				}
				if crosses(line, f.names) || crosses(line, avoid) || k > 0 && f.between(at, nearest(at, box)) {
					continue
				}
				f.names, f.leaders = append(f.names, box), append(f.leaders, line...)
				return box, k > 0, true
			}
		}
	}
	return box, false, false
}

// crosses reports whether a leader overlaps one of the boxes.
func crosses(line, boxes []vg.Rectangle) bool {
	return slices.ContainsFunc(line, func(spot vg.Rectangle) bool { return !clear(spot, boxes) })
}

// elsewhere returns the boxes that do not contain a point.
func elsewhere(at vg.Point, boxes []vg.Rectangle) []vg.Rectangle {
	var list []vg.Rectangle
	for _, b := range boxes {
		if clear(around(at, vg.Point{X: 1, Y: 1}), []vg.Rectangle{b}) {
			list = append(list, b)
		}
	}
	return list
}

// leader covers the line between two points with small boxes.
func leader(from, to vg.Point) []vg.Rectangle {
	const apart = 3
	n := max(1, int(math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y))/apart))
	var spots []vg.Rectangle
	for i := range n + 1 {
		at := from.Add(to.Sub(from).Scale(vg.Length(i) / vg.Length(n)))
		spots = append(spots, around(at, vg.Point{X: 0.5, Y: 0.5}))
	}
	return spots
}

// around returns the box with the given centre and half extents.
func around(middle, half vg.Point) vg.Rectangle {
	return vg.Rectangle{Min: middle.Sub(half), Max: middle.Add(half)}
}

// nearest returns the point of a box nearest to another point.
func nearest(at vg.Point, box vg.Rectangle) vg.Point {
	return vg.Point{X: max(box.Min.X, min(at.X, box.Max.X)), Y: max(box.Min.Y, min(at.Y, box.Max.Y))}
}

func inside(box, edge vg.Rectangle) bool {
	return box.Min.X >= edge.Min.X && box.Max.X <= edge.Max.X && box.Min.Y >= edge.Min.Y && box.Max.Y <= edge.Max.Y
}

// clear reports whether a box overlaps none of others.
func clear(box vg.Rectangle, others []vg.Rectangle) bool {
	for _, o := range others {
		if box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y {
			return false
		}
	}
	return true
}
