package validation_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/validation"
)

// parsed returns the machine sw39000 without the lines of its file that match a pattern ("": all of them).
func parsed(t *testing.T, without string) cpe.Spec {
	t.Helper()
	file, text, err := cpe.Text("sw39000")
	if err != nil {
		t.Fatal(err)
	}
	if without != "" {
		line := regexp.MustCompile(`(?m)^.*(` + without + `).*\n`)
		if !line.Match(text) {
			t.Fatalf("no line of the file matches %q", without)
		}
		text = line.ReplaceAll(text, nil)
	}
	spec, err := cpe.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// request is the bandwidth of requests of some CPEs, all aligned, in bytes a cycle.
func request(s *cpe.Spec, r validation.Row) float64 {
	n, bytes := r.Int("cpes"), r.Int("bytes")
	stream, wait := s.DMA.TransferNs(n, bytes, 1, r["direction"] == "put")
	return float64(n*bytes) / (stream + wait) / s.ClockGHz
}

// TestSW39000DMA: measured rows come out as they went in, and a row that is left out follows from the others, in the median within 5 %.
func TestSW39000DMA(t *testing.T) {
	spec, err := parsed(t, "").WithOffset(0)
	if err != nil {
		t.Fatal(err)
	}
	var kept, left validation.Points
	for _, r := range read(t, "sw39000_dma.csv") {
		name, want := fmt.Sprintf("%s CPEs %s %s bytes", r["cpes"], r["direction"], r["bytes"]), r.Float("bytes_per_cycle")
		kept.Add(name, request(&spec, r), want)
		if e := kept[len(kept)-1].Error(); math.Abs(e) > 0.005 {
			t.Errorf("%s: %.4g bytes a cycle, %+.2f%%", name, request(&spec, r), 100*e)
		}
		size := fmt.Sprintf(" block_bytes: %s ", r["bytes"])
		without := map[string]string{ // a measured point, and those that the file derives from it
			"1": "request_point .*" + size, "2": ` point { cpes: [12] `, "8": ` point { cpes: [48] `, "64": " point { .*" + size,
		}[r["cpes"]]
		others := parsed(t, without)
		left.Add(name, request(&others, r), want)
	}
	t.Logf("bytes a cycle, each row left out\n%v", left)
	if m := left.MedianError(); m > 0.05 {
		t.Errorf("the median error of rows left out is %.1f %%", 100*m)
	}
}

// TestSW39000Offset: puts of 128 bytes that start 4 bytes after a boundary take 12 times as long as aligned ones, and gets 1.4 times. The
// price of puts is an input of the model. That of gets follows from gets of 256 bytes, which touch two transactions, too.
func TestSW39000Offset(t *testing.T) {
	spec := parsed(t, "")
	for put, want := range map[bool]float64{true: 12, false: 1.4} {
		var ns [2]float64
		for i, offset := range []int{0, 4} {
			s, err := spec.WithOffset(offset)
			if err != nil {
				t.Fatal(err)
			}
			stream, wait := s.DMA.TransferNs(64, 128, 1, put)
			ns[i] = stream + wait
		}
		if got := ns[1] / ns[0]; math.Abs(got/want-1) > 0.05 {
			t.Errorf("put %v: %.3g times as long, %g measured", put, got, want)
		}
	}
	if _, err := spec.WithOffset(128); err == nil {
		t.Error("an offset of a whole transaction is none")
	}
}

// remoteFigures derives the machine's figures of RMA from measured rows, as the comments of its file say.
func remoteFigures(s cpe.Spec, rows []validation.Row) cpe.Spec {
	cycles := func(r validation.Row) float64 { return r.Float("bytes") / r.Float("bytes_per_cycle") }
	r := &s.RMA
	shortest := map[string]float64{"1": math.Inf(1), "16": math.Inf(1)}
	for _, row := range rows {
		shortest[row["outstanding"]] = min(shortest[row["outstanding"]], cycles(row))
	}
	r.RequestCycles, r.IssueCycles = shortest["1"], shortest["16"]
	for _, row := range rows { // the longest one last
		if row["outstanding"] == "1" {
			if c := cycles(row); c > 1.1*r.RequestCycles {
				r.BytesPerCycle = row.Float("bytes") / (c - r.RequestCycles)
			}
		}
	}
	r.GapCycles = 0
	for _, row := range rows {
		if gap := cycles(row) - row.Float("bytes")/r.BytesPerCycle; row["outstanding"] == "16" && row.Int("bytes") > 64 && r.GapCycles == 0 {
			r.GapCycles = max(0, gap)
		}
	}
	return s
}

// TestSW39000RMA: the file's figures follow from the measured rows and give them back, and a row that is left out follows from the others, in
// the median within 10 %.
func TestSW39000RMA(t *testing.T) {
	spec, rows := parsed(t, ""), read(t, "sw39000_rma.csv")
	near := func(got, want float64) bool { return math.Abs(got/want-1) < 0.005 }
	r, d := spec.RMA, remoteFigures(spec, rows).RMA
	if !near(r.RequestCycles, d.RequestCycles) || !near(r.IssueCycles, d.IssueCycles) || !near(r.GapCycles, d.GapCycles) || !near(r.BytesPerCycle, d.BytesPerCycle) {
		t.Errorf("the file has %+v, its rows give %+v", r, d)
	}
	var kept, left validation.Points
	for i, row := range rows {
		rate := func(s cpe.Spec) float64 {
			return row.Float("bytes") / s.RMACycles(row.Int("bytes"), row.Int("outstanding"), 0, 0)
		}
		name := fmt.Sprintf("%s outstanding, %s bytes", row["outstanding"], row["bytes"])
		kept.Add(name, rate(spec), row.Float("bytes_per_cycle"))
		if e := kept[len(kept)-1].Error(); math.Abs(e) > 0.04 {
			t.Errorf("%s: %.3g bytes a cycle, %+.1f%%", name, rate(spec), 100*e)
		}
		left.Add(name, rate(remoteFigures(spec, slices.Concat(rows[:i], rows[i+1:]))), row.Float("bytes_per_cycle"))
	}
	t.Logf("bytes a cycle, each row left out\n%v", left)
	if m := left.MedianError(); m > 0.1 {
		t.Errorf("the median error of rows left out is %.1f %%", 100*m)
	}
	for _, l := range []struct {
		rows, cols int
		want       float64
	}{{0, 1, 98}, {1, 1, 98}, {0, 2, 102}, {2, 0, 102}, {7, 7, 123}} {
		if got := spec.RMALatency(l.rows, l.cols); math.Abs(got-l.want) > 0.2 {
			t.Errorf("%d rows and %d columns away: %.1f cycles, %g measured", l.rows, l.cols, got, l.want)
		}
	}
}
