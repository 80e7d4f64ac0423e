package measure

import (
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/internal/app/modelplot"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
)

// Explore is the command explore.
var Explore = cli.Command{
	Name:     "explore",
	Synopsis: "model a net on variants of a machine",
	Args:     "-model FILE -machine NAME|FILE -vary PARAMETER=V1,V2,... [-vary ...] [-batch N] [-csv FILE] [-plot FILE.svg|FILE.png] [-json FILE]",
	Example:  "swcaffe explore -machine sw26010 -vary ldm_kb=32,64,128,256 -vary dma_gbytes_per_s=13,26.4,53 -model models/vgg16/train_val.prototxt -batch 64 -plot ldm.svg",
	Help:     exploreHelp(),
	Do:       cli.With(exploreFlags, explore),
}

func exploreFlags(fs *flag.FlagSet, o *exploreOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.machine, "machine", "sw26010", "the machine to vary: a machine `FILE`, or "+strings.Join(modelledMachines(), ", "), cli.OneOf(modelledMachines()...).OrFiles(cli.Prototxt))
	fs.Func("vary", "`PARAMETER=V1,V2,...`: values of one of the machine's figures; may be given several times", func(s string) error {
		axis, err := parseAxis(s)
		o.axes = append(o.axes, axis)
		return err
	})
	cli.StringVar(fs, &o.phase, "phase", "TRAIN", "TRAIN or TEST", cli.OneOf("TRAIN", "TEST"))
	cli.OutputVar(fs, &o.csv, "csv", "write the table to `FILE`, separated by commas")
	cli.OutputVar(fs, &o.plot, "plot", "draw images a second to `FILE`: .svg or .png")
	cli.OutputVar(fs, &o.json, "json", "write the figures to `FILE`")
	o.state.Register(fs)
	o.strategies.Register(fs, false)
	o.modelled.registerMachine(fs, "")
}

// exploreHelp returns the help text, with the list of parameters.
func exploreHelp() string {
	var b strings.Builder
	b.WriteString(`Models the effect of changes to a machine. -vary gives values for one of the machine's parameters. The net is timed, as by "swcaffe
time -mode cost", with every combination of these values. The table shows images per second, the change
from the unchanged machine, and the shares of time limited by computation, DMA, buses and latency. The first -vary is the plot's x axis; every combination of the others is a curve. Parameters:

`)
	for _, p := range cpe.Parameters() {
		unit := ""
		if p.Unit != "" {
			unit = " (" + p.Unit + ")"
		}
		fmt.Fprintf(&b, "  %-22s %s%s\n", p.Name, p.Help, unit)
	}
	return strings.TrimRight(b.String(), "\n")
}

type exploreOptions struct {
	model, machine, phase string
	csv, plot, json       string
	axes                  []modeltime.Axis
	state                 cli.StateFlags
	modelled              modelFlags
	strategies            cli.StrategyFlags
}

// modelledMachines lists the built-in machines except for the host.
func modelledMachines() []string {
	var names []string
	for _, name := range cpe.Names() {
		if name != "host" {
			names = append(names, name)
		}
	}
	return names
}

// parseAxis parses PARAMETER=V1,V2,...
func parseAxis(s string) (modeltime.Axis, error) {
	name, list, found := strings.Cut(s, "=")
	p, err := cpe.FindParameter(name)
	if err != nil {
		return modeltime.Axis{}, err
	}
	axis := modeltime.Axis{Parameter: p}
	if !found || list == "" {
		return axis, fmt.Errorf("needs values, separated by commas: %s=V1,V2", name)
	}
	for word := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return axis, fmt.Errorf("%q is not a number", word)
		}
		axis.Values = append(axis.Values, v)
	}
	return axis, nil
}

func explore(e *cli.Env, o *exploreOptions) error {
	switch {
	case o.model == "":
		return cli.Usagef("need a model definition: -model FILE")
	case len(o.axes) == 0:
		return cli.Usagef("need something to vary: -vary PARAMETER=V1,V2,... (parameters: %s)", strings.Join(cpe.ParameterNames(), ", "))
	}
	format := ""
	if o.plot != "" {
		var err error
		if format, err = figure.Format(o.plot); err != nil {
			return cli.Usagef("-plot %w", err)
		}
	}
	s, err := sweep(e, o)
	if err != nil {
		return err
	}
	printSweep(e.Tables, s)
	if o.csv != "" {
		if err := e.WriteFile(o.csv, sweepCSV(s)); err != nil {
			return err
		}
	}
	if o.plot != "" {
		picture, err := modelplot.Sweep(s, format)
		if err != nil {
			return fmt.Errorf("-plot %s: %w", o.plot, err)
		}
		if err := e.WriteFile(o.plot, picture); err != nil {
			return err
		}
	}
	return e.WriteJSON(o.json, s)
}

// sweep reads the flags and models the variants.
func sweep(e *cli.Env, o *exploreOptions) (*modeltime.Sweep, error) {
	phase, err := cli.ParsePhase(o.phase)
	if err != nil {
		return nil, err
	}
	spec, err := cpe.Load(o.machine)
	if err != nil {
		return nil, cli.FlagError("machine", err)
	}
	if spec.Native() {
		return nil, cli.Usagef("-machine %s is this computer; only modelled machines can be varied (%s)", o.machine, strings.Join(modelledMachines(), ", "))
	}
	if spec, err = o.modelled.spec(spec, layers.CPE); err != nil {
		return nil, err
	}
	s, err := modeltime.NewSweep(spec, o.axes)
	if err != nil {
		return nil, cli.Usagef("-vary: %w", err)
	}
	if o.plot != "" {
		if err := modelplot.CanSweep(s); err != nil {
			return nil, fmt.Errorf("-plot %s: %w", o.plot, err)
		}
	}
	file, options, err := o.modelled.options(e, o.model, spec, &o.state, phase)
	if err != nil {
		return nil, err
	}
	if options.Force, _, err = o.strategies.Read(e, layers.CPE, spec); err != nil {
		return nil, err
	}
	options.Built = func(n *swnet.Net) error { return o.strategies.Check(e.Log, n) }
	err = s.Run(file, options)
	s.Model = o.model
	return s, err
}
