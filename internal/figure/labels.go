package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Label is a name for a point of a plot whose marker has a radius.
type Label struct {
	X, Y   float64
	Radius vg.Length
	Text   string
}

// Labels write names beside points where they hide neither each other nor the edge, nor markers if there is a place like that.
// A name that stands further off is joined to its point by a line; one without a place is left out. The first ones have the choice.
type Labels struct {
	Labels  []Label
	Markers []Label // that should not be hidden; their texts do not matter
	Style   text.Style
}

// NewLabels makes labels in the plots' font.
func NewLabels(labels, markers []Label) *Labels {
	return &Labels{labels, markers, Style(vg.Points(8.5))}
}

// directions in which a name may stand, the preferred ones first.
var directions = []vg.Point{
	{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 0.7, Y: 0.7}, {X: -0.7, Y: 0.7}, {X: 0.7, Y: -0.7}, {X: -0.7, Y: -0.7},
	{X: 0.4, Y: 0.9}, {X: -0.4, Y: 0.9}, {X: 0.4, Y: -0.9}, {X: -0.4, Y: -0.9}, {X: 0.9, Y: 0.4}, {X: -0.9, Y: 0.4}, {X: 0.9, Y: -0.4}, {X: -0.9, Y: -0.4},
}

// Plot implements plot.Plotter.
func (l *Labels) Plot(c draw.Canvas, p *plot.Plot) {
	for _, n := range l.layout(&c, p) {
		if n.far {
			line := draw.LineStyle{Color: color.Gray{120}, Width: vg.Points(0.5)}
			c.StrokeLine2(line, n.at.X, n.at.Y, clamp(n.at.X, n.box.Min.X, n.box.Max.X), clamp(n.at.Y, n.box.Min.Y, n.box.Max.Y))
		}
		style := l.Style
		style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
		c.FillText(style, vg.Point{X: (n.box.Min.X + n.box.Max.X) / 2, Y: (n.box.Min.Y + n.box.Max.Y) / 2}, n.text)
	}
}

// placed is a name with its place; far says that a line joins it to its point.
type placed struct {
	at   vg.Point
	box  vg.Rectangle
	far  bool
	text string
}

// layout finds places for the names.
func (l *Labels) layout(c *draw.Canvas, p *plot.Plot) []placed {
	x, y := p.Transforms(c)
	var markers, taken []vg.Rectangle
	for _, m := range l.Markers {
		at := vg.Point{X: x(m.X), Y: y(m.Y)}
		half := vg.Point{X: m.Radius, Y: m.Radius}
		markers = append(markers, vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)})
	}
	var names []placed
	for _, label := range l.Labels {
		at := vg.Point{X: x(label.X), Y: y(label.Y)}
		size := vg.Point{X: l.Style.Width(label.Text), Y: l.Style.Height(label.Text)}
		if box, far, ok := place(at, label.Radius, size, c.Rectangle, taken, markers); ok {
			taken = append(taken, box)
			names = append(names, placed{at, box, far, label.Text})
		}
	}
	return names
}

// place finds a box for a name of a size: near its point or further off, best without hiding markers.
func place(at vg.Point, radius vg.Length, size vg.Point, edge vg.Rectangle, taken, markers []vg.Rectangle) (box vg.Rectangle, far, ok bool) {
	const gap, step, steps = vg.Length(2), vg.Length(8), 20
	for _, avoid := range [][]vg.Rectangle{markers, nil} {
		for k := range steps {
			for _, d := range directions {
				reach := radius + gap + vg.Length(k)*step
				middle := at.Add(vg.Point{X: d.X * (reach + size.X/2), Y: d.Y * (reach + size.Y/2)})
				box = vg.Rectangle{
					Min: vg.Point{X: middle.X - size.X/2 - 1, Y: middle.Y - size.Y/2 - 1}, Max: vg.Point{X: middle.X + size.X/2 + 1, Y: middle.Y + size.Y/2 + 1},
				}
				if inside(box, edge) && clear(box, taken) && clear(box, avoid) {
					return box, k > 0, true
				}
			}
		}
	}
	return box, false, false
}

func inside(box, edge vg.Rectangle) bool {
	return box.Min.X >= edge.Min.X && box.Max.X <= edge.Max.X && box.Min.Y >= edge.Min.Y && box.Max.Y <= edge.Max.Y
}

// clear reports whether a box meets none of others.
func clear(box vg.Rectangle, others []vg.Rectangle) bool {
	for _, o := range others {
		if box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y {
			return false
		}
	}
	return true
}

func clamp(v, low, high vg.Length) vg.Length { return max(low, min(v, high)) }
