package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// band is a band of rows of outputs of one image, for one group of channels.
type band struct {
	row, rows int
	x, y      []float32 // the group's channels of the image, and of the outputs from the band's first row on
	// On a model lines of several images can be taken together: so many, whose channels and whose column matrices stand so
	// many values apart.
	images, apart, matrix int
}

// width is the number of columns of the band's column matrix.
func (b *band) width(g *geometry) int { return b.rows * g.width }

// im2col writes a band's column matrix, on a model as the CPEs' lines say.
func (g *geometry) im2col(cg *cpe.CoreGroup, columns []float32, b *band) error {
	if !cg.Native() {
		return g.eachLine(cg, b, func(c *cpe.CPE, ch, at int) error { return g.scatter(c, columns, b, ch, at) })
	}
	for ch := range g.channels {
		for k := range g.outer {
			for r := range b.rows {
				g.spread(columns, b, ch, k, r)
			}
		}
	}
	return nil
}

// spread makes the column lines of one image line.
func (g *geometry) spread(columns []float32, b *band, ch, k, r int) {
	at := int(g.lines[(b.row+r)*g.outer+k])
	var in []float32
	if at >= 0 {
		in = b.x[ch*g.plane+at*g.line:][:g.line]
	}
	for x := range g.last {
		row := (ch*g.outer+k)*g.last + x
		g.fill(columns[row*b.width(g)+r*g.width:][:g.width], in, x, at >= 0)
	}
}

// fill makes the column line of offset x from an image line, or from padding.
func (g *geometry) fill(dst, src []float32, x int, inside bool) {
	lo, hi := g.lo[x], g.hi[x]
	if !inside || lo == hi {
		clear(dst)
		return
	}
	clear(dst[:lo])
	clear(dst[hi:])
	src = src[lo*g.stride+g.shift[x]:]
	if g.stride == 1 {
		copy(dst[lo:hi], src)
		return
	}
	vec.Every(dst[lo:hi], src, g.stride)
}

// col2im adds a band's column matrix up into the image's gradient, which the first band of an image clears.
func (g *geometry) col2im(cg *cpe.CoreGroup, columns []float32, b *band, first bool) error {
	if !cg.Native() {
		return g.eachLine(cg, b, func(c *cpe.CPE, ch, at int) error { return g.collect(c, columns, b, ch, at) })
	}
	for ch := range g.channels {
		if first {
			clear(b.x[ch*g.plane : (ch+1)*g.plane])
		}
		g.fold(columns, b, ch)
	}
	return nil
}

// fold adds the column lines of a channel to the image lines they came from.
func (g *geometry) fold(columns []float32, b *band, ch int) {
	width := b.width(g)
	for k := range g.outer {
		row := (ch*g.outer + k) * g.last
		for r := range b.rows {
			if at := int(g.lines[(b.row+r)*g.outer+k]); at >= 0 {
				g.addTo(b.x[ch*g.plane+at*g.line:], columns[row*width+r*g.width:], width)
			}
		}
	}
}

// addTo adds the column lines of all offsets along the last axis, ld values apart, to their image line.
func (g *geometry) addTo(dst, src []float32, ld int) {
	for x := range g.last {
		g.addLine(dst, src[x*ld:], x)
	}
}

// addLine adds the column line of offset x to its image line.
func (g *geometry) addLine(dst, src []float32, x int) {
	lo, hi := g.lo[x], g.hi[x]
	if lo == hi {
		return
	}
	in, column := lo*g.stride+g.shift[x], src[lo:hi]
	if n := hi - lo; g.stride == 1 && n >= 32 {
		vec.Add(dst[in:in+n], dst[in:in+n], column)
		return
	}
	for _, v := range column {
		dst[in] += v
		in += g.stride
	}
}
