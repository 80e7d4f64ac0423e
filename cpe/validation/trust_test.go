package validation_test

import (
	"flag"
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
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var rewrite = flag.Bool("rewrite", false, "draw docs/published_modelled.svg again")

// source is one publication's points in seconds, modelled with each of the published curves of bandwidth.
type source struct {
	name   string
	curves []validation.Points
}

// trustSources models every published time with each curve, the machine's own first.
func trustSources(t *testing.T) []source {
	t.Helper()
	var all []source
	add := func(curve int, name string, points validation.Points) {
		for i := range all {
			if all[i].name == name {
				all[i].curves[curve] = points
				return
			}
		}
		s := source{name, make([]validation.Points, len(curves(t)))}
		s.curves[curve] = points
		all = append(all, s)
	}
	for i, curve := range curves(t) {
		on := func(groups int, software string) cpe.Spec { return withCurve(t, sw26010(t, groups, software), curve) }
		table, _, _, _ := tableII(t, on(1, in2018))
		add(i, "swCaffe, table II", table)
		vgg, _ := layerPoints(t, "vgg16", 64, on(4, in2018))
		alexnet, _ := layerPoints(t, "alexnet_bn", 256, on(4, in2018))
		add(i, "swCaffe, figures 8 and 9", scaled(append(alexnet, vgg...), 1e-3))
		add(i, "iterations, 2018", iterations(t, "2018", on(4, in2018)))
		add(i, "iterations, 2019", iterations(t, "2019", on(4, in2019)))
		add(i, "swDNN, runs of 2016", swDNNTimes(t, on(1, in2018)))
		of := logPoints(t, on(1, in2018))
		for kind, points := range resnetPoints(t, on(1, in2018)) {
			of[kind] = append(of[kind], points...)
		}
		add(i, "logs of 2017, ReLUs", of["ReLU"])
		delete(of, "ReLU")
		var others validation.Points
		for _, kind := range slices.Sorted(maps.Keys(of)) {
			others = append(others, of[kind]...)
		}
		add(i, "logs of 2017, others", others)
	}
	return all
}

// scaled multiplies both figures of all points.
func scaled(points validation.Points, by float64) validation.Points {
	var all validation.Points
	for _, p := range points {
		all.AddKind(p.Kind, p.Name, p.Modelled*by, p.Published*by)
	}
	return all
}

// iterations compares the seconds of whole iterations of a year.
func iterations(t *testing.T, year string, spec cpe.Spec) validation.Points {
	t.Helper()
	return netTimes(t, "batch_"+year, "sw26010_"+year, spec)
}

// netTimes compares the seconds of whole iterations with a column of nets.csv.
func netTimes(t *testing.T, batches, column string, spec cpe.Spec) validation.Points {
	t.Helper()
	var points validation.Points
	for _, row := range read(t, "nets.csv") {
		batch := row.Int(batches)
		r := modelled(t, row["net"], batch, spec)
		points.Add(row["net"], float64(batch)/r.Total.Images, float64(batch)/row.Float(column))
	}
	return points
}

// swDNNTimes compares the seconds of swDNN's runs, with the product before its instructions were reordered.
func swDNNTimes(t *testing.T, spec cpe.Spec) validation.Points {
	t.Helper()
	var points validation.Points
	for _, row := range read(t, "swdnn_runs.csv") {
		size, ni, no, batch := row.Int("size"), row.Int("ni"), row.Int("no"), row.Int("batch")
		giga := 2 * 9e-9 * float64(batch*no*ni*size*size)
		name := fmt.Sprintf("%dx%d, %d to %d, %d images", size, size, ni, no, batch)
		points.Add(name, giga/swDNNRun(&spec, unordered, size, ni, no, batch), giga/row.Float("gflops"))
	}
	return points
}

// TestTrustPlot holds the plot and the table of published and modelled times in docs/machines.md. -rewrite draws the plot again.
func TestTrustPlot(t *testing.T) {
	const file = "../../docs/published_modelled.svg"
	page, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := trustSources(t)
	for _, s := range sources {
		if len(s.curves[0]) == 0 {
			t.Errorf("%s has no points", s.name)
		}
		row := fmt.Sprintf("| %s | %d |", s.name, len(s.curves[0]))
		for _, points := range s.curves {
			row += fmt.Sprintf(" %.1f %% |", 100*points.MedianError())
		}
		row += fmt.Sprintf(" %+.0f %% |", 100*s.curves[0].Worst().Error())
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/machines.md lacks the row\n%s", row)
		}
	}
	drawn, err := trustPlot(sources)
	if err != nil {
		t.Fatal(err)
	}
	holdPicture(t, file, drawn)
}

// holdPicture compares a picture with the one in a file, or writes it with -rewrite.
func holdPicture(t *testing.T, file string, drawn []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, drawn, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(file)
	if err == nil {
		err = sameButRounding(kept, drawn)
	}
	if err != nil {
		t.Errorf("%s is not the plot of today's model (%v); draw it with -rewrite", file, err)
	}
}

// ranges returns the least and the largest modelled figure of every point, by its name.
func (s *source) ranges() map[string][2]float64 {
	ranges := map[string][2]float64{}
	for _, points := range s.curves {
		for _, q := range points {
			r, seen := ranges[q.Name]
			if !seen {
				r = [2]float64{q.Modelled, q.Modelled}
			}
			ranges[q.Name] = [2]float64{min(r[0], q.Modelled), max(r[1], q.Modelled)}
		}
	}
	return ranges
}

// trustPlot draws a marker for every point as the machine's own curve has it, and a line over the range of all curves.
func trustPlot(sources []source) ([]byte, error) {
	p := figure.New("SW26010: published and modelled times", "published, s", "modelled, s")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(figure.LogTicks), plot.TickerFunc(figure.LogTicks)
	low, high := 1e9, 0.0
	for k, s := range sources {
		var marks plotter.XYs
		colour := figure.Palette[k%len(figure.Palette)]
		ranges := s.ranges()
		for _, q := range s.curves[0] {
			marks = append(marks, plotter.XY{X: q.Published, Y: q.Modelled})
			r := ranges[q.Name]
			if err := addLine(p, colour, nil, plotter.XYs{{X: q.Published, Y: r[0]}, {X: q.Published, Y: r[1]}}); err != nil {
				return nil, err
			}
			low, high = min(low, q.Published, r[0]), max(high, q.Published, r[1])
		}
		scatter, err := plotter.NewScatter(marks)
		if err != nil {
			return nil, err
		}
		scatter.Color, scatter.Shape, scatter.Radius = colour, draw.CircleGlyph{}, vg.Points(2)
		p.Add(scatter)
		p.Legend.Add(s.name, scatter)
	}
	low, high = low/1.2, high*1.2
	for _, by := range []float64{1, 1.5, 1 / 1.5} {
		var dashes []vg.Length
		if by != 1 {
			dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		from, to := max(low, low/by), min(high, high/by)
		if err := addLine(p, color.Gray{Y: 90}, dashes, plotter.XYs{{X: from, Y: from * by}, {X: to, Y: to * by}}); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	return figure.Render("svg", 760, 720, func(c draw.Canvas) { figure.Draw(p, c) })
}

func addLine(p *plot.Plot, colour color.Color, dashes []vg.Length, points plotter.XYs) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = colour, vg.Points(0.8), dashes
	p.Add(line)
	return nil
}
