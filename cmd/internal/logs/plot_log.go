package logs

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
)

// PlotLog is the command plot_log.
var PlotLog = cli.Command{
	Name:     "plot_log",
	Synopsis: "plot the logs of training runs",
	Args:     "CHART OUTPUT.png|OUTPUT.svg LOGFILE...",
	Example:  "swcaffe plot_log all train.png train.log",
	Words:    []string{"chart", "out", "log..."},
	Help: `Plots the values in logs of "swcaffe train" or "caffe train", or in files of train's -log_json, a curve for each log, which has one
colour in all panels. A cross marks where a value became NaN or infinite, a triangle where a log that diverges leaves the range of the others. CHART is one of the numbers of Caffe's
plot_training_log.py, or a list of panels, separated by commas: loss, accuracy, lr, or the name of an output of the net. "all" means
loss,accuracy,lr, without panels for which the logs have no values. A LOGFILE may be - for standard input.
Each test net has a curve of its own. Of a log to which resumed runs have been appended, curves over iterations show what was computed last.

  0  test accuracy by iterations       4  train learning rate by iterations
  1  test accuracy by seconds          5  train learning rate by seconds
  2  test loss by iterations           6  train loss by iterations
  3  test loss by seconds              7  train loss by seconds`,
	Do: cli.With(plotFlags, plotLog),
}

func plotFlags(fs *flag.FlagSet, o *plotOptions) {
	fs.StringVar(&o.chart, "chart", "all", "`WHAT` to plot: 0 to 7, or a list of panels")
	cli.OutputVar(fs, &o.out, "out", "the `FILE` to write: .png or .svg")
	cli.AppendVar(fs, &o.logs, "log", "a log `FILE`; may be given several times", cli.AnyFile)
	cli.StringVar(fs, &o.x, "x", "iterations", "what lists of panels are plotted against: iterations or seconds", cli.OneOf("iterations", "seconds"))
	fs.BoolVar(&o.logLoss, "log_loss", false, "a logarithmic axis for losses")
	fs.IntVar(&o.width, "width", 900, "the width in pixels")
	fs.IntVar(&o.height, "height", 360, "the height of a panel in pixels")
}

type plotOptions struct {
	chart, out, x string
	logs          []string
	logLoss       bool
	width, height int
}

// maxPlotPixels limits a plot's width and a panel's height.
const maxPlotPixels = 10000

func plotLog(e *cli.Env, o *plotOptions) error {
	switch {
	case o.out == "" || len(o.logs) == 0:
		return cli.Usagef("need a chart, a file to write and a log: swcaffe plot_log CHART OUTPUT.png LOGFILE [LOGFILE...]")
	case o.x != "iterations" && o.x != "seconds":
		return cli.Usagef("-x %q: must be iterations or seconds", o.x)
	case min(o.width, o.height) < 100 || max(o.width, o.height) > maxPlotPixels:
		return cli.Usagef("-width %d -height %d: must be 100 to %d pixels", o.width, o.height, maxPlotPixels)
	}
	format, err := figure.Format(o.out)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	var logs []namedLog
	for _, path := range o.logs {
		l, name, err := readTrainingLog(path)
		if err != nil {
			return err
		}
		logs = append(logs, namedLog{strings.TrimSuffix(name, filepath.Ext(name)), l})
	}
	charts, err := parseCharts(o)
	if err != nil {
		return err
	}
	panels, err := makePanels(charts, logs, o.chart == "all")
	if err != nil {
		return err
	}
	picture, err := drawPanels(panels, format, o.width, o.height)
	if err != nil {
		return err
	}
	return e.WriteFile(o.out, picture)
}

type namedLog struct {
	name string
	*trainingLog
}

// chart says which values a panel shows, over which axis.
type chart struct {
	what        string // loss, accuracy, lr, or the name of an output
	phase       string // Train, Test, or "" for both
	seconds     bool   // the x axis is seconds, not iterations
	logarithmic bool
}

// parseCharts parses the CHART argument.
func parseCharts(o *plotOptions) ([]chart, error) {
	if n, err := strconv.Atoi(o.chart); err == nil {
		if n < 0 || n > 7 {
			return nil, cli.Usagef("chart %d: Caffe's charts are 0 to 7", n)
		}
		c := [4]chart{{what: "accuracy", phase: "Test"}, {what: "loss", phase: "Test"}, {what: "lr"}, {what: "loss", phase: "Train"}}[n/2]
		c.seconds, c.logarithmic = n%2 == 1, o.logLoss && c.what == "loss"
		return []chart{c}, nil
	}
	list := o.chart
	if list == "all" {
		list = "loss,accuracy,lr"
	}
	var charts []chart
	for what := range strings.SplitSeq(list, ",") {
		charts = append(charts, chart{what: what, seconds: o.x == "seconds", logarithmic: o.logLoss && what == "loss"})
	}
	return charts, nil
}

