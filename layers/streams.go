package layers

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// streamMaker makes the kernels of a layer's streams one after the other. It makes no more behind one that cannot be made, of which err says
// why, so that a layer asks once.
type streamMaker struct {
	machine *cpe.Machine
	err     error
}

func (b *Base) streams() *streamMaker { return &streamMaker{machine: b.Device.Machine} }

func (m *streamMaker) make(s stream.Pass) (k *stream.Kernel) {
	if m.err == nil {
		k, m.err = stream.New(m.machine, s)
	}
	return k
}

// arrays lists a number of Full arrays and others behind them.
func arrays(full int, others ...stream.Array) []stream.Array {
	return append(make([]stream.Array, full), others...)
}

// rowOp works on a row of a tile, see eachRow.
type rowOp func(t *stream.Tile, at, n, m int)

// byRow is what works on the rows of a tile one after the other.
func byRow(visit rowOp) func(t *stream.Tile) {
	return func(t *stream.Tile) { eachRow(t, func(at, n, m int) { visit(t, at, n, m) }) }
}
