package cpe

import (
	"math"
	"strings"
	"testing"
)

// TestPeaks holds every machine against the peak and the bandwidth of all its core groups that its sources give.
func TestPeaks(t *testing.T) {
	want := map[string]struct{ gflops, gbps, gbytes float64 }{
		"sw26010":     {2969.6, 4 * 26.42, 32},
		"sw26010_pro": {13824, 6 * 26.42 * 51.2 / 34, 96},
		"sw39000":     {13824, 6 * 21.29 * 2.25, 96},
		"knl7250":     {6092.8, 475, 16},
		"k40m":        {4291.2, 288, 12},
		"e5_2680v3":   {960, 68, 0},
		"mt2000plus":  {1024, 38.4, 16},
		"mt3000":      {22118.4, 204.8, 32},
		"ft2000plus":  {1177.6, 153.6, 64},
	}
	for _, name := range Names() {
		if name == "host" {
			continue
		}
		s, w := load(t, name), want[name]
		for _, f := range []struct {
			what      string
			got, want float64
		}{
			{"GFLOP/s", s.PeakGFlops() * float64(s.CoreGroups), w.gflops}, {"GB/s", s.BandwidthGBps(), w.gbps},
			{"GB", float64(s.TotalMemoryBytes()) / (1 << 30), w.gbytes},
		} {
			if math.Abs(f.got-f.want) > 0.005*f.want {
				t.Errorf("%s: %g %s, want %g", name, f.got, f.what, f.want)
			}
		}
	}
}

// TestSharedMemory: a core alone gets what it can take, all together what the memory gives, shared evenly.
func TestSharedMemory(t *testing.T) {
	s := load(t, "knl7250")
	const bytes = 1 << 16
	block := Block{Planes: 1, Rows: 1, Cols: bytes / 4, RowStride: bytes / 4, PlaneStride: bytes / 4}
	p := program(func(g *CoreGroup) error {
		g.CPEs()[0].Load(nil, &block)
		g.Sync()
		return nil
	})
	m, err := New(s, CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for groups, gbps := range map[int]float64{1: 14, 20: 14, 40: 475. / 40, 68: 475. / 68} {
		m.ResetLedger()
		if err := m.Run(p, groups); err != nil {
			t.Fatal(err)
		}
		l := m.Ledger()
		if got := bytes / l.DMA.Seconds() / 1e9; math.Abs(got-gbps) > 0.001*gbps {
			t.Errorf("%d core groups: %.4g GB/s each, want %.4g", groups, got, gbps)
		}
		if l.GetBytes != int64(groups)*bytes {
			t.Errorf("%d core groups read %d bytes", groups, l.GetBytes)
		}
	}
	if line := s.String(); !strings.Contains(line, "68 core groups of one core, 512 KB of cache each") {
		t.Error(line)
	}
}

// TestScaled multiplies every measured bandwidth and leaves the original alone.
func TestScaled(t *testing.T) {
	d := load(t, "sw26010").DMA
	twice := d.scaled(2)
	for _, c := range []struct {
		cpes, bytes int
		put         bool
	}{{64, 256, false}, {1, 4, true}, {17, 999, false}} {
		one, two := d.strided.at(c.cpes, c.bytes, c.put), twice.strided.at(c.cpes, c.bytes, c.put)
		if math.Abs(two-2*one) > 1e-9 {
			t.Errorf("%+v: %g GB/s became %g", c, one, two)
		}
	}
	if d.Peak() != 26.42 || math.Abs(twice.Peak()-52.84) > 1e-9 {
		t.Errorf("peaks %g and %g", d.Peak(), twice.Peak())
	}
	a, _ := d.TransferNs(64, 512, 1, false)
	if b, _ := twice.TransferNs(64, 512, 1, false); math.Abs(a-2*b) > 1e-9 {
		t.Errorf("a single request takes %g and %g ns", a, b)
	}
}
