package plan_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
)

// hostWork is a handful of kernels that are big enough for all core groups, with their arrays.
type hostWork struct {
	gemm      *gemm.Blocked
	small     *gemm.Blocked
	conv      []*plan.Conv
	pool      *pool.Kernel
	stream    *stream.Kernel
	x, w, y   []float32
	dw, dx, z []float32
	mask      []int32
	ins, outs [][]float32
}

func newHostWork(t testing.TB, m *cpe.Machine) *hostWork {
	h := &hostWork{x: kerneltest.Values(1<<16, 1), w: kerneltest.Values(1<<16, 2), y: make([]float32, 6*70*20*20), mask: make([]int32, 6*8*20*20)}
	h.dw, h.dx, h.z = make([]float32, 70*8*9), make([]float32, len(h.x)), make([]float32, len(h.x))
	h.ins, h.outs = [][]float32{h.y}, [][]float32{h.y}
	var err error
	check := func(e error) {
		if err = e; err != nil {
			t.Fatal(err)
		}
	}
	h.gemm, err = gemm.NewBlocked(m, gemm.Shape{M: 150, N: 211, K: 190, TransB: true})
	check(err)
	h.small, err = gemm.NewBlocked(m, gemm.Shape{M: 3, N: 5, K: 7})
	check(err)
	for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5} {
		for _, s := range []shape.Conv{convtest.Shape2D(6, 8, 70, 1, 20, 20, 3, 3, 1, 1, 1), convtest.Shape2D(6, 8, 70, 2, 20, 20, 1, 1, 1, 0, 1)} {
			c, err := plan.New(m, s, st)
			check(err)
			h.conv = append(h.conv, c)
		}
	}
	h.pool, err = pool.New(m, pool.Shape{N: 6, C: 8, H: 20, W: 20, KH: 2, KW: 2, SH: 2, SW: 2, OH: 10, OW: 10})
	check(err)
	h.stream, err = stream.New(m, stream.Pass{Name: "sum", Dims: [3]int{6, 70, 400}, Ins: []stream.Array{stream.Full}, Outs: []stream.Array{stream.Full}, Sums: 1, Op: func(t *stream.Tile) {
		for o := range t.O {
			for m := range t.M {
				for i := range t.I {
					v := t.In[0][o*t.OStride+m*t.MStride+i]
					t.Sum[m] += float64(v)
					t.Out[0][o*t.OStride+m*t.MStride+i] = v * 0.99
				}
			}
		}
	}})
	check(err)
	return h
}

func (h *hostWork) run() error {
	if err := h.gemm.Run(h.x, h.w, nil, h.z); err != nil {
		return err
	}
	if err := h.small.Run(h.x, h.w, h.w, h.z[32000:]); err != nil {
		return err
	}
	for _, c := range h.conv {
		if err := c.Run(shape.Forward, conv.Arrays{X: h.x, W: h.w, Bias: h.w, Y: h.y}); err != nil {
			return err
		}
		if err := c.Run(shape.WeightGradient, conv.Arrays{X: h.x, DY: h.y, DW: h.dw, Add: true}); err != nil {
			return err
		}
		if err := c.Run(shape.InputGradient, conv.Arrays{DY: h.y, W: h.w, DX: h.dx}); err != nil {
			return err
		}
	}
	if err := h.pool.Forward(h.x, h.z[40000:], h.mask, 0); err != nil {
		return err
	}
	return h.stream.Run(h.ins, h.outs)
}

// TestCoreGroupsDoNotChangeBits: every result is bit-equal with 1, 2 and 5 core groups.
func TestCoreGroupsDoNotChangeBits(t *testing.T) {
	var first *hostWork
	for _, groups := range kerneltest.GroupCounts() {
		h := newHostWork(t, kerneltest.HostMachine(t, groups))
		if err := h.run(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = h
			continue
		}
		for what, pair := range map[string][2][]float32{
			"y": {h.y, first.y}, "dw": {h.dw, first.dw}, "dx": {h.dx, first.dx}, "gemm and pooling": {h.z, first.z},
		} {
			for i := range pair[0] {
				if pair[0][i] != pair[1][i] {
					t.Fatalf("%s[%d] is %g with %d core groups and %g with one", what, i, pair[0][i], groups, pair[1][i])
				}
			}
		}
		for i, s := range h.stream.Sums() {
			if s != first.stream.Sums()[i] {
				t.Fatalf("sum %d is %g with %d core groups and %g with one", i, s, groups, first.stream.Sums()[i])
			}
		}
	}
}

func TestNothingIsAllocatedOnTheHost(t *testing.T) {
	h := newHostWork(t, kerneltest.HostMachine(t, 2))
	allocs := alloctest.PerRun(3, func() {
		if err := h.run(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%d allocations a run", allocs)
	}
}

func TestCloseEndsGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	m := kerneltest.HostMachine(t, 8)
	if err := newHostWork(t, m).run(); err != nil {
		t.Fatal(err)
	}
	m.Close()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines after Close, %d before", runtime.NumGoroutine(), before)
		}
	}
}
