package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Units is a kernel of independent units of work, for layers whose tops and bottoms have different extents (a resized image, the bins of a
// region). A Pass cannot describe these. Units must write disjoint values.
//
// A unit runs on one CPE. It loads the blocks that it reads, computes, and stores its results. Blocks live in LDM one set at a time, so that no
// transfer overlaps arithmetic. A block for which LDM has no room passes through what is left of it, and the unit works in memory.
type Units struct {
	name    string
	machine *cpe.Machine
	workers []UnitWorker
	count   int
	values  int // about as many are computed
	do      func(w *UnitWorker, unit int)
}

// Piece is Rows runs of Cols values of an array, Stride apart, from At on.
type Piece struct {
	Array              []float32
	At                 int
	Rows, Stride, Cols int
}

// Rect returns the piece of rows runs of cols values, stride apart, from at on.
func Rect(array []float32, at, rows, stride, cols int) Piece {
	return Piece{array, at, rows, stride, cols}
}

// Span returns the piece of n contiguous values from at on.
func Span(array []float32, at, n int) Piece { return Piece{array, at, 1, n, n} }

func (p Piece) block() cpe.Block {
	b := cpe.Block{Planes: 1, Rows: p.Rows, RowStride: p.Stride, Cols: p.Cols}
	b.PlaneStride = p.Rows * p.Stride
	if p.Array != nil {
		end := p.At + b.Extent()
		b.Data = p.Array[p.At:end:end]
	}
	return b
}

// UnitWorker is what a unit works with: the CPE that runs it.
type UnitWorker struct {
	name    string
	cpe     *cpe.CPE
	err     error
	blocks  []placed // to store at the unit's end
	tiles   [][]float32
	aliases bool      // tiles alias memory
	scratch []float32 // where tiles alias memory
}

// placed is a block that a unit writes.
type placed struct {
	cpe.Block
	swept bool // it was written in memory
}

// NewUnits prepares count units that compute about values values together. do computes one unit.
func NewUnits(machine *cpe.Machine, name string, count, values int, do func(w *UnitWorker, unit int)) *Units {
	u := &Units{name: name, machine: machine, count: count, values: values, do: do, workers: make([]UnitWorker, machine.Spec().CoreGroups)}
	for i := range u.workers {
		u.workers[i].name = name
	}
	return u
}

// UnitLimit returns how many values a unit may have in LDM, for units that are cut to fit. Without LDM there is no limit.
func UnitLimit(m *cpe.Machine) int {
	if !m.HasDMA() {
		return 1 << 30
	}
	spec := m.Spec()
	return spec.LDMFloats() * 3 / 4
}

// Name returns the kernel's name.
func (u *Units) Name() string { return u.name }

// Run computes all units. The error is that of the first unit with one.
func (u *Units) Run() error {
	if u.count == 0 {
		return nil
	}
	for i := range u.workers {
		u.workers[i].err = nil
	}
	if err := u.machine.Run(u, u.machine.GroupsFor(u.values, tiling.HostTile)); err != nil {
		return err
	}
	for i := range u.workers {
		if err := u.workers[i].err; err != nil {
			return err
		}
	}
	return nil
}

// RunGroup computes a core group's share of the units.
func (u *Units) RunGroup(g *cpe.CoreGroup) error {
	w := &u.workers[g.Index()]
	w.aliases = !g.HasDMA()
	lo, hi := g.Share(u.count)
	cpes := g.CPEs()[:g.Deal(hi-lo)]
	for unit := lo; unit < hi && w.err == nil; unit++ {
		w.cpe = cpes[(unit-lo)%len(cpes)]
		w.run(u.do, unit)
		if (unit-lo+1)%len(cpes) == 0 {
			g.Sync()
		}
	}
	g.Sync()
	return nil
}

func (w *UnitWorker) run(do func(w *UnitWorker, unit int), unit int) {
	w.cpe.Free()
	w.blocks, w.tiles = w.blocks[:0], w.tiles[:0]
	do(w, unit)
	if w.err != nil {
		return
	}
	for i := range w.blocks {
		if b := &w.blocks[i]; b.swept {
			w.sweep(&b.Block, true)
		} else {
			w.cpe.Store(&b.Block, w.tiles[i])
		}
	}
}

// Fail ends the kernel with an error, where data is wrong.
func (w *UnitWorker) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Values reports whether the unit shall compute. If not, only its costs count.
func (w *UnitWorker) Values() bool { return w.err == nil && w.cpe.Values() }

// Load returns a piece's values and the distance between its rows.
func (w *UnitWorker) Load(p Piece) (values []float32, stride int) {
	return w.Fetch(w.Buffer(p.Rows*p.Cols), p)
}

// Place returns room for a piece's values, which are stored at the unit's end, and the distance between its rows. The room holds undefined
// values.
func (w *UnitWorker) Place(p Piece) (values []float32, stride int) { return w.place(p, false) }

// Update is Place for values that the unit changes: the room holds the present ones.
func (w *UnitWorker) Update(p Piece) (values []float32, stride int) { return w.place(p, true) }

func (w *UnitWorker) place(p Piece, load bool) (values []float32, stride int) {
	b, buffer := p.block(), w.Buffer(p.Rows*p.Cols)
	switch {
	case load:
		values, stride = w.Fetch(buffer, p)
	case buffer.swept:
		values, stride = b.Data, b.RowStride
	default:
		values, _, stride = w.cpe.Place(buffer.tile, &b)
	}
	w.blocks, w.tiles = append(w.blocks, placed{b, buffer.swept}), append(w.tiles, values)
	return values, stride
}

// Buffer is room in LDM.
type Buffer struct {
	tile  []float32
	swept bool // there is not so much: values pass through what is left, and are used in memory
}

// Buffer returns room that Fetch fills again and again with up to n values.
func (w *UnitWorker) Buffer(n int) Buffer {
	if w.swept(n) {
		return Buffer{swept: true}
	}
	tile, err := w.cpe.Alloc(w.name, n)
	if err != nil {
		w.Fail(err)
	}
	return Buffer{tile: tile}
}

// swept reports whether LDM has no room for n values.
func (w *UnitWorker) swept(n int) bool { return !w.aliases && n > w.cpe.Left() }

// sweep charges the transfer of a block that LDM does not hold.
func (w *UnitWorker) sweep(b *cpe.Block, put bool) { w.cpe.Sweep(b, max(leastTile, w.cpe.Left()), put) }

// Fetch loads a piece of at most a buffer's size into it, and returns its values and the distance between its rows.
func (w *UnitWorker) Fetch(buffer Buffer, p Piece) (values []float32, stride int) {
	if w.err != nil {
		return nil, 0
	}
	b := p.block()
	if buffer.swept {
		w.sweep(&b, false)
		return b.Data, b.RowStride
	}
	values, _, stride = w.cpe.Load(buffer.tile, &b)
	return values, stride
}

// Scratch returns room for n values that only the unit uses. It may be called once in a unit.
func (w *UnitWorker) Scratch(n int) []float32 {
	buffer := w.Buffer(n)
	if buffer.swept {
		for _, put := range []bool{true, false} {
			w.sweep(&cpe.Block{Planes: 1, Rows: 1, RowStride: n, Cols: n}, put)
		}
	} else if !w.aliases {
		return buffer.tile
	}
	if len(w.scratch) < n {
		w.scratch = make([]float32, n)
	}
	return w.scratch[:n]
}

// Cost charges a unit's arithmetic: additions and multiplications, and the dearer functions.
func (w *UnitWorker) Cost(flops, specials int) { w.cpe.Compute(float64(flops), float64(specials)) }
