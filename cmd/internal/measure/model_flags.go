package measure

import (
	"flag"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/modeltime"
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

// mechanisms splits what -without names into a list of algorithms and the mechanisms.
func (f *modelFlags) mechanisms() (algorithms string, mechanisms []string) {
	var others []string
	for name := range strings.SplitSeq(f.without, ",") {
		switch {
		case slices.Contains(cpe.Mechanisms(), name):
			mechanisms = append(mechanisms, name)
		case name != "":
			others = append(others, name)
		}
	}
	return strings.Join(others, ","), mechanisms
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
	file, err := cli.ReadNet(e, path, state)
	if err != nil {
		return nil, o, err
	}
	o.State = state.StateOver(file, phase)
	return file, o, nil
}
