package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// band is a band of rows of outputs of one image, for one group of channels.
type band struct {
	row, rows int
	x, y      []float32 // the group's channels of the image, and of the outputs from the band's first row on
}

// width is the number of columns of the band's column matrix.
func (b *band) width(g *geometry) int { return b.rows * g.width }

// im2col writes a band's column matrix. The unit of work of a CPE is one line of the image, from which it makes the
// lines of all offsets along the last axis (swCaffe, section IV-B).
func (g *geometry) im2col(cg *cpe.CoreGroup, columns []float32, b *band) error {
	cpes := cg.CPEs()[:cg.Deal(g.channels*g.outer*b.rows)]
	n := 0
	for ch := range g.channels {
		for k := range g.outer {
			for r := range b.rows {
				if err := g.spread(cpes[n%len(cpes)], columns, b, ch, k, r); err != nil {
					return err
				}
				if n++; n%len(cpes) == 0 {
					cg.Overlap()
				}
			}
		}
	}
	cg.Sync()
	return nil
}

// spread makes the column lines of one image line.
func (g *geometry) spread(c *cpe.CPE, columns []float32, b *band, ch, k, r int) error {
	c.Free()
	in, err := c.Alloc("im2col", g.line)
	if err != nil {
		return err
	}
	out, err := c.Alloc("im2col", g.width)
	if err != nil {
		return err
	}
	at := int(g.lines[(b.row+r)*g.outer+k])
	if at >= 0 {
		block := line(b.x, ch*g.plane+at*g.line, g.line)
		in, _, _ = c.Load(in, &block)
	}
	for x := range g.last {
		row := (ch*g.outer+k)*g.last + x
		block := line(columns, row*b.width(g)+r*g.width, g.width)
		dst, _, _ := c.Place(out, &block)
		if c.Values() {
			g.fill(dst[:g.width], in, x, at >= 0)
		}
		c.Store(&block, dst)
	}
	return nil
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
	pick(dst[lo:hi], src, g.stride)
}

// col2im adds a band's column matrix up into the image's gradient, which the first band of an image clears. Every channel
// of the image belongs to one CPE, which takes the lines of all offsets in their order.
func (g *geometry) col2im(cg *cpe.CoreGroup, columns []float32, b *band, first bool) error {
	cpes := cg.CPEs()[:cg.Deal(g.channels)]
	for ch := range g.channels {
		c := cpes[ch%len(cpes)]
		if first {
			if err := g.clear(c, b, ch); err != nil {
				return err
			}
		}
		for k := range g.outer {
			for r := range b.rows {
				if err := g.fold(c, columns, b, ch, k, r); err != nil {
					return err
				}
			}
		}
		if (ch+1)%len(cpes) == 0 {
			cg.Overlap()
		}
	}
	cg.Sync()
	return nil
}

// clear zeroes a channel's gradient.
func (g *geometry) clear(c *cpe.CPE, b *band, ch int) error {
	c.Free()
	buffer, err := c.Alloc("col2im", g.line)
	if err != nil {
		return err
	}
	for l := range g.plane / g.line {
		block := line(b.x, ch*g.plane+l*g.line, g.line)
		dst, _, _ := c.Place(buffer, &block)
		if c.Values() {
			clear(dst[:g.line])
		}
		c.Store(&block, dst)
	}
	return nil
}

// fold adds the column lines of all offsets along the last axis to the image line they came from.
func (g *geometry) fold(c *cpe.CPE, columns []float32, b *band, ch, k, r int) error {
	at := int(g.lines[(b.row+r)*g.outer+k])
	if at < 0 {
		return nil
	}
	c.Free()
	in, err := c.Alloc("col2im", g.line)
	if err != nil {
		return err
	}
	buffer, err := c.Alloc("col2im", g.width)
	if err != nil {
		return err
	}
	image := line(b.x, ch*g.plane+at*g.line, g.line)
	dst, _, _ := c.Load(in, &image)
	for x := range g.last {
		row := (ch*g.outer+k)*g.last + x
		block := line(columns, row*b.width(g)+r*g.width, g.width)
		src, _, _ := c.Load(buffer, &block)
		c.Compute(float64(g.hi[x]-g.lo[x]), 0)
		if c.Values() {
			g.addTo(dst, src, x)
		}
	}
	c.Store(&image, dst)
	return nil
}

// addTo adds the column line of offset x to its image line.
func (g *geometry) addTo(dst, src []float32, x int) {
	lo, hi := g.lo[x], g.hi[x]
	if lo == hi {
		return
	}
	in := lo*g.stride + g.shift[x]
	if g.stride == 1 {
		simd.Add(dst[in:in+hi-lo], dst[in:in+hi-lo], src[lo:hi])
		return
	}
	for o := lo; o < hi; o++ {
		dst[in] += src[o]
		in += g.stride
	}
}
