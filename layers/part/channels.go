package part

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// newChannelSum makes the kernel that sums an outer x channels x inner array over outer and inner.
func newChannelSum(d *layers.Device, dims [3]int, blocked bool) (*stream.Kernel, error) {
	op := addRows
	if blocked {
		op = addBlocks
	}
	return stream.New(d.Machine, BlockedStream(stream.Pass{
		Name: "channel sums", Ins: Arrays(1), Sums: 1, Cost: stream.Work{Flops: 1}, Op: op,
	}, dims, blocked))
}

// addRows adds each row to the sum of its channel, in float64. If inner is 1, a row holds one value of every channel: addRows then adds
// four rows in float32 before it adds them to the float64 sums.
func addRows(t *stream.Tile) {
	if t.I > 1 || t.MStride > 1 {
		t.EachRow(func(at, n, m int) { t.Sum[m] += vec.Sum(t.In[0][at : at+n]) })
		return
	}
	row := func(o int) []float32 { return t.In[0][o*t.OStride:][:t.M] }
	o, sums := 0, t.Sum[:t.M]
	for ; o+4 <= t.O; o += 4 {
		a, b, c, d := row(o), row(o+1), row(o+2), row(o+3)
		for k := range sums {
			sums[k] += float64((a[k] + b[k]) + (c[k] + d[k]))
		}
	}
	for ; o < t.O; o++ {
		vec.ColumnSums(sums, row(o))
	}
}
