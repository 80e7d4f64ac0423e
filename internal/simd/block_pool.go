package simd

// BlockPoolShape is pooling of planes of H x W pixels into planes of OH x OW by windows of KH x KW, SH and SW apart: window (y, x) begins
// at input (y*SH-Top, x*SW-Left), and no window is outside the plane. Means says that means are taken, else maxima.
type BlockPoolShape struct {
	H, W, OH, OW, KH, KW, SH, SW, Top, Left int
	Means                                   bool
}

// BlockPool pools planes whose pixels are BlockLanes channels side by side: lanes are channels, so that windows of any shape fill
// vectors. It is read-only once made.
type BlockPool struct {
	shape         BlockPoolShape
	rows, columns []meeting // of outputs
	above, beside []meeting // the rows and columns of inputs
	places        []int32   // 0, 1, 2 ...
	divisors      []float32 // sizes of windows, for each lane
	runs          []inputRun
}

// inputRun is n columns of inputs from one on or, of windows whose maxima's gradients have kernels of their own, n groups of as many as
// windows are apart, the first of which meets the outputs from column output on.
type inputRun struct {
	from, n, output int
	groups          bool
}

// meeting is what a place along an axis meets: of an output the inputs of its window, of an input the outputs in whose windows it is.
// at is where the first is in a row of pixels, in bytes; place is that of the first input in the window, or of the input in the window
// of the first output.
type meeting struct{ at, count, place int }

// first is the number of the first that is met.
func (m meeting) first() int { return m.at / pixelBytes }

const (
	// MaxBlockWindow is how many places windows have at most of which maxima are taken: a byte says which.
	MaxBlockWindow = noPlace

	noPlace    = 255 // of a maximum that ReLU cut off
	pixelBytes = 4 * BlockLanes
)

// NewBlockPool prepares pooling.
func NewBlockPool(s BlockPoolShape) *BlockPool {
	p := &BlockPool{shape: s}
	p.rows, p.columns = windowsMeet(s.OH, s.H, s.KH, s.SH, s.Top), windowsMeet(s.OW, s.W, s.KW, s.SW, s.Left)
	p.above, p.beside = inputsMeet(s.H, s.OH, s.KH, s.SH, s.Top), inputsMeet(s.W, s.OW, s.KW, s.SW, s.Left)
	if s.Means {
		p.divisors = p.sizes()
		return p
	}
	if s.KH*s.KW > MaxBlockWindow {
		panic("simd: a window has more places than a byte can tell")
	}
	p.runs = p.inputRuns()
	p.places = make([]int32, s.KH*s.KW)
	for i := range p.places {
		p.places[i] = int32(i)
	}
	return p
}

// windowsMeet lists what outputs along an axis meet.
func windowsMeet(outputs, inputs, k, step, pad int) []meeting {
	list := make([]meeting, outputs)
	for o := range list {
		from := o*step - pad
		lo := max(from, 0)
		list[o] = meeting{lo * pixelBytes, min(from+k, inputs) - lo, lo - from}
	}
	return list
}

// inputsMeet lists what inputs along an axis meet.
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

// inputRuns cuts the columns of inputs into runs: all that a group meets are outputs.
func (p *BlockPool) inputRuns() (runs []inputRun) {
	s := &p.shape
	more := (s.KW - 1) / s.SW // outputs that a group meets but for the last
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

// sizes are those of windows, in which padding counts, but not beyond the same padding after the plane.
func (p *BlockPool) sizes() []float32 {
	s := &p.shape
	list := make([]float32, s.OH*s.OW*BlockLanes)
	for i := range list {
		o := i / BlockLanes
		y, x := o/s.OW*s.SH-s.Top, o%s.OW*s.SW-s.Left
		list[i] = float32(extent(y, s.KH, s.H+s.Top) * extent(x, s.KW, s.W+s.Left))
	}
	return list
}
