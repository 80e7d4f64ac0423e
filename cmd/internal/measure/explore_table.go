package measure

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime"
)

// printSweep prints one line per variant. The first variant is the unchanged machine.
func printSweep(w io.Writer, s *modeltime.Sweep) {
	fmt.Fprintf(w, "%s on variants of %s, batch %d: modelled times; shares are of the layers' time, by what bounds it\n\n", s.Model, s.Machine, s.Batch)
	for _, name := range s.Parameters {
		fmt.Fprintf(w, "%*s  ", max(8, len(name)), name)
	}
	space := 0
	for _, p := range append([]modeltime.Point{s.Base}, s.Points...) {
		t := &p.Total
		space = widest(space, t.ImagesRange, t.ForwardRange, t.BackwardRange)
	}
	fmt.Fprintf(w, "%10s%-*s %7s %11s%-*s %11s%-*s %8s %8s %8s %8s\n", "images/s", space, rangeHeading(space), "change", "forward ms", space, "", "backward ms", space, "", "compute", "dma", "bus", "latency")
	line := func(p *modeltime.Point, note string) {
		for i, name := range s.Parameters {
			fmt.Fprintf(w, "%*s  ", max(8, len(name)), figure.Number(p.Values[i]))
		}
		if p.Error != "" {
			fmt.Fprintln(w, p.Error)
			return
		}
		t := &p.Total
		fmt.Fprintf(w, "%10.2f%-*v %+6.1f%% %11.3f%-*v %11.3f%-*v %7.1f%% %7.1f%% %7.1f%% %7.1f%%%s\n", t.Images, space, t.ImagesRange,
			100*(t.Images/s.Base.Total.Images-1), t.ForwardMs, space, t.ForwardRange, t.BackwardMs, space, t.BackwardRange,
			100*p.Bounds["compute"], 100*p.Bounds["dma"], 100*p.Bounds["bus"], 100*p.Bounds["latency"], note)
	}
	line(&s.Base, "  as described")
	for i := range s.Points {
		line(&s.Points[i], "")
	}
	fmt.Fprintf(w, "\n%s\n", aboutRanges(s.Machine))
}

// sweepCSV returns the table as CSV: one line per variant. A variant that cannot run the net has empty cells and a reason.
func sweepCSV(s *modeltime.Sweep) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(append(append([]string{}, s.Parameters...), "images_per_s", "images_per_s_low", "images_per_s_high", "forward_ms", "backward_ms", "update_ms", "iteration_ms",
		"compute_share", "dma_share", "bus_share", "latency_share", "error"))
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, p := range s.Points {
		var row []string
		for _, v := range p.Values {
			row = append(row, number(v))
		}
		if p.Error != "" {
			w.Write(append(row, "", "", "", "", "", "", "", "", "", "", "", p.Error))
			continue
		}
		row = append(row, number(p.Total.Images))
		if r := p.Total.ImagesRange; r.Known() {
			row = append(row, number(r.Low), number(r.High))
		} else {
			row = append(row, "", "")
		}
		for _, v := range []float64{p.Total.ForwardMs, p.Total.BackwardMs, p.Total.UpdateMs, p.Total.IterationMs,
			p.Bounds["compute"], p.Bounds["dma"], p.Bounds["bus"], p.Bounds["latency"]} {
			row = append(row, number(v))
		}
		w.Write(append(row, ""))
	}
	w.Flush()
	return b.Bytes()
}
