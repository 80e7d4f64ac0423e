package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// columnPool makes means of windows of any shape: each column is summed over the rows of a line of windows first, then the line.
type columnPool struct {
	workers  []columnWorker // of each core group
	divisors []float32      // sizes of windows
}

// columnWorker has a core group's buffers. A gradient of means is summed by input, in the order of the means.
type columnWorker struct {
	lines []float32 // sums of columns, for every line of windows, with zeros for the padding around them
	apart []float32 // gradients of all lines of means over their windows' sizes: see spread
}

// byColumns reports whether there are means of windows that meet the image.
func (s *Shape) byColumns(*cpe.Spec, shape.Direction) bool { return s.Method == Ave && s.Meets() }

// prepareColumns prepares pooling by columns.
func (p *Kernel) prepareColumns() error {
	s, spec := &p.shape, p.machine.Spec()
	p.columns = &columnPool{workers: make([]columnWorker, spec.CoreGroups)}
	for i := range p.columns.workers {
		c := &p.columns.workers[i]
		c.lines, c.apart = pages.Make[float32](s.OH*s.paddedLine()), pages.Make[float32](s.OH*s.lineApart())
	}
	p.columns.divisors = pages.Make[float32](s.OH * s.OW)
	for i := range p.columns.divisors {
		p.columns.divisors[i] = float32(s.divisor(i/s.OW, i%s.OW))
	}
	return nil
}

// paddedLine returns the length of a line of columns' sums.
func (s *Shape) paddedLine() int { return max(s.PW+s.W, (s.OW-1)*s.SW+s.KW) }

// firstApart returns the index of the gradient of a line's first mean. The sum of KW values from index x on is then the gradient of input x.
func (s *Shape) firstApart() int { return s.KW - 1 - s.PW }

// lineApart returns the length of a line of gradients.
func (s *Shape) lineApart() int {
	if s.disjoint() {
		return s.W
	}
	return max(s.W+s.KW-1, s.firstApart()+(s.OW-1)*s.SW+1)
}

// disjoint reports whether windows share no column.
func (s *Shape) disjoint() bool { return s.SW >= s.KW }

// runColumns pools a core group's share of the planes.
func (p *Kernel) runColumns(g *cpe.CoreGroup) error {
	s, c := &p.shape, &p.columns.workers[g.Index()]
	in, out := s.H*s.W, s.OH*s.OW
	lo, hi := g.Share(s.N * s.C)
	for n := lo; n < hi; n++ {
		x, y := p.x[n*in:(n+1)*in], p.y[n*out:(n+1)*out]
		if p.backward {
			c.meansGrad(s, x, y, p.columns.divisors)
		} else {
			c.means(s, y, x, p.columns.divisors)
		}
	}
	return nil
}

// down returns windows of one column and some rows.
func (s *Shape) down(rows int) vpool.Windows {
	return vpool.Windows{KH: rows, KW: 1, Ld: s.W, Stride: 1}
}

// means pools a plane into the means of windows.
func (c *columnWorker) means(s *Shape, y, x, divisors []float32) {
	ld := s.paddedLine()
	for oy := range s.OH {
		y0, y1 := tiling.Window(oy, s.SH, s.PH, s.KH, s.H)
		down := s.down(y1 - y0)
		vpool.Average(c.lines[oy*ld+s.PW:][:s.W], 1, x[y0*s.W:], &down)
	}
	along := vpool.Windows{KH: 1, KW: s.KW, Stride: s.SW}
	for oy := range s.OH {
		vpool.Average(y[oy*s.OW:(oy+1)*s.OW], 1, c.lines[oy*ld:], &along)
	}
	vec.Div(y, y, divisors)
}

// meansGrad computes the gradient of a plane from that of the means of its windows.
func (c *columnWorker) meansGrad(s *Shape, dx, dy, divisors []float32) {
	ld, taps := s.lineApart(), s.KW
	if s.disjoint() {
		taps = 1
	}
	for oy := range s.OH {
		at := oy * s.OW
		c.spread(s, c.apart[oy*ld:(oy+1)*ld], dy[at:at+s.OW], divisors[at:])
	}
	for y := range s.H {
		row := dx[y*s.W : (y+1)*s.W]
		lines := tiling.Outputs(tiling.Span{At: y, N: 1}, s.SH, s.PH, s.KH, s.OH)
		if lines.N == 0 {
			clear(row)
			continue
		}
		vpool.Average(row, 1, c.apart[lines.At*ld:], &vpool.Windows{KH: lines.N, KW: taps, Ld: ld, Stride: 1})
	}
}

// spread writes the gradients of a line of means, divided by their windows' sizes: to all columns of a window if windows are disjoint,
// otherwise strides apart, so that those of an input are among KW values from its column on.
func (c *columnWorker) spread(s *Shape, line, dy, divisors []float32) {
	first := s.firstApart()
	for ox, v := range dy {
		share := v / divisors[ox]
		if !s.disjoint() {
			line[first+ox*s.SW] = share
			continue
		}
		x0, x1 := tiling.Window(ox, s.SW, s.PW, s.KW, s.W)
		for x := x0; x < x1; x++ {
			line[x] = share
		}
	}
}
