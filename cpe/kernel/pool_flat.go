package kernel

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// flatPool pools natively, several planes or a band of one at a time, by steps over all their values as if they were one row:
// first each value is joined with those to its right, as far as a window reaches, then with those below. What runs over
// the end of a line is no window's. So vectors are full however small planes are, and what windows have in common is done once.
type flatPool struct {
	shape     *PoolShape
	ld, rows  int       // of a padded plane: values of a line, lines
	direct    bool      // all windows lie inside their planes, which need no padding
	halved    bool      // windows are two columns apart: every other column is dropped as soon as lines have been joined
	planes    int       // of a unit of work
	band      int       // output lines of a unit, all if planes > 1
	halfWords bool      // places are stored in half a word, nowhere as all ones
	places    []int32   // by value of a padded plane: its index in the plane
	divisors  []float32 // by output of a plane
	edges     []int     // columns of outputs whose windows meet padding in every line
	all       []int     // all columns
	scratch   []flatScratch
}

// flatScratch is what a core group needs: a unit's values with their padding, a second such array, and, for maxima, the places
// that these come from.
type flatScratch struct {
	value, second []float32
	place, other  []int32
	line          []int32 // the places of a line of outputs
}

const (
	// flatValues is how many values a unit has, if planes are not larger: with their codes 64 KB.
	flatValues = 8 << 10
	// flatReach is the largest window, rows and columns added up, for which steps take less time than windows one by one.
	flatReach = 16
)

// nowhere is -1 in half a word.
const nowhere = 1<<16 - 1

// newFlatPool returns nil where pooling is done window by window.
func newFlatPool(m *cpe.Machine, s *PoolShape) *flatPool {
	if !m.Native() || s.Method == PoolStochastic || s.KH+s.KW > flatReach || s.OH*s.OW == 0 {
		return nil
	}
	f := &flatPool{shape: s, band: s.OH}
	f.ld, f.rows = max(s.W+2*s.PW, (s.OW-1)*s.SW+s.KW), max(s.H+2*s.PH, (s.OH-1)*s.SH+s.KH)
	if f.halved = s.SW == 2; f.halved {
		f.ld += f.ld % 2
	}
	f.direct = f.ld == s.W && f.rows == s.H
	f.halfWords = !s.Places && s.H*s.W < nowhere
	plane := f.ld * f.rows
	f.planes = max(1, min(flatValues/plane, s.N*s.C/8))
	if plane > flatValues {
		f.band = max(1, min(s.OH, (flatValues/f.ld-s.KH)/s.SH+1))
	}
	values := max(f.planes*plane, f.lines()*f.ld) + s.KW + 16
	for range m.Spec().CoreGroups {
		c := flatScratch{value: make([]float32, values), second: make([]float32, values)}
		if s.Method == PoolMax {
			c.place, c.other, c.line = make([]int32, values), make([]int32, values), make([]int32, s.OW)
		}
		f.scratch = append(f.scratch, c)
	}
	f.tables()
	return f
}

// tables lists the places of a padded plane's values, or the outputs' divisors.
func (f *flatPool) tables() {
	s := f.shape
	for ox := range s.OW {
		f.all = append(f.all, ox)
		if x := ox*s.SW - s.PW; x < 0 || x+s.KW > s.W {
			f.edges = append(f.edges, ox)
		}
	}
	if s.Method == PoolMax {
		for y := range f.rows {
			for x := range f.ld {
				f.places = append(f.places, int32((y-s.PH)*s.W+x-s.PW))
			}
		}
		return
	}
	for oy := range s.OH {
		for ox := range s.OW {
			f.divisors = append(f.divisors, float32(s.divisor(oy, ox)))
		}
	}
}

// lines is the number of padded lines that a unit's outputs meet in a plane.
func (f *flatPool) lines() int { return (f.band-1)*f.shape.SH + f.shape.KH }

func (f *flatPool) bands() int { return blocks(f.shape.OH, f.band) }

// units is the number of units of work: groups of planes, or bands of planes.
func (f *flatPool) units() int { return blocks(f.shape.N*f.shape.C, f.planes) * f.bands() }

// flatUnit is a group of planes or a band of one, and where its padded lines begin.
type flatUnit struct {
	plane, planes int
	from, outputs int // output lines
	lines         int // padded lines of a plane
}

func (f *flatPool) unit(n int) flatUnit {
	u := flatUnit{plane: n / f.bands() * f.planes, from: n % f.bands() * f.band}
	u.planes = min(f.planes, f.shape.N*f.shape.C-u.plane)
	u.outputs = min(f.band, f.shape.OH-u.from)
	if u.lines = f.rows; f.bands() > 1 {
		u.lines = (u.outputs-1)*f.shape.SH + f.shape.KH
	}
	return u
}

// lay returns the unit's values with their padding, and copies of them.
func (f *flatPool) lay(c *flatScratch, u *flatUnit, x []float32) []float32 {
	s := f.shape
	n := u.planes * u.lines * f.ld
	if f.direct {
		at := (u.plane*s.H + u.from*s.SH) * s.W
		return x[at : at+n]
	}
	pad := float32(0)
	if s.Method == PoolMax {
		pad = float32(math.Inf(-1))
	}
	values := c.value
	for k := range u.planes {
		plane := x[(u.plane+k)*s.H*s.W:][:s.H*s.W]
		for r := range u.lines {
			line := values[(k*u.lines+r)*f.ld:][:f.ld]
			y := u.from*s.SH + r - s.PH
			if y < 0 || y >= s.H {
				simd.Fill(line, pad)
				continue
			}
			for i := range s.PW {
				line[i] = pad
			}
			copy(line[s.PW:], plane[y*s.W:(y+1)*s.W])
			for i := s.PW + s.W; i < f.ld; i++ {
				line[i] = pad
			}
		}
	}
	return values[:n]
}

