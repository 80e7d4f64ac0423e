package layers

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel"
)

// streamMaker makes the kernels of a layer's streams one after the other. It makes no more behind one that cannot be made, of which err says
// why, so that a layer asks once.
type streamMaker struct {
	machine *cpe.Machine
	err     error
}

func (b *Base) streams() *streamMaker { return &streamMaker{machine: b.Device.Machine} }

func (m *streamMaker) make(s kernel.Stream) (k *kernel.StreamKernel) {
	if m.err == nil {
		k, m.err = kernel.NewStream(m.machine, s)
	}
	return k
}

// arrays lists a number of Full arrays and others behind them.
func arrays(full int, others ...kernel.Array) []kernel.Array {
	return append(make([]kernel.Array, full), others...)
}

// rowOp works on a row of a tile, see eachRow.
type rowOp func(t *kernel.Tile, at, n, m int)

// byRow is what works on the rows of a tile one after the other.
func byRow(visit rowOp) func(t *kernel.Tile) {
	return func(t *kernel.Tile) { eachRow(t, func(at, n, m int) { visit(t, at, n, m) }) }
}
