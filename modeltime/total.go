package modeltime

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// update charges the momentum update of all weights: weight, gradient and history are read and written once.
func (r *runner) update() error {
	r.machine.ResetLedger()
	for _, l := range r.net.Learnable() {
		n := l.Blob.Count()
		arrays := make([]stream.Array, 3)
		k, err := stream.New(r.machine, stream.Pass{
			Name: "update", Dims: [3]int{1, 1, n}, Ins: arrays, Outs: arrays, Scratch: 1, Cost: stream.Work{Flops: 8}, Op: func(*stream.Tile) {},
		})
		if err != nil {
			return fmt.Errorf("update of layer %q, param %d: %w", l.Layer, l.Index, err)
		}
		data, diff := l.Blob.Data(), l.Blob.Diff()
		three := [][]float32{data, diff, diff}
		if err := k.Run(three, three); err != nil {
			return err
		}
	}
	r.report.Total.UpdateMs = r.machine.Ledger().Time.Milliseconds()
	return nil
}

// total adds up the layers.
func (r *runner) total() {
	t := &r.report.Total
	for i := range r.report.Layers {
		l := &r.report.Layers[i]
		if l.Forward != nil {
			t.ForwardMs += l.Forward.ModelledMs
		}
		t.BackwardMs += l.BackwardMs()
	}
	t.IterationMs = t.ForwardMs + t.BackwardMs + t.UpdateMs
	if t.IterationMs > 0 {
		t.Images = 1000 * float64(r.report.Batch) / t.IterationMs
	}
	for _, l := range r.net.Learnable() {
		t.ParameterBytes += 3 * 4 * int64(l.Blob.Count())
	}
	for _, name := range r.net.BlobNames() {
		t.ActivationBytes += 2 * 4 * int64(r.net.Blob(name).Count())
	}
	t.MemoryBytes = r.spec.TotalMemoryBytes()
}
