package logs

import (
	"fmt"
	"image/color"
	"math"

	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
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
	falling, limit, row := 0.0, p.limit(), 0
	sign := func(m mark, colour color.Color) {
		m.row, m.font = row%6, drawn.Legend.TextStyle
		m.font.Color, m.style.Color = colour, colour
		drawn.Add(m)
		row++
	}
	for i, c := range p.curves {
		colour := figure.Palette[p.colour(i)%len(figure.Palette)]
		drawn.X.Max = max(drawn.X.Max, c.end)
		lines, marks, err := c.lines(colour)
		if err != nil {
			return nil, fmt.Errorf("curve %q: %w", c.name, err)
		}
		for _, line := range lines {
			drawn.Add(line)
		}
		if marks != nil && len(c.x) <= 60 {
			drawn.Add(marks)
		}
		if len(lines) > 0 {
			drawn.Legend.Add(c.name, lines[0])
			falling += c.y[0] - c.y[len(c.y)-1]
		} else {
			drawn.Legend.Add(c.name)
		}
		for _, g := range c.gaps {
			sign(mark{x: g.x, words: g.words, shape: draw.CrossGlyph{}, style: draw.LineStyle{Width: vg.Points(0.7), Dashes: []vg.Length{vg.Points(2), vg.Points(2)}}}, colour)
		}
		if x, most, ok := c.beyond(limit); ok {
			sign(mark{x: x, words: "to " + caffelog.Figure(most), shape: draw.PyramidGlyph{}}, colour)
		}
	}
	if drawn.Y.Max > limit {
		drawn.Y.Max = limit
	}
	drawn.Legend.Top, drawn.Legend.Padding, drawn.Legend.XOffs, drawn.Legend.YOffs = falling >= 0, vg.Points(2), vg.Points(-6), vg.Points(-4)
	if falling < 0 {
		drawn.Legend.YOffs = vg.Points(4)
	}
	p.widen(drawn)
	return drawn, nil
}

// colour returns the number of a curve's colour: its log's, or its own if there is one log.
func (p *panel) colour(i int) int {
	if p.logs > 1 {
		return p.curves[i].log
	}
	return i
}

// lines returns the pieces of a curve, and its points.
func (c *curve) lines(colour color.Color) ([]*plotter.Line, *plotter.Scatter, error) {
	if len(c.x) == 0 {
		return nil, nil, nil
	}
	points := make(plotter.XYs, len(c.x))
	for k := range points {
		points[k] = plotter.XY{X: c.x[k], Y: c.y[k]}
	}
	var lines []*plotter.Line
	for k, from := range c.pieces {
		to := len(points)
		if k+1 < len(c.pieces) {
			to = c.pieces[k+1]
		}
		line, err := plotter.NewLine(points[from:to])
		if err != nil {
			return nil, nil, err
		}
		line.Color, line.Width = colour, vg.Points(1.4)
		if c.dashed {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
		}
		lines = append(lines, line)
	}
	marks, err := plotter.NewScatter(points)
	if err != nil {
		return nil, nil, err
	}
	marks.Color, marks.Shape, marks.Radius = colour, draw.CircleGlyph{}, vg.Points(1.8)
	return lines, marks, nil
}

// widen sets a range for a panel whose values are all equal.
func (p *panel) widen(drawn *plot.Plot) {
	if drawn.X.Max <= drawn.X.Min {
		drawn.X.Max = drawn.X.Min + 1
	}
	if math.IsInf(drawn.Y.Min, 0) {
		drawn.Y.Min, drawn.Y.Max = 0.1, 1 // no value is finite
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
