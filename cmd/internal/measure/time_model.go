package measure

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/internal/suggest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/net/schedule"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// modelFlags are the flags of time for machines that are modelled.
type modelFlags struct {
	batch, coreGroups       int
	mode, without, software string

	roofline, heatmap, layer, direction string
}

func (f *modelFlags) register(fs *flag.FlagSet) {
	f.registerMachine(fs, "; or, on this computer, passes and fusions: "+strings.Join(schedule.Names(), ", "))
	cli.StringVar(fs, &f.mode, "mode", "cost", "modelled machines: cost (charge the plans) or functional (move values as well)", cli.OneOf("cost", "functional"))
	cli.OutputVar(fs, &f.roofline, "roofline", "modelled machines: draw every layer under the machine's roof to `FILE`: .svg or .png")
	cli.OutputVar(fs, &f.heatmap, "heatmap", "modelled machines: draw what each CPE uses in one pass through -layer to `FILE`: .svg or .png")
	fs.StringVar(&f.layer, "layer", "", "the `NAME` of the layer that -heatmap looks at")
	cli.StringVar(fs, &f.direction, "direction", "forward", "the pass that -heatmap looks at: forward, weights or input (gradients)", cli.OneOf("forward", "weights", "input"))
}

// registerMachine registers the flags of all commands that model machines. others says what else -without takes.
func (f *modelFlags) registerMachine(fs *flag.FlagSet, others string) {
	fs.IntVar(&f.batch, "batch", 0, "the number of images of an iteration (0: as the net says)")
	fs.IntVar(&f.coreGroups, "core_groups", 0, "modelled machines: the number of core groups that share the work (0: all)")
	cli.StringVar(fs, &f.software, "software", cpe.Softwares()[0], "modelled machines: whose kernels run on it: "+strings.Join(cpe.Softwares(), ", "), cli.OneOf(cpe.Softwares()...))
	fs.StringVar(&f.without, "without", "", "leave out what `NAMES` name, separated by commas: algorithms of convolutions, products and poolings, or, on modelled machines, mechanisms: "+
		strings.Join(cpe.Mechanisms(), ", ")+others)
}

// leaveOut splits what -without names into algorithms, which the machine then lacks, and other names.
func (f *modelFlags) leaveOut(s cpe.Spec) (cpe.Spec, []string) {
	if f.without == "" {
		return s, nil
	}
	var others []string
	for name := range strings.SplitSeq(f.without, ",") {
		if slices.Contains(optionalAlgorithms(), name) {
			s = s.WithoutAlgorithms(name)
		} else {
			others = append(others, name)
		}
	}
	return s, others
}

// optionalAlgorithms lists the kernels' algorithms that -without accepts.
func optionalAlgorithms() []string {
	return slices.Concat(plan.Algorithms(), gemm.Optional(), pool.Optional())
}

// checkPasses returns an error if names that are no algorithms are not passes or fusions either.
func checkPasses(names []string) error {
	known := schedule.Names()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return cli.Usagef("-without: %w", suggest.Unknown("name", name, "passes, fusions and algorithms", slices.Concat(known, optionalAlgorithms())))
		}
	}
	return nil
}

// given names a flag that only modelled machines understand and that differs from its default, "" if none does.
func (f *modelFlags) given() string {
	switch {
	case f.coreGroups != 0:
		return "-core_groups"
	case f.mode != "cost":
		return "-mode"
	case f.software != cpe.Softwares()[0]:
		return "-software"
	case f.roofline != "":
		return "-roofline"
	case f.heatmap != "":
		return "-heatmap"
	case f.layer != "":
		return "-layer"
	case f.direction != "forward":
		return "-direction"
	}
	return ""
}

// spec applies the flags to a machine.
func (f *modelFlags) spec(s cpe.Spec, engine layers.Engine) (cpe.Spec, error) {
	if f.coreGroups < 0 || f.coreGroups > s.CoreGroups {
		return s, cli.Usagef("-core_groups %d: machine %q has 1 to %d", f.coreGroups, s.Name, s.CoreGroups)
	}
	if f.coreGroups > 0 {
		s.CoreGroups = f.coreGroups
	}
	if f.software != "" { // commands without the flag model our own
		var err error
		if s, err = s.WithSoftware(f.software); err != nil {
			return s, cli.FlagError("software", err)
		}
	}
	s, mechanisms := f.leaveOut(s)
	for _, name := range mechanisms {
		var err error
		if s, err = s.Without(name); err != nil {
			return s, cli.Usagef("-without: %w", err)
		}
	}
	if engine != layers.MPE {
		return s, nil
	}
	m, err := s.OnMPE()
	if err != nil {
		return s, cli.Usagef("-engine mpe: %w", err)
	}
	return m, nil
}

// options reads the flags and the net for a model of a machine.
func (f *modelFlags) options(e *cli.Env, path string, spec cpe.Spec, state *cli.StateFlags, phase caffepb.Phase) (*swproto.Net, modeltime.Options, error) {
	o := modeltime.Options{Spec: spec, Mode: cpe.CostOnly, Batch: f.batch}
	if f.batch < 0 {
		return nil, o, cli.Usagef("-batch %d: the number of images cannot be negative", f.batch)
	}
	file, err := cli.ReadNet(e, path)
	if err != nil {
		return nil, o, err
	}
	o.State = state.StateOver(file, phase)
	return file, o, nil
}

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
	spec, err = o.modelled.spec(spec, o.device.Engine)
	if err != nil {
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
		return printExplanations(e.Tables, o.explain, list, err)
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
	printModelled(e.Tables, r)
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
