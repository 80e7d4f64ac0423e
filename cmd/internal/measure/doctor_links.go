package measure

import (
	"fmt"
	"math"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/topology"
)

// Numbers of messages of a link's measurement. The shortest counts.
const (
	pings      = 101
	longs      = 9
	longValues = 1 << 20
)

// examine measures links and all-reduces. Rank 0 prints.
func (o *doctorOptions) examine(e *cli.Env, t topology.Transport) error {
	if t.Size() > 1 {
		if err := o.links(e, t); err != nil {
			return err
		}
	}
	if err := o.sums(e, t); err != nil || t.Rank() > 0 {
		return err
	}
	return e.WriteJSON(o.json, o.report)
}

// links measures the links of rank 0 to all others, one after another.
func (o *doctorOptions) links(e *cli.Env, t topology.Transport) error {
	short, long := make([]float32, 1), make([]float32, longValues)
	if t.Rank() > 0 {
		for range pings {
			if err := echo(t, short, short); err != nil {
				return err
			}
		}
		for range longs {
			if err := echo(t, long, short); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintf(e.Tables, "\nFrom rank 0, one rank after another (model: %s, %.1f us and %.2f GB/s)\n%5s %12s %12s %16s\n",
		o.model.Name, 1e6*float64(o.model.Latency), o.model.BytesPerSecond/1e9, "rank", "latency us", "GB/s", "of the model's")
	for rank := 1; rank < t.Size(); rank++ {
		there, err := call(t, rank, pings, short, short)
		if err != nil {
			return err
		}
		whole, err := call(t, rank, longs, long, short)
		if err != nil {
			return err
		}
		latency := there.Seconds() / 2
		rate := cli.BytesPerValue * longValues / max(whole.Seconds()-latency, 1e-9)
		o.report.Links = append(o.report.Links, doctorLink{rank, latency, rate})
		fmt.Fprintf(e.Tables, "%5d %12.1f %12.2f %15.0f%%\n", rank, 1e6*latency, rate/1e9, 100*rate/o.model.BytesPerSecond)
	}
	return nil
}

// echo answers rank 0.
func echo(t topology.Transport, in, out []float32) error {
	if err := t.Recv(0, in); err != nil {
		return err
	}
	return t.Send(0, out)
}

// call returns the shortest time of a message and its answer: what else runs on the computers only adds to it.
func call(t topology.Transport, rank, times int, out, in []float32) (time.Duration, error) {
	least := time.Duration(math.MaxInt64)
	for range times {
		start := time.Now()
		if err := t.Send(rank, out); err != nil {
			return 0, err
		}
		if err := t.Recv(rank, in); err != nil {
			return 0, err
		}
		least = min(least, time.Since(start))
	}
	return least, nil
}

// sums times every all-reduce and says which one auto takes.
func (o *doctorOptions) sums(e *cli.Env, t topology.Transport) error {
	layout := topology.Flat(t.Size())
	data := make([]float32, o.bytes/cli.BytesPerValue)
	pick := topology.Choose(cli.ThisComputer, layout, int(o.bytes))
	var rows []doctorSum
	fastest, least, picked := "", 0.0, 0.0
	for _, name := range topology.Fixed() {
		m := newMeasurement(t, layout)
		if _, err := m.run(&allreduceOptions{iterations: 5, bytes: o.bytes}, name, data); err != nil {
			return err
		}
		seconds, err := m.slowest()
		if err != nil {
			return err
		}
		if name == pick {
			picked = seconds
		}
		if fastest == "" || seconds < least {
			fastest, least = name, seconds
		}
		rows = append(rows, doctorSum{name, float64(topology.Cost(name, cli.ThisComputer, layout, int(o.bytes))), seconds})
	}
	if t.Rank() > 0 {
		return nil
	}
	fmt.Fprintf(e.Tables, "\nAll-reduce of %d bytes over %d ranks\n%-20s %14s %14s\n", o.bytes, t.Size(), "algorithm", "estimated ms", "measured ms")
	for _, r := range rows {
		mark := ""
		if r.Algorithm == pick {
			mark = "  auto takes it"
		}
		fmt.Fprintf(e.Tables, "%-20s %14.3f %14.3f%s\n", r.Algorithm, 1e3*r.Estimated, 1e3*r.Measured, mark)
	}
	o.report.Sums, o.report.Auto, o.report.Fastest = rows, pick, fastest
	fmt.Fprintf(e.Tables, "auto takes %s: of the estimates, by the figures of one computer (%.1f us, %.2f GB/s), its is the smallest.\n", pick, 1e6*float64(cli.ThisComputer.Latency), cli.ThisComputer.BytesPerSecond/1e9)
	if least < 0.9*picked {
		fmt.Fprintf(e.Tables, "%s was faster here: -allreduce %s, or dynamic, which measures while training.\n", fastest, fastest)
	} else {
		fmt.Fprintf(e.Tables, "Nothing was faster by more than a tenth.\n")
	}
	return nil
}
