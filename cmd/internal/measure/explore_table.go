package measure

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/figure"
	"github.com/swcaffe/swcaffe/modeltime"
)

// printSweep prints one line per variant. The first variant is the unchanged machine.
func printSweep(w io.Writer, s *modeltime.Sweep) {
	fmt.Fprintf(w, "%s on variants of %s, batch %d: modelled times; shares are of the layers' time, by what bounds it\n\n", s.Model, s.Machine, s.Batch)
	for _, name := range s.Parameters {
		fmt.Fprintf(w, "%*s  ", max(8, len(name)), name)
	}
	fmt.Fprintf(w, "%10s %7s %11s %11s %8s %8s %8s %8s\n", "images/s", "change", "forward ms", "backward ms", "compute", "dma", "bus", "latency")
	line := func(p *modeltime.Point, note string) {
		for i, name := range s.Parameters {
			fmt.Fprintf(w, "%*s  ", max(8, len(name)), figure.Number(p.Values[i]))
		}
		if p.Error != "" {
			fmt.Fprintln(w, p.Error)
			return
		}
		t := &p.Total
		fmt.Fprintf(w, "%10.2f %+6.1f%% %11.3f %11.3f %7.1f%% %7.1f%% %7.1f%% %7.1f%%%s\n", t.Images, 100*(t.Images/s.Base.Total.Images-1), t.ForwardMs, t.BackwardMs,
			100*p.Bounds["compute"], 100*p.Bounds["dma"], 100*p.Bounds["bus"], 100*p.Bounds["latency"], note)
	}
	line(&s.Base, "  as described")
	for i := range s.Points {
		line(&s.Points[i], "")
	}
}

// sweepCSV returns the table as CSV: one line per variant. A variant that cannot run the net has empty cells and a reason.
func sweepCSV(s *modeltime.Sweep) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(append(append([]string{}, s.Parameters...), "images_per_s", "forward_ms", "backward_ms", "update_ms", "iteration_ms",
		"compute_share", "dma_share", "bus_share", "latency_share", "error"))
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, p := range s.Points {
		var row []string
		for _, v := range p.Values {
			row = append(row, number(v))
		}
		if p.Error != "" {
			w.Write(append(row, "", "", "", "", "", "", "", "", "", p.Error))
			continue
		}
		for _, v := range []float64{p.Total.Images, p.Total.ForwardMs, p.Total.BackwardMs, p.Total.UpdateMs, p.Total.IterationMs,
			p.Bounds["compute"], p.Bounds["dma"], p.Bounds["bus"], p.Bounds["latency"]} {
			row = append(row, number(v))
		}
		w.Write(append(row, ""))
	}
	w.Flush()
	return b.Bytes()
}
