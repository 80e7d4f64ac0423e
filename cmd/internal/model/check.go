package model

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/evaluate"
)

// Check is the command check.
var Check = cli.Command{
	Name:     "check",
	Prints:   true,
	Synopsis: "find the faults of solvers and nets, and train nothing",
	Args:     "FILE... [-phase TRAIN|TEST|ALL] [-level N] [-stage NAMES] [-weights FILES | -snapshot FILE] [-items N|all] [-strict] [-check_for PROGRAM] [-machine NAME|FILE] [-json FILE]",
	Example:  "swcaffe check models/lenet/solver.prototxt models/lenet/deploy.prototxt",
	Help: `Does everything that train does before its first iteration. For a solver it checks the fields, the training net and the test nets with
their data and weights, and permission and space for snapshots. For a net it checks each phase for which there are layers. It builds
the nets in memory, so that it checks all shapes. -level, -stage, -weights and -snapshot mean for a solver what they mean for train, and
for a net what they mean for test and time.

Of each list or database of a data layer it reads 1000 items, spread evenly, as training would read them; -items all reads every one. An item that
cannot be read, at which training would end, is a fault. Images that are damaged and are read as far as they go are named and counted; with
-strict they are faults too.

With -check_for atc (Huawei's ATC), nnie (HiSilicon's nnie_mapper) or opencv (OpenCV 4's readNetFromCaffe) it builds nets for phase TEST alone. Each
layer whose type, shape or parameters that program refuses, or computes otherwise without a word, is a fault; docs/compilers.md has the lists' sources.

It prints a line for each net, with the numbers of layers and weights, a line for each data layer, and each fault with its line in the file.
The exit code is 0 if no file has a fault, otherwise 1.`,
	Words: []string{"file..."},
	Quiet: true,
	Do:    cli.With(checkFlags, check),
}

func checkFlags(fs *flag.FlagSet, o *checkOptions) {
	cli.AppendVar(fs, &o.files, "file", "a solver or net to check: `FILE` (prototxt)", cli.Prototxt)
	cli.AppendVar(fs, &o.files, "solver", "the same as -file, as train takes it: `FILE`", cli.Prototxt)
	cli.AppendVar(fs, &o.files, "model", "the same as -file, as test takes it: `FILE`", cli.Prototxt)
	cli.StringVar(fs, &o.phase, "phase", "ALL", "the phases of nets: TRAIN, TEST or ALL. A solver has its own", cli.OneOf("TRAIN", "TEST", "ALL"))
	cli.StringVar(fs, &o.weights, "weights", "", "weights that nets must be able to take: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.snapshot, "snapshot", "", "the solver state `FILE` that a solver must be able to resume from", cli.SolverState)
	cli.StringVar(fs, &o.items, "items", strconv.Itoa(usualItems), "read `N` items of each data layer, spread evenly; 0: none; all: every one", cli.OneOf("all"))
	fs.BoolVar(&o.strict, "strict", false, "damaged images are faults")
	cli.StringVar(fs, &o.reader, "check_for", "", "also name the layers of deploy nets that another `PROGRAM` refuses, or computes otherwise: "+strings.Join(readerNames(), ", "), cli.OneOf(readerNames()...))
	cli.OutputVar(fs, &o.json, "json", "write the findings to `FILE` as well; -: to standard output, alone")
	o.device.Register(fs)
	o.state.Register(fs)
	o.strategies.Register(fs, false)
}

type checkOptions struct {
	files             []string
	phase, json       string
	weights, snapshot string
	items, reader     string
	strict            bool
	device            cli.DeviceFlags
	state             cli.StateFlags
	strategies        cli.StrategyFlags
}

func check(e *cli.Env, o *checkOptions) error {
	if len(o.files) == 0 {
		return cli.Usagef("need files to check: swcaffe check FILE...")
	}
	if o.weights != "" && o.snapshot != "" {
		return cli.Usagef("give a snapshot to resume training or weights to finetune, but not both")
	}
	phases, err := parsePhases(o.phase)
	if err != nil {
		return err
	}
	if o.reader != "" {
		if readerNamed(o.reader) == nil {
			return cli.Usagef("-check_for %s: must be %s", o.reader, strings.Join(readerNames(), ", "))
		}
		phases = []caffepb.Phase{caffepb.Phase_TEST}
	}
	most, err := parseItems(o.items)
	if err != nil {
		return err
	}
	spec, err := o.device.Spec(e)
	if err != nil {
		return err
	}
	machine, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		return err
	}
	defer machine.Close()
	report, found := checkReport{OK: true}, []error(nil)
	for _, path := range o.files {
		c := &checker{o: o, phases: phases, machine: machine, most: most, stderr: e.Stderr, seen: map[string]bool{}, report: checkedFile{File: path, Nets: []checkedNet{}, Warnings: []string{}}}
		err := c.file(path)
		c.report.Faults, c.report.OK = faults(err), err == nil
		c.report.print(e.Tables)
		report.Files = append(report.Files, c.report)
		report.OK = report.OK && err == nil
		found = append(found, err)
	}
	return errors.Join(append(found, e.WriteJSON(o.json, report))...)
}

