package part

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// streamMaker makes the stream kernels of a layer one after the other. After a failure it makes no more and keeps the error in Err, so that
// a layer checks once.
type streamMaker struct {
	machine *cpe.Machine
	Err     error
}

// StreamsOf returns the maker of a layer's stream kernels.
func StreamsOf(b *layers.Base) *streamMaker { return &streamMaker{machine: b.Device.Machine} }

// Make returns the kernel of a stream, or nil if this kernel or an earlier one cannot be made.
func (m *streamMaker) Make(s stream.Pass) (k *stream.Kernel) {
	if m.Err == nil {
		k, m.Err = stream.New(m.machine, s)
	}
	return k
}

// Arrays lists a number of Full arrays, followed by the others.
func Arrays(full int, others ...stream.Array) []stream.Array {
	return append(make([]stream.Array, full), others...)
}

// RowOp processes one row of a tile; see stream.Tile.EachRow for its arguments.
type RowOp func(t *stream.Tile, at, n, m int)

// ByRow returns a tile function that applies visit to each row in turn.
func ByRow(visit RowOp) func(t *stream.Tile) {
	return func(t *stream.Tile) { t.EachRow(func(at, n, m int) { visit(t, at, n, m) }) }
}
