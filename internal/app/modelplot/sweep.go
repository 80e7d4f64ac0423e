// Package modelplot draws the results of machine models: Sweep draws sweeps over a machine's parameters, Roofline a roofline, and
// Mesh heat maps of a mesh.
package modelplot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sweepWidth and sweepHeight are the size of a sweep in pixels.
const sweepWidth, sweepHeight = 900, 520

// dashes distinguish curves of the same colour.
var dashes = [...][]vg.Length{nil, {vg.Points(5), vg.Points(2.5)}, {vg.Points(1.5), vg.Points(2)}}

// maxCurves is the number of distinguishable curves.
const maxCurves = len(figure.Palette) * len(dashes)

// CanSweep returns an error for a sweep that cannot be drawn.
func CanSweep(s *modeltime.Sweep) error {
	if n := len(s.Points) / len(s.Axes[0].Values); n > maxCurves {
		return fmt.Errorf("%d curves, for every combination of %s, cannot be told apart: at most %d", n, strings.Join(s.Parameters[1:], " and "), maxCurves)
	}
	return nil
}

// Sweep draws images per second over the first parameter: a curve for every combination of the others, and a marker for the
// unchanged machine.
func Sweep(s *modeltime.Sweep, format string) ([]byte, error) {
	p := figure.New(fmt.Sprintf("%s on variants of %s, batch %d", s.Model, s.Machine, s.Batch), axisLabel(s.Axes[0]), "images a second (modelled)")
	if err := addCurves(p, s); err != nil {
		return nil, err
	}
	base := plotter.XYs{{X: s.Base.Values[0], Y: s.Base.Total.Images}}
	mark, err := plotter.NewScatter(base)
	if err != nil {
		return nil, err
	}
	mark.Shape, mark.Radius, mark.Color = draw.RingGlyph{}, vg.Points(5), figure.Palette[len(figure.Palette)-1]
	p.Add(mark)
	p.Legend.Add("as described", mark)
	scaleX(p, append(slices.Clone(s.Axes[0].Values), s.Base.Values[0]))
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.06
	legend := p.Legend
	p.Legend = plot.NewLegend()
	return figure.Render(format, sweepWidth, sweepHeight, func(c draw.Canvas) { beside(c, p, legend) })
}

// beside draws a plot with its legend to its right, outside the plot.
func beside(c draw.Canvas, p *plot.Plot, legend plot.Legend) {
	const margin vg.Length = 10 // in points
	legend.Top, legend.Padding = true, vg.Points(3)
	legend.ThumbnailWidth = vg.Points(24)
	width := legend.Rectangle(c).Size().X + margin
	figure.Draw(p, draw.Crop(c, margin, -width-margin, margin, -margin))
	legend.Draw(draw.Crop(c, c.Size().X-width, -margin, margin, -4*margin))
}

func axisLabel(a modeltime.Axis) string {
	if a.Parameter.Unit == "" {
		return a.Parameter.Name
	}
	return fmt.Sprintf("%s (%s)", a.Parameter.Name, a.Parameter.Unit)
}

// addCurves draws a curve for each combination of the axes after the first. Points where the net cannot run are left out.
func addCurves(p *plot.Plot, s *modeltime.Sweep) error {
	curves := len(s.Points) / len(s.Axes[0].Values)
	drawn := 0
	for k := range curves {
		points, ranges := curveOf(s, k, curves)
		if len(points) == 0 {
			continue
		}
		if err := figure.AddBand(p, figure.Palette[k%len(figure.Palette)], points, ranges); err != nil {
			return err
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Width, line.Dashes = figure.Palette[k%len(figure.Palette)], vg.Points(1.4), dashes[k/len(figure.Palette)%len(dashes)]
		marks.Color, marks.Shape, marks.Radius = line.Color, draw.CircleGlyph{}, vg.Points(2.5)
		p.Add(line, marks)
		p.Legend.Add(curveName(s, s.Points[k].Values[1:]), line, marks)
		drawn++
	}
	if drawn == 0 {
		return errors.New("there is nothing to draw")
	}
	return nil
}

// curveOf returns the k-th of the curves, in order of the first parameter, and the ranges of its points, nil if they are not known.
func curveOf(s *modeltime.Sweep, k, curves int) (points plotter.XYs, ranges []figure.Span) {
	var list []*modeltime.Point
	for i := k; i < len(s.Points); i += curves {
		if q := &s.Points[i]; q.Error == "" {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b *modeltime.Point) int { return cmp.Compare(a.Values[0], b.Values[0]) })
	for _, q := range list {
		points = append(points, plotter.XY{X: q.Values[0], Y: q.Total.Images})
		if r := q.Total.ImagesRange; r.Known() {
			ranges = append(ranges, figure.Span{Low: r.Low, High: r.High})
		}
	}
	return points, ranges
}

// curveName lists the parameters of a curve.
func curveName(s *modeltime.Sweep, values []float64) string {
	if len(values) == 0 {
		return s.Machine
	}
	var parts []string
	for i, v := range values {
		parts = append(parts, s.Parameters[i+1]+" = "+figure.Number(v))
	}
	return strings.Join(parts, ", ")
}

// scaleX puts a tick at each value. The axis is logarithmic if the values span a wide range.
func scaleX(p *plot.Plot, values []float64) {
	slices.Sort(values)
	values = slices.Compact(values)
	low, high := values[0], values[len(values)-1]
	const wide = 6
	if high/low >= wide {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = low/1.1, high*1.1
	} else {
		by := max((high-low)*0.05, low*0.01)
		p.X.Min, p.X.Max = low-by, high+by
	}
	const few = 12
	if len(values) > few {
		return
	}
	var ticks []plot.Tick
	for _, v := range values {
		ticks = append(ticks, plot.Tick{Value: v, Label: figure.Number(v)})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
}