// checker checks one file.
type checker struct {
	o       *checkOptions
	phases  []caffepb.Phase
	machine *cpe.Machine
	most    int // items to read of each data layer; -1: all
	stderr  io.Writer
	seen    map[string]bool // data layers whose items were read
	report  checkedFile
}

// Levels and Fire collect the warnings of the log.
func (c *checker) Levels() []logrus.Level { return []logrus.Level{logrus.WarnLevel} }

func (c *checker) Fire(entry *logrus.Entry) error {
	if !slices.Contains(c.report.Warnings, entry.Message) {
		c.report.Warnings = append(c.report.Warnings, entry.Message)
	}
	return nil
}

func (c *checker) file(path string) error {
	log := layers.NoLog()
	log.SetLevel(logrus.WarnLevel)
	log.AddHook(c)
	isSolver, err := swproto.IsSolver(path)
	if err != nil {
		return err
	}
	if isSolver {
		c.report.Kind = "solver"
		if c.o.reader != "" {
			return fmt.Errorf("%s: -check_for %s is for the net that is deployed, and this is a solver", path, c.o.reader)
		}
		return c.solver(path, log)
	}
	c.report.Kind = "net"
	return c.net(path, log)
}

// solver makes a solver as train does.
func (c *checker) solver(path string, log *logrus.Logger) error {
	file, err := solver.Read(path, solver.Start{State: c.o.state.Asked(), Weights: c.o.weights, Snapshot: c.o.snapshot})
	if err != nil {
		return err
	}
	for _, w := range slices.Concat(file.Warnings, solver.Doubts(file.Param)) {
		log.Warn(w)
	}
	if c.o.phase != "ALL" {
		log.Warnf("-phase has no effect: it is for nets, and the nets of a solver have their phases")
	}
	force, _, err := c.o.strategies.Read(&cli.Env{Log: log}, c.o.device.Engine, c.machine.Spec())
	if err != nil {
		return err
	}
	s, err := solver.New(file, solver.Options{Engine: c.o.device.Engine, Machine: c.machine, Log: log, Force: force})
	if err != nil {
		return err
	}
	defer s.Close()
	found := c.add(s.Net(), caffepb.Phase_TRAIN, log)
	for i, n := range s.TestNets() {
		found = errors.Join(found, c.add(n, caffepb.Phase_TEST, log))
		repeated, err := evaluate.Repetitions(n, int(file.Param.TestIter[i]), true)
		if err != nil {
			return err
		}
		for _, r := range repeated {
			log.Warn(r.Text("test_iter"))
		}
	}
	if c.o.snapshot != "" {
		if err := s.Restore(c.o.snapshot); err != nil {
			return err
		}
	}
	return errors.Join(found, s.CheckTargets(), c.o.strategies.Check(log, s.Net()))
}

// add adds a net to the report, and returns the faults of its data.
func (c *checker) add(n *swnet.Net, phase caffepb.Phase, log *logrus.Logger) error {
	weights := 0
	for _, w := range n.Learnable() {
		weights += w.Blob.Count()
	}
	items, err := c.items(n, log)
	c.report.Nets = append(c.report.Nets, checkedNet{n.Name(), phase.String(), n.NumLayers(), weights, items})
	return err
}
