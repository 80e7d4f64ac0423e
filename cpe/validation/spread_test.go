package validation_test

import (
	"fmt"
	"image/color"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/validation"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spreadComment is the head of trust's machines.csv.
const spreadComment = `Factors by which published times of a machine lie outside the times that are modelled with the published curves of its bandwidth; see the
package. sw26010: every publication counts the same, and a tenth lies outside. Kinds of passes are from swCaffe (arXiv 1903.06934v1), table II on
one core group and figures 8 and 9 on a node, from swDNN's runs of 2016, and the ReLUs of logs of 2017-10 and 2017-12, all with the kernels of 2018
or swDNN's; iterations from its table III of 2018 and from J. Fang's thesis, table 7.2, of 2019, with the kernels of their year. k40m, e5_2680v3:
iterations of the same table III, with our own plans, which nobody has built. sw26010:swcaffe-2017: all else in the logs, of programs whose kernels are
not known and those of 2018 stand in for.
Written by: go test ./cpe/validation -run TestSpread -rewrite`

// publication is one source's points in seconds, modelled with each of the published curves of bandwidth. Points have kinds of package trust.
type publication struct {
	name     string
	curves   []validation.Points
	modelled bool // the program is one of those that are modelled
}

// samples join a publication's points of a kind.
func (p *publication) samples(kind trust.Kind) []trust.Sample {
	bands := (&source{curves: p.curves}).ranges()
	var all []trust.Sample
	for _, q := range p.curves[0] {
		if q.Kind == string(kind) {
			all = append(all, trust.Sample{Least: bands[q.Name][0], Most: bands[q.Name][1], Published: q.Published})
		}
	}
	return all
}

// passKinds are the kinds of passes that were published.
var passKinds = []trust.Kind{trust.Implicit, trust.Explicit, trust.Product, trust.Pooling, trust.Stream, trust.MPE}

// spreadOf returns the spread of some publications; Any has the widest factors of all passes.
func spreadOf(from []publication) trust.Spread {
	s, fit := trust.Spread{}, trust.FitSources
	if !from[0].modelled {
		fit = trust.FitStandIn
	}
	for _, kind := range append([]trust.Kind{trust.Iteration}, passKinds...) {
		var sources [][]trust.Sample
		for _, p := range from {
			if list := p.samples(kind); len(list) > 0 {
				sources = append(sources, list)
			}
		}
		if len(sources) > 0 {
			s[kind] = fit(sources)
		}
	}
	passes := maps.Clone(s)
	delete(passes, trust.Iteration)
	s[trust.Any] = passes.Widest()
	return s
}

// sw26010Publications models all that was published of the SW26010's times, with each curve.
func sw26010Publications(t *testing.T) []publication {
	t.Helper()
	var all []publication
	add := func(curve int, name string, modelled bool, kind trust.Kind, points validation.Points) {
		at := slices.IndexFunc(all, func(p publication) bool { return p.name == name })
		if at < 0 {
			at = len(all)
			all = append(all, publication{name, make([]validation.Points, len(curves(t))), modelled})
		}
		for _, p := range points {
			k, label := p.Kind, p.Name
			if kind != "" {
				k, label = string(kind), string(kind)+" "+label
			}
			all[at].curves[curve].AddKind(k, label, p.Modelled, p.Published)
		}
	}
	for i, curve := range curves(t) {
		on := func(groups int, software string) cpe.Spec { return withCurve(t, sw26010(t, groups, software), curve) }
		table, _, _, _ := tableII(t, on(1, in2018))
		add(i, "swCaffe, table II", true, "", table)
		for _, net := range []struct {
			name  string
			batch int
		}{{"vgg16", 64}, {"alexnet_bn", 256}} {
			layers, _ := layerPoints(t, net.name, net.batch, on(4, in2018))
			add(i, "swCaffe, figures 8 and 9", true, "", layers)
		}
		add(i, "iterations, 2018", true, trust.Iteration, iterations(t, "2018", on(4, in2018)))
		add(i, "iterations, 2019", true, trust.Iteration, iterations(t, "2019", on(4, in2019)))
		add(i, "swDNN, runs of 2016", true, trust.Implicit, swDNNTimes(t, on(1, in2018)))
		logs := map[string]map[string]validation.Points{"log of 2017-10": logPoints(t, on(1, in2018)), "log of 2017-12": resnetPoints(t, on(1, in2018))}
		for _, name := range slices.Sorted(maps.Keys(logs)) {
			for _, layer := range slices.Sorted(maps.Keys(logs[name])) {
				if layer == "ReLU" {
					add(i, name+", ReLUs", true, trust.Stream, logs[name][layer])
				} else {
					add(i, name+", others", false, logKind(layer), logs[name][layer])
				}
			}
		}
	}
	return all
}

// logKind returns the kind of the passes of a log's layers.
func logKind(layer string) trust.Kind {
	switch layer {
	case "implicit":
		return trust.Implicit
	case "Convolution":
		return trust.Explicit
	case "InnerProduct":
		return trust.Product
	case "Pooling":
		return trust.Pooling
	case "Eltwise", "Scale", "Concat", "Dropout":
		return trust.Stream
	}
	return trust.Any
}

// ofProgram returns the publications whose program is modelled, or those that other kernels stand in for.
func ofProgram(all []publication, modelled bool) []publication {
	return slices.DeleteFunc(slices.Clone(all), func(p publication) bool { return p.modelled != modelled })
}

// TestSpread holds the factors by which package trust widens modelled times against the published times: it makes them anew.
func TestSpread(t *testing.T) {
	const file = "../../modeltime/trust/machines.csv"
	all := sw26010Publications(t)
	sw := spreadOf(ofProgram(all, true))
	spreads := map[string]trust.Spread{"sw26010": sw, "sw26010:" + in2017: spreadOf(ofProgram(all, false))}
	for name, column := range map[string]string{"k40m": "k40m", "e5_2680v3": "cpu"} {
		spec, err := cpe.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		var samples []trust.Sample
		for _, p := range netTimes(t, "batch_2018", column, spec) {
			samples = append(samples, trust.Sample{Least: p.Modelled, Most: p.Modelled, Published: p.Published})
		}
		f := trust.Fit(samples)
		spreads[name] = trust.Spread{trust.Iteration: f, trust.Any: f}
	}
	table := trust.Table(spreadComment, spreads)
	if *rewrite {
		if err := os.WriteFile(file, table, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := trust.Differ(spreads); d != "" {
		t.Errorf("%s is not of today's model: %s. Write it with -rewrite. It would be\n%s", file, d, table)
	}
	page, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, f := range sw {
		if row := fmt.Sprintf("| %d | %.3f | %.3f |\n", f.Points, f.Low, f.High); !strings.Contains(string(page), row) {
			t.Errorf("docs/machines.md lacks the row of %s: %s", kind, row)
		}
	}
}

// TestCoverage counts how many times of each publication lie in the ranges that the others give: at least four in five, both of those whose program is
// modelled and of those that other kernels stand in for. docs/machines.md has the table and the plot; -rewrite draws the plot.
func TestCoverage(t *testing.T) {
	all := sw26010Publications(t)
	page, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	covered, ends := map[bool][2]int{}, map[bool][]float64{}
	var bars []coverageBar
	for i, p := range all {
		spread, n, in := spreadOf(ofProgram(slices.Delete(slices.Clone(all), i, i+1), p.modelled)), 0, 0
		for _, kind := range append([]trust.Kind{trust.Iteration, trust.Any}, passKinds...) {
			for _, s := range p.samples(kind) {
				r := spread.Range(kind, s.Least, s.Most)
				n++
				ends[p.modelled] = append(ends[p.modelled], r.High/r.Low)
				if 0.999*r.Low <= s.Published && s.Published <= 1.001*r.High {
					in++
				}
			}
		}
		c := covered[p.modelled]
		covered[p.modelled] = [2]int{c[0] + in, c[1] + n}
		bars = append(bars, coverageBar{p.name, float64(in) / float64(n), p.modelled})
		if row := fmt.Sprintf("| %s | %d | %d | %.0f %% |", p.name, n, in, 100*float64(in)/float64(n)); !strings.Contains(string(page), row) {
			t.Errorf("docs/machines.md lacks the row\n%s", row)
		}
	}
	for of, c := range covered {
		share := float64(c[0]) / float64(c[1])
		if row := fmt.Sprintf("| %d | %d | %.0f %% |", c[1], c[0], 100*share); !strings.Contains(string(page), row) {
			t.Errorf("docs/machines.md lacks the row of all\n%s", row)
		}
		if share < 0.8 {
			t.Errorf("ranges hold %d of %d times, of programs that are modelled: %v", c[0], c[1], of)
		}
		slices.Sort(ends[of])
		t.Logf("modelled %v: %d of %d times in ranges, whose ends are a factor of %.1f apart in the median", of, c[0], c[1], ends[of][len(ends[of])/2])
	}
	drawn, err := coveragePlot(bars)
	if err != nil {
		t.Fatal(err)
	}
	holdPicture(t, "../../docs/coverage.svg", drawn)
}

// coverageBar is the share of a publication's times that lie in the ranges that the others give.
type coverageBar struct {
	name     string
	share    float64
	modelled bool
}

// coveragePlot draws a bar for each publication, and the share that is aimed at.
func coveragePlot(bars []coverageBar) ([]byte, error) {
	p := figure.New("Published times of the SW26010 in the ranges that the other publications give", "", "share")
	var names []string
	for i, b := range bars {
		bar, err := plotter.NewBarChart(plotter.Values{b.share}, vg.Points(24))
		if err != nil {
			return nil, err
		}
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(i), figure.Palette[0], 0
		if !b.modelled {
			bar.Color = color.Gray{Y: 170}
		}
		p.Add(bar)
		names = append(names, strings.NewReplacer(", ", ",\n", "log of ", "log\n").Replace(b.name))
	}
	if err := addLine(p, color.Gray{Y: 90}, []vg.Length{vg.Points(4), vg.Points(3)}, plotter.XYs{{X: -0.5, Y: 0.8}, {X: float64(len(bars)) - 0.5, Y: 0.8}}); err != nil {
		return nil, err
	}
	p.NominalX(names...)
	p.Y.Min, p.Y.Max = 0, 1
	return figure.Render("svg", 900, 420, func(c draw.Canvas) { figure.Draw(p, c) })
}
