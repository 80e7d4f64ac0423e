package cpe_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/validation"
)

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
			got, err := cpe.DMAProbe{CPEs: r.Int("cpes"), Bytes: max(file.total, block), Block: block, Put: r["direction"] == "put"}.Run(m, 1)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d CPEs %s %d bytes", r.Int("cpes"), r["direction"], block)
			points.Add(name, got, r.Float("gbytes_per_s"))
			if e := points[len(points)-1].Error(); block >= 64 && math.Abs(e) > 0.05 {
				t.Errorf("%s, %s: %.4g GB/s, %+.1f%%", file.name, name, got, 100*e)
			}
		}
		t.Logf("%s (GB/s)\n%v", file.name, points)
	}
}

// TestDMAProbe: core groups with memories of their own do not slow each other down, those that share one do; what is charged to the machine
// stays; what cannot be asked for is an error.
func TestDMAProbe(t *testing.T) {
	open := func(name string, mode cpe.Mode) *cpe.Machine {
		spec, err := cpe.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := cpe.New(spec, mode)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		return m
	}
	probe := func(m *cpe.Machine, p cpe.DMAProbe, groups int) float64 {
		v, err := p.Run(m, groups)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	own := open("sw26010", cpe.CostOnly)
	own.Charge(&cpe.Ledger{Flops: 5})
	p := cpe.DMAProbe{CPEs: 64, Bytes: 2048, Block: 2048}
	if one, all := probe(own, p, 1), probe(own, p, 0); math.Abs(one-24.71) > 0.01 || math.Abs(all/one-4) > 1e-9 {
		t.Errorf("sw26010: %g GB/s, all core groups %g", one, all)
	}
	if l := own.Ledger(); l.Flops != 5 || l.GetBytes != 0 {
		t.Errorf("the probe stays in the machine's ledger: %+v", l)
	}
	shared := open("knl7250", cpe.CostOnly)
	p = cpe.DMAProbe{CPEs: 1, Bytes: 1 << 18, Block: 1 << 18}
	if one, all := probe(shared, p, 1), probe(shared, p, 0); all > 475 || all < 400 || all > 60*one {
		t.Errorf("knl7250: %g GB/s, all cores %g", one, all)
	}
	for _, c := range []struct {
		m      *cpe.Machine
		p      cpe.DMAProbe
		groups int
		want   string
	}{
		{own, cpe.DMAProbe{CPEs: 65, Bytes: 4, Block: 4}, 1, `machine "sw26010" has 64 CPEs a core group; 65 were asked for`},
		{own, cpe.DMAProbe{CPEs: 64, Bytes: 4, Block: 4}, 5, `machine "sw26010" has 4 core groups; 5 were asked for`},
		{own, cpe.DMAProbe{CPEs: 64, Bytes: 6, Block: 6}, 1, `6 bytes in blocks of 6`},
		{own, cpe.DMAProbe{CPEs: 64, Bytes: 12, Block: 8}, 1, `12 bytes in blocks of 8`},
		{own, cpe.DMAProbe{CPEs: 64, Bytes: 65540, Block: 65540}, 1, `65540`},
		{open("sw26010", cpe.Functional), cpe.DMAProbe{CPEs: 64, Bytes: 4, Block: 4}, 1, `needs a machine in cost-only mode`},
	} {
		if _, err := c.p.Run(c.m, c.groups); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v on %d core groups: error %v, want %q", c.p, c.groups, err, c.want)
		}
	}
}