// panel is a chart with its curves.
type panel struct {
	chart
	logs   int
	curves []curve
}

// curve is a line with its name in the legend.
type curve struct {
	name   string
	log    int       // the number of its log
	x, y   []float64 // finite values
	pieces []int     // where in them the lines begin that gaps have between them
	gaps   []gap
	end    float64 // x of the last value, finite or not
	dashed bool    // for the train net, in a panel that shows a test net too
}

// makePanels collects the curves. A panel without curves is an error or, with leaveOut, omitted.
func makePanels(charts []chart, logs []namedLog, leaveOut bool) ([]panel, error) {
	var panels []panel
	for _, c := range charts {
		p := panel{chart: c, logs: len(logs)}
		for k, l := range logs {
			prefix := ""
			if len(logs) > 1 {
				prefix = l.name + ": "
			}
			for _, curve := range l.curves(c) {
				curve.name, curve.log = prefix+curve.name, k
				p.curves = append(p.curves, curve)
			}
		}
		if len(p.curves) > 0 {
			panels = append(panels, p)
		} else if !leaveOut {
			return nil, fmt.Errorf("chart %q: the logs have no values for it (they have lr, loss and these outputs: %s)", c.title(), outputNames(logs))
		}
	}
	if len(panels) == 0 {
		return nil, errors.New("the logs have no values to plot: no losses, outputs or learning rates")
	}
	return panels, nil
}

func outputNames(logs []namedLog) string {
	var names []string
	for _, l := range logs {
		names = append(names, l.train.names...)
		names = append(names, l.test.names...)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func (c chart) title() string { return strings.TrimSpace(strings.ToLower(c.phase) + " " + c.what) }

// curves returns the curves of a log for a chart.
func (l *trainingLog) curves(c chart) []curve {
	var list []curve
	add := func(name string, dashed bool, points []logPoint) {
		line, broken := curve{name: name, dashed: dashed}, true
		if !c.seconds {
			points = withoutReplaced(points)
		}
		for _, p := range points {
			x := float64(p.iteration)
			if c.seconds {
				x = p.seconds
			}
			line.end = max(line.end, x)
			if p.value-p.value != 0 {
				if !broken || len(line.x)+len(line.gaps) == 0 {
					line.gaps = append(line.gaps, newGap(x, p))
				}
				broken = true
				continue
			}
			if c.logarithmic && p.value <= 0 {
				continue
			}
			if broken {
				line.pieces, broken = append(line.pieces, len(line.x)), false
			}
			line.x, line.y = append(line.x, x), append(line.y, p.value)
		}
		if len(line.x)+len(line.gaps) > 0 {
			list = append(list, line)
		}
	}
	if c.what == "lr" {
		add("lr", false, l.rates)
		return list
	}
	if c.what == "loss" && c.phase != "Test" {
		add("train loss", true, l.losses)
	}
	for _, side := range []struct {
		phase string
		table *outputTable
	}{{"Train", &l.train}, {"Test", &l.test}} {
		if c.phase != "" && c.phase != side.phase {
			continue
		}
		for _, name := range side.table.names {
			if !side.table.shows(c.what, name, side.phase) {
				continue
			}
			nets := side.table.points(name)
			for _, net := range slices.Sorted(maps.Keys(nets)) {
				title := strings.ToLower(side.phase) + " " + name
				if net > 0 {
					title += fmt.Sprintf(" (net #%d)", net)
				}
				add(title, side.phase == "Train", nets[net])
			}
		}
	}
	return list
}

// withoutReplaced leaves out the points that a resumed run, whose log follows in the same file, has computed again.
func withoutReplaced(points []logPoint) []logPoint {
	var kept []logPoint
	for _, p := range points {
		for len(kept) > 0 && kept[len(kept)-1].iteration >= p.iteration {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, p)
	}
	return kept
}

// shows reports whether an output belongs to a chart. Accuracies are recognised by their names. Losses are the outputs that count
// in the loss; of the train net they are shown only if there are several, because a single one equals the curve of the total
// loss.
func (t *outputTable) shows(what, name, phase string) bool {
	lower := strings.ToLower(name)
	switch what {
	case "loss":
		return t.losses[name] && (phase == "Test" || len(t.losses) > 1)
	case "accuracy":
		return !t.losses[name] && (strings.Contains(lower, "acc") || strings.Contains(lower, "top"))
	}
	return name == what
}

// points returns the values of an output, by the number of its test net.
func (t *outputTable) points(name string) map[int][]logPoint {
	nets := map[int][]logPoint{}
	for _, row := range t.rows {
		if v, ok := row.values[name]; ok {
			nets[row.net] = append(nets[row.net], logPoint{row.iteration, row.seconds, v})
		}
	}
	return nets
}
