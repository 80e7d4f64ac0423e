package netdraw

import (
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Sizes of a drawing.
const (
	nameSize   = 11 // points, of a layer's name
	detailSize = 8.5
	blobSize   = 8
	padding    = 5 // points, beside a box's text
)

// line is a line of text in a box.
type line struct {
	text string
	bold bool
	size vg.Length
}

// lines returns the text of a box by layers: the first one's name, its details and its phase, and a line for each layer in place.
func (g *Graph) lines(b *box) [][]line {
	first := b.layers[0]
	head := []line{{first.GetName(), true, nameSize}, {g.details(first), false, detailSize}}
	if only := g.only(b.phases); only != "" {
		head = append(head, line{only, false, detailSize})
	}
	rows := [][]line{head}
	for _, l := range b.layers[1:] {
		rows = append(rows, []line{{l.GetName() + ": " + g.details(l), false, detailSize}})
	}
	return rows
}

// style is how text is set; its widths are known without drawing it.
func style(l line) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: l.size}
	if l.bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Font: f, XAlign: text.XCenter, YAlign: text.YCenter, Handler: plot.DefaultTextHandler}
}

// height is that of a line with its share of the space between lines.
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
