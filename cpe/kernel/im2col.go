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
// of the image belongs to one CPE, which takes the lines of all offsets in their order. Natively its tile is the channel; on
// a model it is a line of the image with its lines of the column matrix, the mirror of im2col.
func (g *geometry) col2im(cg *cpe.CoreGroup, columns []float32, b *band, first bool) error {
	cpes := cg.CPEs()[:cg.Deal(g.channels)]
	for ch := range g.channels {
		c := cpes[ch%len(cpes)]
		if first {
			if err := g.clear(c, b, ch); err != nil {
				return err
			}
		}
		if err := g.fold(c, columns, b, ch); err != nil {
			return err
		}
		if (ch+1)%len(cpes) == 0 {
			cg.Overlap()
		}
	}
	cg.Sync()
	return nil
}

// clear zeroes a channel's gradient, as many lines at a time as fit LDM.
func (g *geometry) clear(c *cpe.CPE, b *band, ch int) error {
	c.Free()
	size := g.plane
	if !c.Native() {
		size = g.line
	}
	buffer, err := c.Alloc("col2im", size)
	if err != nil {
		return err
	}
	for at := 0; at < g.plane; at += size {
		block := line(b.x, ch*g.plane+at, size)
		dst, _, _ := c.Place(buffer, &block)
		if c.Values() {
			clear(dst[:size])
		}
		c.Store(&block, dst)
	}
	return nil
}

// fold adds the column lines of a channel to the image lines they came from.
func (g *geometry) fold(c *cpe.CPE, columns []float32, b *band, ch int) error {
	width := b.width(g)
	for k := range g.outer {
		row := (ch*g.outer + k) * g.last
		for r := range b.rows {
			at := int(g.lines[(b.row+r)*g.outer+k])
			if at < 0 {
				continue
			}
			if c.Native() {
				g.addTo(b.x[ch*g.plane+at*g.line:], columns[row*width+r*g.width:], width)
				continue
			}
			image := line(b.x, ch*g.plane+at*g.line, g.line)
			part := cpe.Block{Planes: 1, PlaneStride: g.last * width, Rows: g.last, RowStride: width, Cols: g.width}
			part.Data = from(columns, row*width+r*g.width)
			if err := g.foldTile(c, &image, &part); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldTile adds the column lines of one image line to it, in LDM.
func (g *geometry) foldTile(c *cpe.CPE, image, part *cpe.Block) error {
	c.Free()
	in, err := c.Alloc("col2im", image.Count())
	if err != nil {
		return err
	}
	buffer, err := c.Alloc("col2im", part.Count())
	if err != nil {
		return err
	}
	dst, _, _ := c.Load(in, image)
	src, _, stride := c.Load(buffer, part)
	c.Compute(float64(part.Count()), 0)
	if c.Values() {
		g.addTo(dst, src, stride)
	}
	c.Store(image, dst)
	return nil
}

// addTo adds the column lines of all offsets along the last axis, ld values apart, to their image line.
func (g *geometry) addTo(dst, src []float32, ld int) {
	for x := range g.last {
		lo, hi := g.lo[x], g.hi[x]
		if lo == hi {
			continue
		}
		in, column := lo*g.stride+g.shift[x], src[x*ld+lo:x*ld+hi]
		if n := hi - lo; g.stride == 1 && n >= 32 {
			simd.Add(dst[in:in+n], dst[in:in+n], column)
			continue
		}
		for _, v := range column {
			dst[in] += v
			in += g.stride
		}
	}
}
