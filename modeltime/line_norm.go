package modeltime

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// lineNorm describes the passes of swDNN's BatchNorm over a line, one channel of one image (swDNNv1.0, slave/batch_norm/sw_slave_batch_norm.c, commit
// d6a7b2c6, in training). A core group's CPEs take the channels of an image in turn, 64 at a time, and an image after the other. Every
// request is awaited and nothing overlaps. Each direction starts the CPEs' threads once (src/swbatchnorm.c).
//
//   - Forward: a get and two sums, value by value; then a get, and puts of the result, of the normalised values once more, and of the deviation
//     of every value.
//   - Backward: two gets and two sums, value by value; then two gets and a put.
type lineNorm struct {
	gets, puts float64 // requests for a line
	sums       float64 // additions to sums in LDM, for every value
	lines      int     // lines in LDM at once
}

// lineNorms are the passes by shape.Direction.
var lineNorms = [3]lineNorm{
	shape.Forward:       {gets: 2, puts: 3, sums: 2, lines: 2},
	shape.InputGradient: {gets: 4, puts: 1, sums: 2, lines: 3},
}

// scalarCycles are the cycles of an operation on a value that waits for its load: a load, 4, and a dependent floating-point operation, 7 (Fang 2019,
// table 3.2).
const scalarCycles = 11

// byLines replaces the charge for a direction of a BatchNorm layer by that of swDNN's, if the machine's software has it, the layer computes statistics, and
// lines fit LDM.
func (r *runner) byLines(i int, d shape.Direction, l cpe.Ledger) cpe.Ledger {
	n := lineNorms[d]
	if !r.spec.Software.LineNorm || r.net.LayerType(i) != "BatchNorm" || n.gets == 0 || l.Time == 0 || r.net.LayerParam(i).GetBatchNormParam().GetUseGlobalStats() {
		return l
	}
	top := r.net.Tops(i)[0]
	images, channels := top.Dim(0), top.Dim(1)
	line := 4 * top.Count() / max(1, images*channels)
	ldm := n.lines*(line+32) + 16*channels
	if ldm > r.spec.LDMBytes {
		return l
	}
	var dma, wait float64
	for c := 0; c < channels; c += r.spec.CPEs() {
		active := min(r.spec.CPEs(), channels-c)
		get, getWait := r.spec.DMA.TransferNs(active, line, 1, false)
		put, putWait := r.spec.DMA.TransferNs(active, line, 1, true)
		dma += n.gets*get + n.puts*put
		wait += n.gets*getWait + n.puts*putWait
	}
	each := float64((images + r.spec.CoreGroups - 1) / r.spec.CoreGroups)
	rounds := float64((channels + r.spec.CPEs() - 1) / r.spec.CPEs())
	bytes := float64(line * images * channels)
	of := func(ns float64) cpe.VTime { return r.spec.CycleTime(each * ns * r.spec.ClockGHz) }
	t := cpe.Ledger{
		DMA: of(dma), Latency: of(wait) + r.spec.StartTime(), Compute: r.spec.CycleTime(each * rounds * n.sums * scalarCycles * float64(line/4)),
		Flops: l.Flops, GetBytes: int64(n.gets * bytes), PutBytes: int64(n.puts * bytes),
		DMARequests: int64(n.gets+n.puts) * int64(images*channels), LDMPeak: ldm,
	}
	t.Time = t.DMA + t.Latency + t.Compute
	return t
}
