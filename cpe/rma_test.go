package cpe

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestRMACharges: where CPEs have RMA, a broadcast costs its owner one request to each of the others and the latency of the last one, though
// the pipe has cycles of its own, and what arrives takes room in LDM: two parts of every operand that is sent.
func TestRMACharges(t *testing.T) {
	s := load(t, "sw39000")
	a, b := &Tile{RowParts: 8, ColParts: 8, Sent: true}, &Tile{RowParts: 8, ColParts: 8, Sent: true}
	m, err := New(s, CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Run(program(func(g *CoreGroup) error {
		for _, tile := range []*Tile{a, b} {
			if err := g.Take("k", tile, 256, 256); err != nil {
				return err
			}
			tile.cut(256, 256)
		}
		err := g.Exchange("k", a, b, 3)
		g.Sync()
		return err
	}), 1); err != nil {
		t.Fatal(err)
	}
	l := m.Ledger()
	const part = 4 * 32 * 32
	each := max(s.RMA.IssueCycles, s.RMA.GapCycles+part/s.RMA.BytesPerCycle)
	along := 98 + 25.0*3/6 // to the last block of four
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"bus", l.Bus.Seconds() * 2.25e9, 2 * 7 * each}, {"latency", (l.Latency - s.StartTime()).Seconds() * 2.25e9, 2 * along},
		{"bytes", float64(l.BusBytes), 2 * 7 * 8 * part}, {"LDM", float64(l.LDMPeak), 2 * 3 * part},
	} {
		if math.Abs(c.got-c.want) > 0.01 {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
}

// TestRMALeftover: parts that nobody receives are an error with RMA, too, where there is no FIFO.
func TestRMALeftover(t *testing.T) {
	m, err := New(load(t, "sw39000"), Functional)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	err = m.Run(program(func(g *CoreGroup) error {
		g.at(1, 6).fromCol.push(&Part{Rows: 1, Cols: 1})
		return g.endExchange("k")
	}), 1)
	var dead *DeadlockError
	if !errors.As(err, &dead) || !strings.Contains(dead.What, "1 messages of 4 bytes along its column are never received, and their buffers in LDM stay taken") {
		t.Errorf("error %v", err)
	}
}

// TestQueuedPuts: a put pays for the transactions that it covers in part, wherever it starts, and a mean over all places lies between the
// cheapest and the dearest place.
func TestQueuedPuts(t *testing.T) {
	d := load(t, "sw39000").DMA
	for bytes := 4; bytes <= 1024; bytes += 4 {
		low, high := math.Inf(1), 0.0
		for start := 0; start < 128; start += 4 {
			parts := 0.0
			if first, last := (start+127)/128, (start+bytes)/128; last > first {
				parts = float64(last-first) * 128 / d.strided.at(64, (last-first)*128, true)
			}
			switch at, end := start%128 != 0, (start+bytes)%128 != 0; {
			case at && end && (start+bytes)/128 > 0:
				parts += d.PartialPut.TwoNs
			case at || end:
				parts += d.PartialPut.OneNs
			}
			one := d
			one.Aligned, one.Offset = true, start
			got := one.blockNs(64, bytes, true)
			if math.Abs(got-parts) > 1e-9 {
				t.Fatalf("%d bytes from %d: %g ns, want %g", bytes, start, got, parts)
			}
			low, high = min(low, got), max(high, got)
		}
		if mean := d.blockNs(64, bytes, true); mean < low-1e-9 || mean > high+1e-9 {
			t.Fatalf("%d bytes: %g ns on average, %g to %g", bytes, mean, low, high)
		}
	}
}

// TestRMAFigures: impossible figures of RMA are errors that name them.
func TestRMAFigures(t *testing.T) {
	for want, change := range map[string]func(r *RMASpec){
		"rma.far_cycles must be at least near_cycles": func(r *RMASpec) { r.FarCycles = math.NaN() },
		"rma.far_cycles must be at most":              func(r *RMASpec) { r.FarCycles = math.Inf(1) },
		"rma.issue_cycles must be positive":           func(r *RMASpec) { r.IssueCycles = 0 },
		"rma has block 0":                             func(r *RMASpec) { r.Block = 0 },
		"rma.gap_cycles must not be negative":         func(r *RMASpec) { r.GapCycles = -1 },
	} {
		s := load(t, "sw39000")
		change(&s.RMA)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
