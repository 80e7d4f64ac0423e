package vpool

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// BlocksShape is pooling of planes of H x W pixels into planes of OH x OW by windows of KH x KW, SH and SW apart: window (y, x) begins
// at input (y*SH-Top, x*SW-Left), and no window is outside the plane. With Means it is average pooling, else maximum pooling.
type BlocksShape struct {
	H, W, OH, OW, KH, KW, SH, SW, Top, Left int
	Means                                   bool
}

// Blocks pools planes whose pixels are isa.BlockLanes channels side by side: lanes are channels, so that windows of any shape fill
// vectors. It is read-only once made.
type Blocks struct {
	shape         BlocksShape
	rows, columns []meeting // of outputs
	above, beside []meeting // the rows and columns of inputs
	places        []int32   // 0, 1, 2 ...
	divisors      []float32 // sizes of windows, for each lane
	runs          []inputRun
}

// inputRun is n columns of inputs from column from on. For windows with a kernel of their own it is n groups of columns instead. A group is as wide as
// the distance of windows, so that all its columns lie in the same windows; those of the first group begin at column output of the outputs.
type inputRun struct {
	from, n, output int
	groups          bool
}

// meeting is a range along an axis. For an output it has the inputs of the output's window; place is the first input's place in the window. For an
// input it has the outputs whose windows contain the input; place is the input's place in the first output's window. The range has count pixels,
// and at is the offset of the first in a row of pixels, in bytes.
type meeting struct{ at, count, place int }

// first is the number of the range's first pixel.
func (m meeting) first() int { return m.at / pixelBytes }

const (
	// MaxBlockWindow is the largest number of inputs of a window of maximum pooling: a byte holds the place of the input that was taken.
	MaxBlockWindow = noPlace

	noPlace    = 255 // of a maximum that ReLU cut off
	pixelBytes = 4 * isa.BlockLanes
)

// NewBlocks prepares pooling.
func NewBlocks(s BlocksShape) *Blocks {
	p := &Blocks{shape: s}
	p.rows, p.columns = windowsMeet(s.OH, s.H, s.KH, s.SH, s.Top), windowsMeet(s.OW, s.W, s.KW, s.SW, s.Left)
	p.above, p.beside = inputsMeet(s.H, s.OH, s.KH, s.SH, s.Top), inputsMeet(s.W, s.OW, s.KW, s.SW, s.Left)
	if s.Means {
		p.divisors = p.sizes()
		return p
	}
	if s.KH*s.KW > MaxBlockWindow {
		panic("vpool: a window has more places than a byte can tell")
	}
	p.runs = p.inputRuns()
	p.places = make([]int32, s.KH*s.KW)
	for i := range p.places {
		p.places[i] = int32(i)
	}
	return p
}

// windowsMeet lists the inputs of each output's window along an axis.
func windowsMeet(outputs, inputs, k, step, pad int) []meeting {
	list := make([]meeting, outputs)
	for o := range list {
		from := o*step - pad
		lo := max(from, 0)
		list[o] = meeting{lo * pixelBytes, min(from+k, inputs) - lo, lo - from}
	}
	return list
}

// inputsMeet lists, for each input along an axis, the outputs whose windows contain it.
func inputsMeet(inputs, outputs, k, step, pad int) []meeting {
	list := make([]meeting, inputs)
	for i := range list {
		lo, hi := 0, min(outputs-1, (i+pad)/step)
		if first := i + pad - k + 1; first > 0 {
			lo = (first + step - 1) / step
		}
		if lo <= hi {
			list[i] = meeting{lo * pixelBytes, hi - lo + 1, i + pad - lo*step}
		}
	}
	return list
}

// inputRuns cuts the columns of inputs into runs. Groups are made only where all windows that contain them exist.
func (p *Blocks) inputRuns() (runs []inputRun) {
	s := &p.shape
	more := (s.KW - 1) / s.SW // windows that contain a group, less one
	first, last := max(more, (s.Left+s.SW-1)/s.SW), min(s.OW, (s.W+s.Left)/s.SW)-1
	if common := s.KW == 3 && s.SW <= 2 || s.KW == 2 && s.SW == 2; !common || first > last {
		return []inputRun{{n: s.W}}
	}
	lo, hi := first*s.SW-s.Left, (last+1)*s.SW-s.Left
	for _, r := range []inputRun{{n: lo}, {lo, last - first + 1, first - more, true}, {from: hi, n: s.W - hi}} {
		if r.n > 0 {
			runs = append(runs, r)
		}
	}
	return runs
}

// sizes returns the sizes of windows. They count padding, as much of it behind the plane as before it.
func (p *Blocks) sizes() []float32 {
	s := &p.shape
	list := make([]float32, s.OH*s.OW*isa.BlockLanes)
	for i := range list {
		o := i / isa.BlockLanes
		y, x := o/s.OW*s.SH-s.Top, o%s.OW*s.SW-s.Left
		list[i] = float32(extent(y, s.KH, s.H+s.Top) * extent(x, s.KW, s.W+s.Left))
	}
	return list
}
