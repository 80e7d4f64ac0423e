package netdraw

import (
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Dimensions of a drawing.
const (
	nameSize   = 11 // points, for a layer's name
	detailSize = 8.5
	blobSize   = 8
	padding    = 5 // points, around a box's text
)

// line is a line of text in a box.
type line struct {
	text string
	bold bool
	size vg.Length
}

// lines returns the text of a box, layer by layer: name, details, shapes and phase of the first one, and one line for each in-place
// layer.
func (g *Graph) lines(b *box) [][]line {
	first := b.layers[0]
	head := []line{{first.GetName(), true, nameSize}, {g.details(first), false, detailSize}}
	if shapes := g.shapes(b); shapes != "" {
		head = append(head, line{shapes, false, detailSize})
	}
	if only := g.only(b.phases); only != "" {
		head = append(head, line{only, false, detailSize})
	}
	rows := [][]line{head}
	for _, l := range b.layers[1:] {
		rows = append(rows, []line{{l.GetName() + ": " + g.details(l), false, detailSize}})
	}
	return rows
}

// style returns a text style, whose widths are known without drawing.
func style(l line) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: l.size}
	if l.bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Font: f, XAlign: text.XCenter, YAlign: text.YCenter, Handler: plot.DefaultTextHandler}
}

// height returns the height of a line with its line spacing.
func (l line) height() vg.Length { return l.size * 1.35 }

// rowHeight is the height of a layer's part of a box.
func rowHeight(row []line) vg.Length {
	h := vg.Length(padding)
	for _, l := range row {
		h += l.height()
	}
	return h
}

// size returns the width and the height of a box.
func (g *Graph) size(b *box) (width, height vg.Length) {
	for _, row := range g.lines(b) {
		for _, l := range row {
			width = max(width, style(l).Width(l.text))
		}
		height += rowHeight(row)
	}
	return width + 2*padding, height
}
