package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// columns turns images into column matrices and back. Row (c, k) of the matrix, k an offset in the kernel, holds for
// every output position the input it multiplies, zero where that lies in the padding.
//
// The unit of work of a CPE is one line of the image, from which it makes the lines of all offsets along the last axis
// (swCaffe, section IV-B); col2im is its mirror, adding these lines up into one.
type columns struct {
	shape  ConvShape
	out    []int
	plane  int // values of an input channel
	line   int // inputs of the last axis
	width  int // outputs of the last axis
	last   int // kernel extent of the last axis
	outer  int // kernel offsets of the other axes
	pad    int // of the last axis, as are stride and step
	stride int
	step   int
}

func newColumns(s ConvShape, p ConvPlan) columns {
	n := len(s.In) - 1
	c := columns{
		shape: s, out: s.OutSize(), plane: 1, line: s.In[n], width: p.Width, last: s.Kernel[n], outer: 1,
		pad: s.Pad[n], stride: s.Stride[n], step: s.Dilation[n],
	}
	for i := range s.In {
		c.plane *= s.In[i]
		if i < n {
			c.outer *= s.Kernel[i]
		}
	}
	return c
}

// source finds the line of the image that output row r (over all outer axes) meets at outer kernel offset k; ok is false
// in the padding.
func (c *columns) source(r, k int) (line int, ok bool) {
	size := 1
	for i := len(c.out) - 2; i >= 0; i-- {
		o, offset := r%c.out[i], k%c.shape.Kernel[i]
		r, k = r/c.out[i], k/c.shape.Kernel[i]
		in := o*c.shape.Stride[i] - c.shape.Pad[i] + offset*c.shape.Dilation[i]
		if in < 0 || in >= c.shape.In[i] {
			return 0, false
		}
		line += in * size
		size *= c.shape.In[i]
	}
	return line, true
}

// valid returns the outputs lo <= o < hi of a line for which offset k of the last axis lies inside the image, and the
// input that output lo meets.
func (c *columns) valid(k int) (lo, hi, in int) {
	shift := k*c.step - c.pad
	if shift < 0 {
		lo = (-shift + c.stride - 1) / c.stride
	}
	hi = c.width
	if most := c.line - 1 - shift; most < 0 {
		hi = 0
	} else {
		hi = min(hi, most/c.stride+1)
	}
	lo = min(lo, c.width)
	return lo, max(lo, hi), lo*c.stride + shift
}

// im2col writes a band's column matrix, b.width columns wide.
func (c *columns) im2col(g *cpe.CoreGroup, columns []float32, b *band) error {
	channels := c.shape.C / c.shape.Group
	cpes := g.CPEs()[:g.Deal(channels*c.outer*b.rows)]
	n := 0
	for ch := range channels {
		for k := range c.outer {
			for r := range b.rows {
				if err := c.spread(cpes[n%len(cpes)], columns, b, ch, k, r); err != nil {
					return err
				}
				n++
			}
		}
	}
	g.Sync(true)
	return nil
}

// spread makes the column lines of one image line.
func (c *columns) spread(p *cpe.CPE, columns []float32, b *band, ch, k, r int) error {
	p.Free()
	in, err := p.Alloc("im2col", c.line)
	if err != nil {
		return err
	}
	out, err := p.Alloc("im2col", c.width)
	if err != nil {
		return err
	}
	at, inside := c.source(b.row+r, k)
	if inside {
		block := line(b.x, ch*c.plane+at*c.line, c.line)
		in, _, _ = p.Load(in, &block)
	}
	for x := range c.last {
		row := (ch*c.outer+k)*c.last + x
		block := line(columns, row*b.width+r*c.width, c.width)
		dst, _, _ := p.Place(out, &block)
		if p.Values() {
			c.gather(dst[:c.width], in, x, inside)
		}
		p.Store(&block, dst)
	}
	return nil
}

// gather fills the column line of offset x.
func (c *columns) gather(dst, src []float32, x int, inside bool) {
	lo, hi, in := c.valid(x)
	if !inside {
		lo, hi = 0, 0
	}
	clear(dst[:lo])
	clear(dst[hi:])
	if c.stride == 1 {
		if hi > lo {
			copy(dst[lo:hi], src[in:])
		}
		return
	}
	for o := lo; o < hi; o++ {
		dst[o] = src[in]
		in += c.stride
	}
}

// col2im adds a band's column matrix up into the image's gradient, which the first band of an image clears. Every line of
// the image belongs to one CPE, which takes the lines of all offsets in their order.
func (c *columns) col2im(g *cpe.CoreGroup, columns []float32, b *band, first bool) error {
	channels, lines := c.shape.C/c.shape.Group, c.plane/c.line
	cpes := g.CPEs()[:g.Deal(channels)]
	for ch := range channels {
		p := cpes[ch%len(cpes)]
		if first {
			if err := c.clear(p, b, ch, lines); err != nil {
				return err
			}
		}
		for k := range c.outer {
			for r := range b.rows {
				if err := c.fold(p, columns, b, ch, k, r); err != nil {
					return err
				}
			}
		}
	}
	g.Sync(true)
	return nil
}

// clear zeroes a channel's gradient.
func (c *columns) clear(p *cpe.CPE, b *band, ch, lines int) error {
	p.Free()
	buffer, err := p.Alloc("col2im", c.line)
	if err != nil {
		return err
	}
	for l := range lines {
		block := line(b.x, ch*c.plane+l*c.line, c.line)
		dst, _, _ := p.Place(buffer, &block)
		if p.Values() {
			clear(dst[:c.line])
		}
		p.Store(&block, dst)
	}
	return nil
}

// fold adds the column lines of all offsets along the last axis to the image line they came from.
func (c *columns) fold(p *cpe.CPE, columns []float32, b *band, ch, k, r int) error {
	at, inside := c.source(b.row+r, k)
	if !inside {
		return nil
	}
	p.Free()
	in, err := p.Alloc("col2im", c.line)
	if err != nil {
		return err
	}
	buffer, err := p.Alloc("col2im", c.width)
	if err != nil {
		return err
	}
	image := line(b.x, ch*c.plane+at*c.line, c.line)
	dst, _, _ := p.Load(in, &image)
	for x := range c.last {
		row := (ch*c.outer+k)*c.last + x
		block := line(columns, row*b.width+r*c.width, c.width)
		src, _, _ := p.Load(buffer, &block)
		lo, hi, i := c.valid(x)
		p.Compute(float64(hi-lo), 0)
		if !p.Values() || hi == lo {
			continue
		}
		if c.stride == 1 {
			simd.Add(dst[i:i+hi-lo], dst[i:i+hi-lo], src[lo:hi])
			continue
		}
		for o := lo; o < hi; o++ {
			dst[i] += src[o]
			i += c.stride
		}
	}
	p.Store(&image, dst)
	return nil
}
