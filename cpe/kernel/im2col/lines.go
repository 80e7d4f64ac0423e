package im2col

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// Through DMA the unit of work of a CPE is one line of the image. im2col gets the line once, makes the lines of the column matrix for all
// kernel offsets that read it, and puts them. col2im gets these, adds them and puts one line (swCaffe, section IV-B). Lines are dealt to the
// CPEs in turn. The column matrix is that of a whole image.

// LineUsers returns, for every line of an image and last for the padding, the output rows and kernel offsets that read it: row*Outer + offset.
func (g *Geometry) LineUsers() [][]int32 {
	if g.users == nil {
		n := g.Plane / g.Line
		g.users = make([][]int32, n+1)
		for i, at := range g.Lines {
			if at < 0 {
				at = int32(n)
			}
			g.users[at] = append(g.users[at], int32(i))
		}
	}
	return g.users
}

// eachLine deals the lines of every channel to the CPEs, which do some work for each.
func (g *Geometry) eachLine(cg *cpe.CoreGroup, b *Band, work func(c *cpe.CPE, ch, at int) error) error {
	users := g.LineUsers()
	lines := len(users)
	cpes := cg.CPEs()[:cg.Deal(g.Channels*(lines-1))]
	n := 0
	for ch := range g.Channels {
		for at := range lines {
			if at == lines-1 && len(users[at]) == 0 {
				continue
			}
			c := cpes[n%len(cpes)]
			key := 2 * len(users[at])
			if at == lines-1 {
				key++
			}
			if !cg.Charged(c, key) {
				if err := work(c, ch, at); err != nil {
					return err
				}
				cg.Remember(c, key)
			}
			if n++; n%len(cpes) == 0 {
				cg.Sync()
			}
		}
	}
	cg.Sync()
	return nil
}

// columnLine returns the index of a user's line in the column matrix, for offset 0 along the last axis. The lines of the next offsets are a
// row of the matrix apart.
func (g *Geometry) columnLine(b *Band, ch int, user int32) int {
	r, k := int(user)/g.Outer, int(user)%g.Outer
	return (ch*g.Outer+k)*g.Last*b.Width(g) + r*g.Width
}

// imageLine returns a line of the images.
func (g *Geometry) imageLine(b *Band, ch, at int) cpe.Block {
	return b.line(b.X, ch*g.Plane+at*g.Line, g.Line, b.Apart)
}

// line returns n values from at on, of every image of the band.
func (b *Band) line(data []float32, at, n, apart int) cpe.Block {
	if b.Images <= 1 {
		return stream.Line(data, at, n)
	}
	if data != nil {
		data = data[at : at+(b.Images-1)*apart+n]
	}
	return cpe.Block{Data: data, Planes: b.Images, PlaneStride: apart, Rows: 1, RowStride: n, Cols: n}
}

// scatter writes the column lines that an image line goes to, or those that the padding goes to.
func (g *Geometry) scatter(c *cpe.CPE, columns []float32, b *Band, ch, at int) error {
	users, images := g.LineUsers(), max(1, b.Images)
	c.Free()
	in, err := c.Alloc("im2col", images*g.padded)
	if err != nil {
		return err
	}
	out, err := c.Alloc("im2col", images*g.Width)
	if err != nil {
		return err
	}
	if at < len(users)-1 {
		block := g.imageLine(b, ch, at)
		c.Load(in, &block)
		g.await(c)
		g.pad(in)
	} else {
		clear(in)
	}
	for _, user := range users[at] {
		line := g.columnLine(b, ch, user)
		for x := range g.Last {
			block := b.line(columns, line, g.Width, b.Matrix)
			c.Store(&block, g.shifted(out, in, x))
			g.await(c)
			line += b.Width(g)
		}
	}
	return nil
}

// pad moves the contiguous lines of several images apart, so that each has its padding around it.
func (g *Geometry) pad(lines []float32) {
	for i := len(lines)/g.padded - 1; i >= 0; i-- {
		line := lines[i*g.padded : (i+1)*g.padded]
		copy(line[g.left:], lines[i*g.Line:(i+1)*g.Line])
		clear(line[:g.left])
		clear(line[g.left+g.Line:])
	}
}

// shifted returns the column lines of offset x of padded image lines: a part of the line itself, or a copy in out.
func (g *Geometry) shifted(out, in []float32, x int) []float32 {
	from := g.left + g.Shift[x]
	if g.Stride == 1 && len(in) == g.padded {
		return in[from:]
	}
	for i := range len(in) / g.padded {
		vec.Every(out[i*g.Width:(i+1)*g.Width], in[i*g.padded+from:], g.Stride)
	}
	return out
}

// await waits for the CPE's request, if the software does so before the next.
func (g *Geometry) await(c *cpe.CPE) {
	if g.Software.Awaited {
		c.Wait()
	}
}

// collect adds the column lines that an image line went to, unless it is the padding.
func (g *Geometry) collect(c *cpe.CPE, columns []float32, b *Band, ch, at int) error {
	if at == len(g.LineUsers())-1 {
		return nil
	}
	return g.collectLines(c, columns, b, ch, at, 1)
}

// collectLines adds the column lines that n consecutive image lines went to, which must be read at the same kernel offsets. For every offset
// one request gets the column lines of all of them. It is awaited, since they are added in order.
func (g *Geometry) collectLines(c *cpe.CPE, columns []float32, b *Band, ch, at, n int) error {
	c.Free()
	sum, err := c.Alloc("col2im", n*g.Line)
	if err != nil {
		return err
	}
	part, err := c.Alloc("col2im", n*g.Width)
	if err != nil {
		return err
	}
	clear(sum)
	for _, user := range g.LineUsers()[at] {
		line := g.columnLine(b, ch, user)
		for x := range g.Last {
			block := stream.Line(columns, line, n*g.Width)
			c.Load(part, &block)
			c.Wait()
			c.Scalar(float64(n * g.Width))
			for i := 0; c.Values() && i < n; i++ {
				g.addLine(sum[i*g.Line:(i+1)*g.Line], part[i*g.Width:(i+1)*g.Width], x)
			}
			line += b.Width(g)
		}
	}
	block := stream.Line(b.X, ch*g.Plane+at*g.Line, n*g.Line)
	c.Store(&block, sum)
	g.await(c)
	return nil
}
