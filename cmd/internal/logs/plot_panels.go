package logs

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/figure"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawPanels draws panels below each other, each of width x height pixels.
func drawPanels(panels []panel, format string, width, height int) ([]byte, error) {
	var plots [][]*plot.Plot
	for _, p := range panels {
		drawn, err := p.plot()
		if err != nil {
			return nil, err
		}
		plots = append(plots, []*plot.Plot{drawn})
	}
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadX: vg.Points(8), PadY: vg.Points(8), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(14)}
	return figure.Render(format, width, height*len(panels), func(c draw.Canvas) {
		places := plot.Align(plots, tiles, c)
		for i := range plots {
			plots[i][0].Draw(places[i][0])
		}
	})
}

// plot draws a panel: a grid, the curves, with markers if they have few points, and a legend beside the curves' ends.
func (p *panel) plot() (*plot.Plot, error) {
	drawn := figure.New("", "iterations", p.what)
	if p.seconds {
		drawn.X.Label.Text = "seconds"
	}
	if p.what == "lr" {
		drawn.Y.Label.Text = "learning rate"
	}
	drawn.X.Min = 0
	if p.logarithmic {
		drawn.Y.Scale, drawn.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	falling := 0.0
	for i, c := range p.curves {
		points := make(plotter.XYs, len(c.x))
		for k := range points {
			points[k] = plotter.XY{X: c.x[k], Y: c.y[k]}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("curve %q: %w", c.name, err)
		}
		line.Color, line.Width = figure.Palette[i%len(figure.Palette)], vg.Points(1.4)
		if c.dashed {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
		}
		marks.Color, marks.Shape, marks.Radius = line.Color, draw.CircleGlyph{}, vg.Points(1.8)
		drawn.Add(line)
		if len(points) <= 60 {
			drawn.Add(marks)
		}
		drawn.Legend.Add(c.name, line)
		falling += points[0].Y - points[len(points)-1].Y
	}
	drawn.Legend.Top, drawn.Legend.Padding, drawn.Legend.XOffs, drawn.Legend.YOffs = falling >= 0, vg.Points(2), vg.Points(-6), vg.Points(-4)
	if falling < 0 {
		drawn.Legend.YOffs = vg.Points(4)
	}
	p.widen(drawn)
	return drawn, nil
}

// widen sets a range for a panel whose values are all equal.
func (p *panel) widen(drawn *plot.Plot) {
	if drawn.X.Max <= drawn.X.Min {
		drawn.X.Max = drawn.X.Min + 1
	}
	if drawn.Y.Max > drawn.Y.Min {
		return
	}
	if p.logarithmic {
		drawn.Y.Min, drawn.Y.Max = drawn.Y.Min/2, drawn.Y.Max*2
		return
	}
	by := math.Max(math.Abs(drawn.Y.Max)/10, 1e-6)
	drawn.Y.Min, drawn.Y.Max = drawn.Y.Min-by, drawn.Y.Max+by
}
