package train

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"google.golang.org/protobuf/proto"
)

// LRFind declares lr_find.
var LRFind = cli.Command{
	Name:     "lr_find",
	Synopsis: "find a learning rate by a sweep",
	Args:     "-solver FILE [-weights FILES] [-out FILE.svg|FILE.png] [-csv FILE] [-json FILE]",
	Example:  "swcaffe lr_find -solver models/lenet/solver.prototxt -out rates.svg",
	Help: `Trains with a rate that grows from -from to -to, by the same factor in every iteration (Smith 2017, "Cyclical learning rates"), and
suggests a base_lr: the rate at which the smoothed loss falls fastest. It stops once the loss is four times its lowest value. The sweep
has the solver's net, type, momentum and weight decay, but no tests, no warm-up and no snapshots. It changes no file but those of -out,
-csv and -json. A suggestion depends on the order of the data and on -iterations; look at the curve.`,
	Do: cli.With(lrFindFlags, lrFind),
}

func lrFindFlags(fs *flag.FlagSet, o *lrFindOptions) {
	cli.StringVar(fs, &o.solver, "solver", "", "the solver definition `FILE` (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "pretrained weights to start from: .caffemodel `FILES`, separated by commas", cli.Weights)
	fs.Float64Var(&o.from, "from", 1e-6, "the first learning rate")
	fs.Float64Var(&o.to, "to", 10, "the last learning rate")
	fs.IntVar(&o.iterations, "iterations", 100, "the number of iterations")
	cli.OutputVar(fs, &o.out, "out", "plot loss over rate to a `FILE`: .png or .svg")
	cli.OutputVar(fs, &o.csv, "csv", "write the table to `FILE`, separated by commas")
	cli.OutputVar(fs, &o.json, "json", "write table and suggestion to `FILE`")
	o.device.Register(fs)
	o.state.Register(fs)
}

type lrFindOptions struct {
	solver, weights string
	from, to        float64
	iterations      int
	out, csv, json  string
	device          cli.DeviceFlags
	state           cli.StateFlags
}

// fewestRates is the number of iterations below which a curve says nothing.
const fewestRates = 10

func (o *lrFindOptions) check() error {
	switch {
	case o.solver == "":
		return cli.Usagef("need a solver definition: -solver FILE")
	case !(o.from > 0) || !(o.to > o.from) || math.IsInf(o.to, 0):
		return cli.Usagef("-from %g -to %g: the rates must be positive and grow", o.from, o.to)
	case o.iterations < fewestRates || o.iterations > math.MaxInt32:
		return cli.Usagef("-iterations %d: at least %d are needed", o.iterations, fewestRates)
	case o.out != "":
		if _, err := figure.Format(o.out); err != nil {
			return cli.Usagef("-out: %w", err)
		}
	}
	return nil
}

func lrFind(e *cli.Env, o *lrFindOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	o.device.Subject = "solver"
	file, err := solver.Read(o.solver, solver.Start{State: o.state.Asked(), Weights: o.weights})
	if err != nil {
		return err
	}
	for _, w := range file.Warnings {
		e.Log.Warn(w)
	}
	o.grow(file.Param)
	s, err := o.sweep(e, file)
	if err != nil {
		return err
	}
	return o.write(e, s)
}

// grow changes a solver to one whose rate grows and that only trains.
func (o *lrFindOptions) grow(p *caffepb.SolverParameter) {
	p.LrPolicy, p.BaseLr = proto.String("exp"), proto.Float32(float32(o.from))
	p.Gamma = proto.Float32(float32(math.Pow(o.to/o.from, 1/float64(o.iterations-1))))
	p.WarmupIter, p.WarmupStartLr = nil, nil
	p.MaxIter, p.Display = proto.Int32(int32(o.iterations)), nil
	p.TestIter, p.TestInterval, p.TestNet, p.TestNetParam, p.TestState = nil, nil, nil, nil, nil
	p.Snapshot, p.SnapshotAfterTrain, p.SnapshotBest, p.StopAfter = nil, proto.Bool(false), nil, nil
}

// sweep trains until the last rate, or until the loss diverges.
func (o *lrFindOptions) sweep(e *cli.Env, file *swproto.Solver) (*sweep, error) {
	machine, err := o.device.NewMachine(e)
	if err != nil {
		return nil, err
	}
	defer machine.Close()
	var (
		s        sweep
		v        *solver.Solver
		diverged bool
	)
	log := logrus.New()
	log.SetOutput(e.Log.Out)
	log.SetFormatter(e.Log.Formatter)
	log.SetLevel(logrus.WarnLevel)
	opt := solver.Options{Engine: o.device.Engine, Machine: machine, Log: log, Seed: o.device.SeedOrTime(), Progress: e.Pulse.Solving}
	opt.OnUpdated = func() { diverged = s.add(v.LastRate(), v.LastLoss()) }
	opt.Action = func() solver.Action {
		if diverged {
			return solver.Stop
		}
		return solver.None
	}
	if v, err = solver.New(file, opt); err != nil {
		return nil, err
	}
	defer v.Close()
	log.SetLevel(logrus.ErrorLevel) // the loss at the end, which diverges, is no warning
	e.Log.Infof("Sweeping the learning rate from %g to %g in %d iterations", o.from, o.to, o.iterations)
	for !diverged && v.Iter() < o.iterations {
		if err := v.Step(1); err != nil {
			return nil, err
		}
	}
	if diverged {
		e.Log.Infof("The loss diverges at the rate %.2g, iteration %d", v.LastRate(), v.Iter()-1)
	}
	if len(s.losses) == 0 {
		return nil, fmt.Errorf("%s: the loss of the first iteration, at the rate %g, is %g: begin with a lower -from", o.solver, o.from, v.LastLoss())
	}
	return &s, nil
}

// rateJSON is the report of -json.
type rateJSON struct {
	Solver     string      `json:"solver"`
	Suggested  float64     `json:"suggested_rate,omitempty"`
	LowestLoss float64     `json:"lowest_smoothed_loss"`
	LowestRate float64     `json:"rate_of_lowest_loss"`
	Points     []pointJSON `json:"points"`
}

type pointJSON struct {
	Rate     float64 `json:"rate"`
	Loss     float64 `json:"loss"`
	Smoothed float64 `json:"smoothed_loss"`
}

// write prints the suggestion and writes the files.
func (o *lrFindOptions) write(e *cli.Env, s *sweep) error {
	at, ok := s.steepest()
	best := s.best()
	report := rateJSON{Solver: o.solver, LowestLoss: s.smoothed[best], LowestRate: s.rates[best]}
	for i := range s.rates {
		report.Points = append(report.Points, pointJSON{s.rates[i], s.losses[i], s.smoothed[i]})
	}
	if o.csv != "" {
		if err := e.CreateFile(o.csv, func(w io.Writer) error { return s.writeCSV(w) }); err != nil {
			return err
		}
	}
	if ok {
		report.Suggested = s.rates[at]
	}
	if err := e.WriteJSON(o.json, &report); err != nil {
		return err
	}
	if o.out != "" {
		picture, err := s.picture(o.out, at, ok)
		if err != nil {
			return err
		}
		if err := e.WriteFile(o.out, picture); err != nil {
			return err
		}
	}
	if !ok {
		fmt.Fprintf(e.Tables, "No rate suggested: the loss falls at none of the rates %.2g to %.2g; try other ones, or more -iterations\n", s.rates[0], s.rates[len(s.rates)-1])
		return nil
	}
	fmt.Fprintf(e.Tables, "Suggested base_lr: %.2g (the loss falls fastest there; it is lowest, %.4g, at %.2g)\n", s.rates[at], s.smoothed[best], s.rates[best])
	return nil
}

// writeCSV writes a line for every iteration.
func (s *sweep) writeCSV(w io.Writer) error {
	table := csv.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	lines := [][]string{{"rate", "loss", "smoothed_loss"}}
	for i := range s.rates {
		lines = append(lines, []string{number(s.rates[i]), number(s.losses[i]), number(s.smoothed[i])})
	}
	return table.WriteAll(lines)
}

// picture plots the losses over the logarithm of the rate, with a vertical line at the suggested one.
func (s *sweep) picture(path string, at int, suggested bool) ([]byte, error) {
	format, err := figure.Format(path)
	if err != nil {
		return nil, err
	}
	p := figure.New("", "learning rate", "loss")
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(figure.LogTicks)
	p.Legend.Top, p.Legend.Left = true, true
	curve := func(name string, x, y []float64, style draw.LineStyle) error {
		points := make(plotter.XYs, len(x))
		for i := range x {
			points[i] = plotter.XY{X: x[i], Y: y[i]}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.LineStyle = style
		p.Add(line)
		p.Legend.Add(name, line)
		return nil
	}
	if err := curve("loss", s.rates, s.losses, draw.LineStyle{Color: figure.Palette[5], Width: vg.Points(0.7)}); err != nil {
		return nil, err
	}
	if err := curve("smoothed", s.rates, s.smoothed, draw.LineStyle{Color: figure.Palette[0], Width: vg.Points(1.5)}); err != nil {
		return nil, err
	}
	if top := s.top(); top > p.Y.Min {
		p.Y.Max = min(p.Y.Max, top)
	}
	if suggested {
		r := s.rates[at]
		dashed := draw.LineStyle{Color: figure.Palette[1], Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
		if err := curve(fmt.Sprintf("suggested: %.2g", r), []float64{r, r}, []float64{p.Y.Min, p.Y.Max}, dashed); err != nil {
			return nil, err
		}
	}
	if len(s.rates) == 1 {
		p.X.Min, p.X.Max = s.rates[0]/10, s.rates[0]*10
	}
	return figure.Render(format, 900, 420, func(c draw.Canvas) {
		figure.Draw(p, draw.Crop(c, vg.Points(6), -vg.Points(12), vg.Points(4), -vg.Points(8)))
	})
}
