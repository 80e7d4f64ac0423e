package part

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// streamMaker makes the kernels of a layer's streams one after the other. It makes no more behind one that cannot be made, of which err says
// why, so that a layer asks once.
type streamMaker struct {
	machine *cpe.Machine
	Err     error
}

// StreamsOf makes the streams of a layer.
func StreamsOf(b *layers.Base) *streamMaker { return &streamMaker{machine: b.Device.Machine} }

// Make returns the kernel of a stream, nil if it or one before cannot be made.
func (m *streamMaker) Make(s stream.Pass) (k *stream.Kernel) {
	if m.Err == nil {
		k, m.Err = stream.New(m.machine, s)
	}
	return k
}

// Arrays lists a number of Full arrays and others behind them.
func Arrays(full int, others ...stream.Array) []stream.Array {
	return append(make([]stream.Array, full), others...)
}

// RowOp works on a row of a tile, see EachRow.
type RowOp func(t *stream.Tile, at, n, m int)

// ByRow is what works on the rows of a tile one after the other.
func ByRow(visit RowOp) func(t *stream.Tile) {
	return func(t *stream.Tile) { EachRow(t, func(at, n, m int) { visit(t, at, n, m) }) }
}
