package netdraw

import (
	"image/color"
	"math"

	"github.com/swcaffe/swcaffe/internal/app/figure"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// margin surrounds a drawing, in points.
const margin = 8

// Draw returns the graph as a picture, "svg" or "png".
func (g *Graph) Draw(format string) ([]byte, error) {
	l := g.layOut()
	return figure.RenderLengths(format, l.width+2*margin, l.height+2*margin, func(c draw.Canvas) {
		c.Push()
		c.Translate(vg.Point{X: margin, Y: margin})
		for _, line := range l.lines {
			drawLine(&c, line)
		}
		for _, name := range l.labels {
			drawLabel(&c, name)
		}
		for i, b := range g.boxes {
			g.drawBox(&c, b, l.centres[i])
		}
		c.Pop()
	})
}

// Fitted returns the graph as an SVG for browsers: its texts fit in their boxes in any font.
func (g *Graph) Fitted() ([]byte, error) {
	svg, err := g.Draw("svg")
	return figure.FitTexts(svg), err
}

var grey = color.Gray{70}

// outline returns the line style of boxes and arrows: dashed for those of one phase only.
func outline(dashed bool) draw.LineStyle {
	s := draw.LineStyle{Color: grey, Width: 0.8}
	if dashed {
		s.Dashes = []vg.Length{4, 2.5}
	}
	return s
}

// drawBox draws a box's rows, each in its layer's colour, and the outline.
func (g *Graph) drawBox(c *draw.Canvas, b *box, centre vg.Point) {
	width, height := g.size(b)
	left, top := centre.X-width/2, centre.Y+height/2
	c.SetLineStyle(outline(g.only(b.phases) != ""))
	for i, row := range g.lines(b) {
		bottom := top - rowHeight(row)
		rect := vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: left + width, Y: top}}.Path()
		c.SetColor(fills[kindOf(b.layers[i].GetType())])
		c.Fill(rect)
		c.SetColor(grey)
		c.Stroke(rect)
		y := top - padding/2.0
		for _, line := range row {
			s := style(line)
			s.Color = color.Black
			c.FillText(s, vg.Point{X: centre.X, Y: y - line.height()/2}, line.text)
			y -= line.height()
		}
		top = bottom
	}
}

// drawLine draws a part of an arrow, with a head at its end if it has one.
func drawLine(c *draw.Canvas, line curve) {
	c.SetLineStyle(outline(line.dashed))
	var p vg.Path
	p.Move(line.points[0])
	p.CubeTo(line.points[1], line.points[2], line.points[3])
	c.Stroke(p)
	if line.head {
		c.FillPolygon(grey, head(line.points[2], line.points[3]))
	}
}

// drawLabel writes a blob's name on its arrow.
func drawLabel(c *draw.Canvas, name label) {
	l := line{text: name.text, size: blobSize}
	s := style(l)
	half := vg.Point{X: s.Width(name.text)/2 + 1, Y: l.height() / 2}
	c.SetColor(color.White)
	c.Fill(vg.Rectangle{Min: name.centre.Sub(half), Max: name.centre.Add(half)}.Path())
	s.Color = color.NRGBA{0x1f, 0x3f, 0x8f, 255}
	c.FillText(s, name.centre, name.text)
}

// head is a triangle at tip that points away from behind.
func head(behind, tip vg.Point) []vg.Point {
	const length, half = 6, 2.5
	angle := math.Atan2(float64(tip.Y-behind.Y), float64(tip.X-behind.X))
	sin, cos := vg.Length(math.Sin(angle)), vg.Length(math.Cos(angle))
	base := vg.Point{X: tip.X - length*cos, Y: tip.Y - length*sin}
	return []vg.Point{tip, {X: base.X - half*sin, Y: base.Y + half*cos}, {X: base.X + half*sin, Y: base.Y - half*cos}}
}
