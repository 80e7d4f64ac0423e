package cpe_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/validation"
)

// dmaBenchmark has each of some CPEs make one request and wait for it.
type dmaBenchmark struct {
	cpes  int
	block cpe.Block
	put   bool
}

func (dmaBenchmark) Name() string { return "DMA benchmark" }

func (b dmaBenchmark) RunGroup(g *cpe.CoreGroup) error {
	for _, c := range g.CPEs()[:g.Deal(b.cpes)] {
		if b.put {
			c.Store(&b.block, nil)
		} else {
			c.Load(nil, &b.block)
		}
	}
	g.Sync()
	return nil
}

// bandwidth runs the benchmark with total bytes a CPE in blocks of a length, and returns GB/s.
func bandwidth(t *testing.T, m *cpe.Machine, cpes, total, block int, put bool) float64 {
	t.Helper()
	m.ResetLedger()
	b := cpe.Block{Planes: 1, Rows: total / block, Cols: block / 4, RowStride: block / 2, PlaneStride: total}
	if total == block {
		b.RowStride = block / 4
	}
	if err := m.Run(dmaBenchmark{cpes, b, put}, 1); err != nil {
		t.Fatal(err)
	}
	return float64(cpes*total) / m.Ledger().Time.Seconds() / 1e9
}

// TestPublishedBandwidth reproduces swCaffe's figure 2 within 5 % from 64 bytes on.
func TestPublishedBandwidth(t *testing.T) {
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, file := range []struct {
		name, column string
		total        int
	}{{"dma_continuous.csv", "bytes", 0}, {"dma_strided.csv", "block_bytes", 32 << 10}} {
		rows, err := validation.Read(file.name)
		if err != nil {
			t.Fatal(err)
		}
		var points validation.Points
		for _, r := range rows {
			block := r.Int(file.column)
			got := bandwidth(t, m, r.Int("cpes"), max(file.total, block), block, r["direction"] == "put")
			name := fmt.Sprintf("%d CPEs %s %d bytes", r.Int("cpes"), r["direction"], block)
			points.Add(name, got, r.Float("gbytes_per_s"))
			if e := points[len(points)-1].Error(); block >= 64 && math.Abs(e) > 0.05 {
				t.Errorf("%s, %s: %.4g GB/s, %+.1f%%", file.name, name, got, 100*e)
			}
		}
		t.Logf("%s (GB/s)\n%v", file.name, points)
	}
}
