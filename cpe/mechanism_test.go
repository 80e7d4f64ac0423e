package cpe

import (
	"slices"
	"strings"
	"testing"
)

// onModel runs a program on a machine that charges costs alone.
func onModel(t *testing.T, s Spec, p program) Ledger {
	t.Helper()
	m, err := New(s, CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Run(p, 1); err != nil {
		t.Fatal(err)
	}
	return m.Ledger()
}

// TestWithout: leaving a mechanism out moves the time of a program that it slows or speeds, in the right direction.
func TestWithout(t *testing.T) {
	gets := func(block Block, n int) program {
		return func(g *CoreGroup) error {
			for _, c := range g.CPEs() {
				for range n {
					c.Load(nil, &block)
				}
			}
			g.Sync()
			return nil
		}
	}
	short := Block{Planes: 1, Rows: 1, Cols: 32, RowStride: 32, PlaneStride: 32}
	odd := Block{Planes: 1, Rows: 300, Cols: 56, RowStride: 100, PlaneStride: 30000}
	cases := map[string]struct {
		run    program
		faster bool
	}{
		"alignment": {gets(odd, 1), true},
		"pending":   {gets(short, 3), false},
		"requests":  {gets(short, 1), true},
		"padding":   {func(g *CoreGroup) error { g.Multiply(5, 17, 8, true, Scheduled, 0); return nil }, true},
		"start":     {func(g *CoreGroup) error { return nil }, true},
		"single":    {func(g *CoreGroup) error { g.step.compute += fromNs(g.Spec().ConvertNs(4096)); return nil }, true},
		"listings":  {func(g *CoreGroup) error { g.Multiply(32, 32, 32, true, OriginalDouble, 0); return nil }, true},
		"overlap": {func(g *CoreGroup) error {
			for range 3 {
				g.step.dma, g.step.compute = 10, 10
				g.Overlap()
			}
			return nil
		}, false},
	}
	ofKernels := []string{"stall", "awaiting", "batching", "chaining", "data_parallel", "grouping", "line_norm", "mpe", "scalar", "unbuffered"} // see their tests
	s := load(t, "sw26010")
	for _, name := range Mechanisms() {
		c, ok := cases[name]
		if !ok && !slices.Contains(ofKernels, name) {
			t.Errorf("mechanism %s is not tested", name)
		}
		if !ok {
			continue
		}
		without, err := s.Without(name)
		if err != nil {
			t.Fatal(err)
		}
		with, less := onModel(t, s, c.run).Time, onModel(t, without, c.run).Time
		if (less < with) != c.faster || less == with {
			t.Errorf("without %s %v, with it %v", name, less, with)
		}
	}
	if _, err := s.Without("overlaps"); err == nil || !strings.Contains(err.Error(), `did you mean "overlap"`) {
		t.Errorf("error %v, want a suggestion", err)
	}
}

// TestWithSoftware: names are known, others are errors with a suggestion; the management core runs nobody's kernels but its own.
func TestWithSoftware(t *testing.T) {
	s := load(t, "sw26010")
	for _, name := range Softwares() {
		w, err := s.WithSoftware(name)
		if err != nil || w.Software.Name != name {
			t.Errorf("%s: %+v, %v", name, w.Software, err)
		}
		m, err := w.OnMPE()
		if err != nil || m.Software != (Software{}) {
			t.Errorf("on the MPE: %+v, %v", m.Software, err)
		}
	}
	knl, err := load(t, "knl7250").WithSoftware("swcaffe-2018")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(knl, CostOnly); err == nil || !strings.Contains(err.Error(), `machine "knl7250": its file does not describe an mpe, to which software swcaffe-2018 leaves work`) {
		t.Errorf("a machine without an MPE: %v", err)
	}
	if knl, err = knl.Without("mpe"); err != nil {
		t.Fatal(err)
	}
	if m, err := New(knl, CostOnly); err != nil {
		t.Errorf("without work for an MPE: %v", err)
	} else {
		m.Close()
	}
	if _, err := s.WithSoftware("swcaffe-2081"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("error %v, want a suggestion", err)
	}
}

// TestLeaveToMPE: work that is left to the management core costs its operations at 11.6 GFLOP/s and its bytes at 9.9 GB/s, in both
// modes the same, whatever it would cost the CPEs.
func TestLeaveToMPE(t *testing.T) {
	block := Block{Planes: 1, Rows: 1, Cols: 32, RowStride: 32, PlaneStride: 32, Data: make([]float32, 32)}
	l := onModel(t, load(t, "sw26010"), func(g *CoreGroup) error {
		return g.LeaveToMPE(11600, 99000, func() error {
			g.CPEs()[0].Load(nil, &block)
			return nil
		})
	})
	if want := fromNs(1000 + 10000); l.Time != want || l.MPE != want || l.GetBytes != 0 || l.MPEBytes != 99000 || l.Flops != 11600 {
		t.Errorf("%+v, want %v", l, want)
	}
}

// TestPendingRequests: three requests of a CPE together take a third of the time of three alone, or as long as they stream.
func TestPendingRequests(t *testing.T) {
	for _, c := range []struct {
		stream, wait, want VTime
	}{{10, 50, 60}, {10, 5, 30}, {10, 35, 45}} {
		var cost cost
		for range 3 {
			cost.request(c.stream, c.wait)
		}
		cost.settle(3)
		if got := cost.transfer(); got != c.want {
			t.Errorf("3 requests of %d + %d take %d, want %d", c.stream, c.wait, got, c.want)
		}
		if cost.settle(3); cost.transfer() != c.want {
			t.Error("settling again costs")
		}
	}
}

// TestOnMPE: the management core computes at 11.6 GFLOP/s and moves 9.9 GB/s, whatever the blocks.
func TestOnMPE(t *testing.T) {
	s, err := load(t, "sw26010").OnMPE()
	if err != nil {
		t.Fatal(err)
	}
	const mega = 1 << 20
	l := onModel(t, s, func(g *CoreGroup) error { g.CPEs()[0].Compute(mega, 0); return nil })
	if want := fromNs(mega / 11.6); l.Time < want-1 || l.Time > want+1 {
		t.Errorf("a megaflop takes %v, want %v", l.Time, want)
	}
	block := Block{Planes: 1, Rows: mega / 32, Cols: 32, RowStride: 64, PlaneStride: 2 * mega}
	l = onModel(t, s, func(g *CoreGroup) error { g.CPEs()[0].Load(nil, &block); return nil })
	if want := fromNs(4 * mega / 9.9); l.Time < want-1 || l.Time > want+1 {
		t.Errorf("4 MB take %v, want %v", l.Time, want)
	}
	if _, err := load(t, "host").OnMPE(); err == nil {
		t.Error("this computer has an MPE")
	}
}

// TestRequestsOfBlocks: a box whose planes lie apart needs a request a plane, one with a single stride one.
func TestRequestsOfBlocks(t *testing.T) {
	for _, c := range []struct {
		block Block
		want  int64
	}{
		{Block{Planes: 3, Rows: 4, Cols: 5, RowStride: 10, PlaneStride: 100}, 3},
		{Block{Planes: 3, Rows: 4, Cols: 5, RowStride: 10, PlaneStride: 40}, 1},
		{Block{Planes: 3, Rows: 4, Cols: 5, RowStride: 5, PlaneStride: 100}, 1},
		{Block{Planes: 1, Rows: 1, Cols: 5, RowStride: 5, PlaneStride: 5}, 1},
	} {
		l := onModel(t, load(t, "sw26010"), func(g *CoreGroup) error { g.CPEs()[0].Load(nil, &c.block); return nil })
		if l.DMARequests != c.want || l.GetBytes != int64(4*c.block.Count()) {
			t.Errorf("%+v: %d requests, %d bytes", c.block, l.DMARequests, l.GetBytes)
		}
	}
}
