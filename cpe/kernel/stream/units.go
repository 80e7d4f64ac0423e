package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Units is a kernel of independent units of work, for layers whose tops and bottoms have different extents (a resized image, the bins of a
// region). A Pass cannot describe these. Units must write disjoint values.
//
// A unit runs on one CPE. It loads the blocks that it reads, computes, and stores its results. Blocks live in LDM one set at a time, so that no
// transfer overlaps arithmetic.
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
	blocks  []cpe.Block // to store at the unit's end
	tiles   [][]float32
	aliases bool      // tiles alias memory
	scratch []float32 // where tiles alias memory
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

// CheckUnit returns an error if a unit of n values does not fit LDM.
func CheckUnit(m *cpe.Machine, name string, n int) error {
	if spec := m.Spec(); m.HasDMA() && n > spec.LDMFloats() {
		return &cpe.LDMError{Kernel: name, Asked: 4 * n, Have: spec.LDMBytes}
	}
	return nil
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
		w.cpe.Store(&w.blocks[i], w.tiles[i])
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
	b := p.block()
	tile, err := w.cpe.Alloc(w.name, b.Count())
	if err != nil {
		w.Fail(err)
		return nil, 0
	}
	values, _, stride = w.cpe.Load(tile, &b)
	return values, stride
}

// Place returns room for a piece's values, which are stored at the unit's end, and the distance between its rows. The room holds undefined
// values.
func (w *UnitWorker) Place(p Piece) (values []float32, stride int) { return w.place(p, false) }

// Update is Place for values that the unit changes: the room holds the present ones.
func (w *UnitWorker) Update(p Piece) (values []float32, stride int) { return w.place(p, true) }

func (w *UnitWorker) place(p Piece, load bool) (values []float32, stride int) {
	b := p.block()
	tile, err := w.cpe.Alloc(w.name, b.Count())
	if err != nil {
		w.Fail(err)
		return nil, 0
	}
	if load {
		values, _, stride = w.cpe.Load(tile, &b)
	} else {
		values, _, stride = w.cpe.Place(tile, &b)
	}
	w.blocks, w.tiles = append(w.blocks, b), append(w.tiles, values)
	return values, stride
}

// Buffer returns room that Fetch fills again and again with up to n values.
func (w *UnitWorker) Buffer(n int) []float32 {
	tile, err := w.cpe.Alloc(w.name, n)
	if err != nil {
		w.Fail(err)
	}
	return tile
}

// Fetch loads a piece of at most a buffer's size into it, and returns its values and the distance between its rows.
func (w *UnitWorker) Fetch(buffer []float32, p Piece) (values []float32, stride int) {
	if w.err != nil {
		return nil, 0
	}
	b := p.block()
	values, _, stride = w.cpe.Load(buffer, &b)
	return values, stride
}

// Scratch returns room for n values that only the unit uses. It may be called once in a unit.
func (w *UnitWorker) Scratch(n int) []float32 {
	tile, err := w.cpe.Alloc(w.name, n)
	switch {
	case err != nil:
		w.Fail(err)
	case !w.aliases:
		return tile
	}
	if len(w.scratch) < n {
		w.scratch = make([]float32, n)
	}
	return w.scratch[:n]
}

// Cost charges a unit's arithmetic: additions and multiplications, and the dearer functions.
func (w *UnitWorker) Cost(flops, specials int) { w.cpe.Compute(float64(flops), float64(specials)) }
