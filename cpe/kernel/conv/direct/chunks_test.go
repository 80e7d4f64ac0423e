package direct_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/direct"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestImplicitChunks: sums are cut where the weights are few and the positions many, by the shape alone.
func TestImplicitChunks(t *testing.T) {
	for _, c := range []struct {
		s    shape.Conv
		want int
	}{
		{convtest.Shape2D(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), 16},   // 500 weights, 36864 positions
		{convtest.Shape2D(1, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), 1},     // 576 positions
		{convtest.Shape2D(16, 512, 512, 1, 14, 14, 3, 3, 1, 1, 1), 1}, // weights enough
		{convtest.Shape2D(8, 64, 64, 64, 16, 16, 3, 3, 1, 1, 1), 2},   // depthwise: 2048 positions
	} {
		if got := direct.Chunks(&c.s); got != c.want {
			t.Errorf("%v: %d partial sums, want %d", c.s, got, c.want)
		}
	}
}

// TestOneChunk: a weight gradient that is not cut has no partial sums; all core groups share its rows or columns.
func TestOneChunk(t *testing.T) {
	m := kerneltest.HostMachine(t, 2)
	spec := m.Spec()
	for _, c := range []struct{ out, partials int }{{256, 0}, {20, 16}} {
		p := &conv.Problem{Shape: convtest.Shape2D(64, 128, c.out, 1, 28, 28, 1, 1, 1, 0, 1), Direction: shape.WeightGradient, Spec: &spec}
		task := conv.NewTask(m, p)
		if err := direct.NewImplicit(task); err != nil {
			t.Fatal(err)
		}
		if n := task.Partials.Count(); n != c.partials || task.Stages[0].Groups == 1 {
			t.Errorf("%d outputs: %d partial sums on %d core groups, expected %d on all", c.out, n, task.Stages[0].Groups, c.partials)
		}
	}
}
