package im2col

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
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

// lineRun is the lines from <= at < to of a channel. All have the key of their cost in common.
type lineRun struct{ from, to, key int }

// lineRuns returns the lines of a channel, and the padding if something reads it, as runs of equal cost. The cost of a line depends on how
// many output rows and kernel offsets read it.
func (g *Geometry) lineRuns() []lineRun {
	users := g.LineUsers()
	padding := len(users) - 1
	var runs []lineRun
	for at := range users {
		key := 2 * len(users[at])
		if at == padding {
			if key == 0 {
				break
			}
			key++
		}
		if last := len(runs) - 1; last >= 0 && runs[last].key == key {
			runs[last].to++
			continue
		}
		runs = append(runs, lineRun{from: at, to: at + 1, key: key})
	}
	return runs
}

// eachLine deals the lines of every channel to the CPEs, which do some work for each. If only costs are modelled, the lines of a run that fall
// into one step are charged together.
func (g *Geometry) eachLine(cg *cpe.CoreGroup, work func(c *cpe.CPE, ch, at int) error) error {
	cpes := cg.CPEs()[:cg.Deal(g.Channels*(len(g.LineUsers())-1))]
	runs := g.lineRuns()
	next := 0 // the CPE of the next line
	for ch := range g.Channels {
		for _, r := range runs {
			for at := r.from; at < r.to; {
				lines := min(r.to-at, len(cpes)-next)
				if !cg.ChargedAlike(r.key, lines) {
					lines = 1
					if c := cpes[next]; !cg.Charged(c, r.key) {
						if err := work(c, ch, at); err != nil {
							return err
						}
						cg.Remember(c, r.key)
					}
				}
				at += lines
				if next += lines; next == len(cpes) {
					cg.Sync()
					next = 0
				}
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

// scatter writes the column lines that an image line goes to, or those that the padding goes to. The padded line passes through LDM in
// segments, of which there is one if it fits.
func (g *Geometry) scatter(c *cpe.CPE, columns []float32, b *Band, ch, at int) error {
	users, images := g.LineUsers(), max(1, b.Images)
	c.Free()
	segment := g.segment(c, images*(g.padded+g.Width))
	for from := 0; from < g.padded; from += segment {
		n := min(segment, g.padded-from)
		c.Free()
		in, err := c.Alloc("im2col", images*n)
		if err != nil {
			return err
		}
		out, err := c.Alloc("im2col", images*min(g.Width, tiling.Blocks(n, g.Stride)))
		if err != nil {
			return err
		}
		g.loadPadded(c, in, b, ch, at, from, n)
		for _, user := range users[at] {
			line := g.columnLine(b, ch, user)
			for x := range g.Last {
				if lo, hi := g.readers(x, from, n); lo < hi {
					block := b.line(columns, line+lo, hi-lo, b.Matrix)
					c.Store(&block, g.shifted(out, in, g.left+lo*g.Stride+g.Shift[x]-from, n, hi-lo))
					g.await(c)
				}
				line += b.Width(g)
			}
		}
	}
	return nil
}

// segment returns how many values of a padded line are in LDM at a time: all, if they and what is computed of them, need values, fit. LDM must
// be free.
func (g *Geometry) segment(c *cpe.CPE, need int) int {
	if need <= c.Left() {
		return g.padded
	}
	return max(1, tiling.Largest(g.padded, func(n int) bool { return n+tiling.Blocks(n, g.Stride) <= c.Left() }))
}

// readers returns the outputs lo <= o < hi that read values [from, from+n) of a padded line at offset x.
func (g *Geometry) readers(x, from, n int) (lo, hi int) {
	first := from - g.left - g.Shift[x]
	return min(g.Width, tiling.Blocks(max(0, first), g.Stride)), min(g.Width, tiling.Blocks(max(0, first+n), g.Stride))
}

// loadPadded gets values [from, from+n) of a padded line of every image; zeros, if it is the padding.
func (g *Geometry) loadPadded(c *cpe.CPE, in []float32, b *Band, ch, at, from, n int) {
	lo, hi := max(0, from-g.left), min(g.Line, from+n-g.left)
	if at == len(g.LineUsers())-1 || lo >= hi {
		clear(in)
		return
	}
	block := b.line(b.X, ch*g.Plane+at*g.Line+lo, hi-lo, b.Apart)
	c.Load(in, &block)
	g.await(c)
	pad(in, n, lo+g.left-from, hi-lo)
}

// pad moves the contiguous lines of several images, of some values each, apart: each is then after left zeros in n values.
func pad(lines []float32, n, left, values int) {
	for i := len(lines)/n - 1; i >= 0; i-- {
		line := lines[i*n : (i+1)*n]
		copy(line[left:], lines[i*values:(i+1)*values])
		clear(line[:left])
		clear(line[left+values:])
	}
}

// shifted returns count values, strides apart and from index from on, of lines of n values each: a part of the line itself, or a copy in out.
func (g *Geometry) shifted(out, in []float32, from, n, count int) []float32 {
	if g.Stride == 1 && len(in) == n {
		return in[from:]
	}
	for i := range len(in) / n {
		vec.Every(out[i*count:(i+1)*count], in[i*n+from:], g.Stride)
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
	segment := g.segment(c, n*(g.Line+g.Width))
	for from := 0; from < g.padded; from += segment {
		if err := g.collectSegment(c, columns, b, ch, at, n, from, min(segment, g.padded-from)); err != nil {
			return err
		}
	}
	return nil
}

// collectSegment adds what went to values [from, from+length) of n padded lines. More than one line have all their values.
func (g *Geometry) collectSegment(c *cpe.CPE, columns []float32, b *Band, ch, at, n, from, length int) error {
	lo, hi := max(0, from-g.left), min(g.Line, from+length-g.left)
	if lo >= hi {
		return nil
	}
	c.Free()
	sum, err := c.Alloc("col2im", n*(hi-lo))
	if err != nil {
		return err
	}
	part, err := c.Alloc("col2im", n*min(g.Width, tiling.Blocks(length, g.Stride)))
	if err != nil {
		return err
	}
	clear(sum)
	for _, user := range g.LineUsers()[at] {
		line := g.columnLine(b, ch, user)
		for x := range g.Last {
			if first, last := g.readers(x, from, length); first < last {
				count := (n-1)*g.Width + last - first
				block := stream.Line(columns, line+first, count)
				c.Load(part, &block)
				c.Wait()
				c.Scalar(float64(count))
				for i := 0; c.Values() && i < n; i++ {
					g.addPart(sum[i*(hi-lo):(i+1)*(hi-lo)], part[i*g.Width:], x, first, last, lo)
				}
			}
			line += b.Width(g)
		}
	}
	block := stream.Line(b.X, ch*g.Plane+at*g.Line+lo, (n-1)*g.Line+hi-lo)
	c.Store(&block, sum)
	g.await(c)
	return nil
}