// forward pools a unit.
func (f *flatPool) forward(c *flatScratch, n int, p *Pool) {
	u := f.unit(n)
	values := f.lay(c, &u, p.x)
	if f.shape.Method == PoolMax {
		f.maxima(c, &u, values, p)
		return
	}
	f.means(c, &u, values, p.y)
}

// columns returns how long lines are, and how far windows lie apart, after lines have been joined.
func (f *flatPool) columns() (ld, step int) {
	if f.halved {
		return f.ld / 2, 1
	}
	return f.ld, f.shape.SW
}

// eachLine visits the unit's output lines: where each begins among the outputs, and its first window among the joined values.
func (f *flatPool) eachLine(u *flatUnit, visit func(plane, oy, to, at int)) {
	s := f.shape
	ld, _ := f.columns()
	for k := range u.planes {
		for r := range u.outputs {
			oy := u.from + r
			visit(u.plane+k, oy, ((u.plane+k)*s.OH+oy)*s.OW, (k*u.lines+r*s.SH)*ld)
		}
	}
}

// maxima joins each value with its neighbour to the right, and the results again, until they reach as far as a window; then
// those with the ones below. The first of equals stays.
func (f *flatPool) maxima(c *flatScratch, u *flatUnit, values []float32, p *Pool) {
	s, n := f.shape, len(values)
	if f.direct {
		copy(c.value, values)
	}
	for k := range u.planes {
		copy(c.place[k*u.lines*f.ld:(k+1)*u.lines*f.ld], f.places[u.from*s.SH*f.ld:])
	}
	value, place := c.value[:n], c.place[:n]
	for range s.KW - 1 {
		simd.Larger(value[:n-1], place[:n-1], value[1:], place[1:])
	}
	if f.halved {
		n /= 2
		simd.Evens(value[:n], value)
		simd.Evens(asFloats(place[:n]), asFloats(place))
		value, place = value[:n], place[:n]
	}
	ld, step := f.columns()
	for range s.KH - 1 {
		simd.Larger(value[:n-ld], place[:n-ld], value[ld:], place[ld:])
	}
	if s.ReLU {
		value, place = rectified(c, value, place)
	}
	f.eachLine(u, func(plane, oy, to, at int) {
		y, line := p.y[to:to+s.OW], c.line
		if !f.halfWords {
			line = p.mask[to : to+s.OW]
		}
		everyNth(y, value[at:], step)
		everyNth(asFloats(line), asFloats(place[at:]), step)
		if !f.direct && !s.ReLU {
			f.lookAtPadding(p, plane, oy, y, line)
		}
		if f.halfWords {
			halves := asHalves(p.mask)[to : to+s.OW]
			for i, place := range line[:len(halves)] {
				halves[i] = uint16(place)
			}
		}
	})
}

// rectified returns the values above 0 and their places; of the others, 0 and -1.
func rectified(c *flatScratch, value []float32, place []int32) ([]float32, []int32) {
	above, from := c.second[:len(value)], c.other[:len(value)]
	clear(above)
	for i := range from {
		from[i] = -1
	}
	simd.Larger(above, from, value, place)
	return above, from
}

// everyNth copies every step-th value.
func everyNth(dst, src []float32, step int) {
	if step == 1 {
		copy(dst, src)
		return
	}
	for i := range dst {
		dst[i] = src[i*step]
	}
}

// lookAtPadding pools those windows of a line again that meet padding and whose largest value may be one of it.
func (f *flatPool) lookAtPadding(p *Pool, plane, oy int, y []float32, mask []int32) {
	s := f.shape
	edges := f.edges
	if y0 := oy*s.SH - s.PH; y0 < 0 || y0+s.KH > s.H {
		edges = f.all
	}
	lowest := float32(math.Inf(-1))
	for _, ox := range edges {
		if y[ox] == lowest {
			y[ox], mask[ox] = s.largest(p.x, plane, oy, ox)
		}
	}
}

// largest pools one window.
func (s *PoolShape) largest(x []float32, plane, oy, ox int) (float32, int32) {
	t := poolTile{in: x[plane*s.H*s.W:], inStride: s.W}
	var a area
	a.y0, a.y1 = window(oy, s.SH, s.PH, s.KH, s.H)
	a.x0, a.x1 = window(ox, s.SW, s.PW, s.KW, s.W)
	return t.largest(&a, s.W)
}

// means adds to each value those to the right of it, then to each sum those below.
func (f *flatPool) means(c *flatScratch, u *flatUnit, values, y []float32) {
	s, n := f.shape, len(values)
	line := c.second[:n]
	copy(line, values)
	for k := 1; k < s.KW; k++ {
		simd.Add(line[:n-k], line, values[k:])
	}
	if f.halved {
		n /= 2
		simd.Evens(line[:n], line)
		line = line[:n]
	}
	ld, step := f.columns()
	sum := c.value[:n] // the values are not needed any more
	copy(sum, line)
	for k := 1; k < s.KH; k++ {
		simd.Add(sum[:n-k*ld], sum, line[k*ld:])
	}
	f.eachLine(u, func(_, oy, to, at int) {
		everyNth(y[to:to+s.OW], sum[at:], step)
		simd.Div(y[to:to+s.OW], y[to:], f.divisors[oy*s.OW:])
	})
}
