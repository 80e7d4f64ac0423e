package measure

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// timeModelled prints how long a net takes on a machine that is not this computer.
func timeModelled(e *cli.Env, o *timeOptions, spec cpe.Spec, phase caffepb.Phase) error {
	mode := cpe.CostOnly
	switch o.modelled.mode {
	case "cost":
	case "functional":
		mode = cpe.Functional
	default:
		return cli.Usagef("-mode %q: must be cost or functional", o.modelled.mode)
	}
	pictures, err := o.modelled.pictures()
	if err != nil {
		return err
	}
	all := o.modelled // with all mechanisms
	all.without, _ = all.mechanisms()
	whole, err := all.spec(spec, o.device.Engine)
	if err != nil {
		return err
	}
	if spec, err = o.modelled.spec(spec, o.device.Engine); err != nil {
		return err
	}
	file, options, err := o.modelled.options(e, o.model, spec, &o.state, phase)
	if err != nil {
		return err
	}
	if options.Force, _, err = o.strategies.Read(e, o.device.Engine, spec); err != nil {
		return err
	}
	options.Built = func(n *swnet.Net) error { return o.strategies.Check(e.Log, n) }
	if o.explain != "" {
		list, err := modeltime.Explain(file, options, o.explain)
		if err := printExplanations(e.Tables, list, err); err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.Tables, "\n"+aboutCosts(spec.Measured()))
		return err
	}
	options.Mode, options.Seed, options.Mesh = mode, uint64(max(0, o.device.Seed)), pictures.mesh
	if mode == cpe.Functional {
		options.Done = stopwatch(e)
	}
	r, err := modeltime.Run(file, options)
	if err != nil {
		return err
	}
	r.Model = o.model
	if _, names := o.modelled.mechanisms(); len(names) > 0 {
		options.Spec = whole
		if r.Without, err = modeltime.WorthOf(file, options, names); err != nil {
			return err
		}
	}
	printModelled(e.Tables, r)
	printWorth(e.Tables, r.Without)
	if err := pictures.draw(e, r, spec); err != nil {
		return err
	}
	return e.WriteJSON(o.json, r)
}

// stopwatch logs how long this computer takes for the stages of a model that moves values.
func stopwatch(e *cli.Env) func(modeltime.Stage) {
	last := time.Now()
	return func(s modeltime.Stage) {
		now := time.Now()
		e.Log.Infof("This computer took %s for: %s", now.Sub(last).Round(time.Millisecond), s)
		last = now
	}
}

// megabytes prints MB; nothing for none.
func megabytes(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64)
}

// printModelled prints a line a layer and direction, and the totals.
func printModelled(w io.Writer, r *modeltime.Report) {
	fmt.Fprintf(w, "%s on %s, %s, batch %d, %s mode: modelled times\n\n", r.Model, r.Machine, cpe.Groups(r.CoreGroups), r.Batch, r.Mode)
	space, mpe := 0, 0 // widths of ranges, and of the MPEs' bytes where there are any
	for _, l := range r.Layers {
		for _, d := range []*modeltime.Direction{l.Forward, l.WeightGradient, l.InputGradient} {
			if d != nil {
				space = widest(space, d.ModelledRange)
				if d.MPEBytes > 0 {
					mpe = 11
				}
			}
		}
	}
	fmt.Fprintf(w, "%-24s %-8s %-20s %11s%-*s %9s %6s %-8s %10s%*s %10s %8s  %s\n",
		"layer", "pass", "algorithm", "ms", space, rangeHeading(space), "GFLOP/s", "peak", "bound", "DMA MB", mpe, "MPE MB"[:min(6, mpe)], "bus MB", "LDM B", "runner-up ms")
	for _, l := range r.Layers {
		for _, d := range []struct {
			name string
			*modeltime.Direction
		}{{"forward", l.Forward}, {"weights", l.WeightGradient}, {"input", l.InputGradient}} {
			if d.Direction == nil {
				continue
			}
			second := ""
			if d.RunnerUp != "" {
				second = fmt.Sprintf("  %s %.4f", d.RunnerUp, d.RunnerUpMs)
			}
			fmt.Fprintf(w, "%-24s %-8s %-20s %11.4f%-*v %9.1f %5.1f%% %-8s %10.2f%*s %10.2f %8d%s\n", l.Name, d.name, d.Algorithm, d.ModelledMs,
				space, d.ModelledRange, d.GFlops, 100*d.PeakShare, d.Bound, float64(d.DMABytes)/1e6, mpe, megabytes(d.MPEBytes), float64(d.BusBytes)/1e6, d.LDMPeak, second)
		}
	}
	t := &r.Total
	fmt.Fprintf(w, "\nforward %.3f%v ms, backward %.3f%v ms, update %.3f%v ms, iteration %.3f%v ms: %.2f%v images/s\n", t.ForwardMs, t.ForwardRange,
		t.BackwardMs, t.BackwardRange, t.UpdateMs, t.UpdateRange, t.IterationMs, t.IterationRange, t.Images, t.ImagesRange)
	fmt.Fprintln(w, aboutRanges(r.Machine))
	const mb = 1 << 20
	fmt.Fprintf(w, "memory: parameters %d MB, activations %d MB", t.ParameterBytes/mb, t.ActivationBytes/mb)
	if t.MemoryBytes > 0 {
		fmt.Fprintf(w, ", of %d MB", t.MemoryBytes/mb)
		if t.ParameterBytes+t.ActivationBytes > t.MemoryBytes {
			fmt.Fprint(w, ": too much")
		}
	}
	fmt.Fprintln(w)
}
