package im2col

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Band is some rows of outputs of one image, for one group of channels.
type Band struct {
	Row, Rows int
	X, Y      []float32 // the group's channels of the image, and of the outputs from the band's first row on
	// Images is the number of images whose lines are transferred together, if DMA does so. Their channels are Apart values from one image to
	// the next, their column matrices Matrix values.
	Images, Apart, Matrix int
}

// Width returns the number of columns of the column matrix.
func (b *Band) Width(g *Geometry) int { return b.Rows * g.Width }

// Spread writes the column matrix of a band (im2col).
func (g *Geometry) Spread(cg *cpe.CoreGroup, columns []float32, b *Band) error {
	if cg.HasDMA() {
		return g.eachLine(cg, func(c *cpe.CPE, ch, at int) error { return g.scatter(c, columns, b, ch, at) })
	}
	for ch := range g.Channels {
		for k := range g.Outer {
			for r := range b.Rows {
				g.spread(columns, b, ch, k, r)
			}
		}
	}
	return nil
}

// spread writes the column lines that one image line goes to.
func (g *Geometry) spread(columns []float32, b *Band, ch, k, r int) {
	at := int(g.Lines[(b.Row+r)*g.Outer+k])
	var in []float32
	if at >= 0 {
		in = b.X[ch*g.Plane+at*g.Line:][:g.Line]
	}
	for x := range g.Last {
		row := (ch*g.Outer+k)*g.Last + x
		g.fill(columns[row*b.Width(g)+r*g.Width:][:g.Width], in, x, at >= 0)
	}
}

// fill writes the column line of offset x from an image line, or from padding.
func (g *Geometry) fill(dst, src []float32, x int, inside bool) {
	lo, hi := g.Lo[x], g.Hi[x]
	if !inside || lo == hi {
		clear(dst)
		return
	}
	clear(dst[:lo])
	clear(dst[hi:])
	src = src[lo*g.Stride+g.Shift[x]:]
	if g.Stride == 1 {
		copy(dst[lo:hi], src)
		return
	}
	vec.Every(dst[lo:hi], src, g.Stride)
}

// Fold adds the column matrix of a band to the gradient of the image (col2im). The first band of an image clears the gradient.
func (g *Geometry) Fold(cg *cpe.CoreGroup, columns []float32, b *Band, first bool) error {
	if cg.HasDMA() && g.groups() {
		return g.foldGroups(cg, columns, b)
	}
	if cg.HasDMA() {
		return g.eachLine(cg, func(c *cpe.CPE, ch, at int) error { return g.collect(c, columns, b, ch, at) })
	}
	for ch := range g.Channels {
		if first {
			clear(b.X[ch*g.Plane : (ch+1)*g.Plane])
		}
		g.fold(columns, b, ch)
	}
	return nil
}

// fold adds the column lines of a channel to the image lines they came from.
func (g *Geometry) fold(columns []float32, b *Band, ch int) {
	width := b.Width(g)
	for k := range g.Outer {
		row := (ch*g.Outer + k) * g.Last
		for r := range b.Rows {
			if at := int(g.Lines[(b.Row+r)*g.Outer+k]); at >= 0 {
				g.addTo(b.X[ch*g.Plane+at*g.Line:], columns[row*width+r*g.Width:], width)
			}
		}
	}
}

// addTo adds the column lines of all offsets along the last axis, ld values apart, to their image line.
func (g *Geometry) addTo(dst, src []float32, ld int) {
	for x := range g.Last {
		g.addLine(dst, src[x*ld:], x)
	}
}

// addLine adds the column line of offset x to its image line.
func (g *Geometry) addLine(dst, src []float32, x int) { g.addPart(dst, src, x, 0, g.Width, 0) }

// addPart adds the column values src of offset x and outputs first <= o < last to an image line from its value at on.
func (g *Geometry) addPart(dst, src []float32, x, first, last, at int) {
	lo, hi := max(first, g.Lo[x]), min(last, g.Hi[x])
	if lo >= hi {
		return
	}
	in, column := lo*g.Stride+g.Shift[x]-at, src[lo-first:hi-first]
	if n := hi - lo; g.Stride == 1 && n >= 32 {
		vec.Add(dst[in:in+n], dst[in:in+n], column)
		return
	}
	for _, v := range column {
		dst[in] += v
		in += g.Stride
	}
}
