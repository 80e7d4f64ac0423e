package measure

import (
	"image/color"
	"math"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/scaling"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	scalePlotWidth  = 900
	scalePlotHeight = 420 // of one panel
)

// scalePanel shows one figure of every curve over the number of nodes.
type scalePanel struct {
	name        string
	figure      func(p *scaling.Figures) float64
	ideal       bool // logarithmic axes, and the line of the ideal speed-up
	legendBelow bool
}

// scalePanels are the panels of a plot from top to bottom.
var scalePanels = []scalePanel{
	{name: "speed-up", figure: func(p *scaling.Figures) float64 { return p.Speedup }, ideal: true},
	{name: "efficiency %", figure: func(p *scaling.Figures) float64 { return 100 * p.Efficiency }, legendBelow: true},
	{name: "communication share %", figure: func(p *scaling.Figures) float64 { return 100 * p.CommunicationShare }},
}

// plotScale draws speed-up beside the ideal one, efficiency, and communication share, as the papers do.
func plotScale(e *cli.Env, o *scaleOptions, curves []scaleCurve) error {
	format, err := figure.Format(o.plot)
	if err != nil {
		return err
	}
	var plots []*plot.Plot
	for _, p := range scalePanels {
		drawn, err := p.plot(o.nodes, curves)
		if err != nil {
			return err
		}
		plots = append(plots, drawn)
	}
	picture, err := figure.Render(format, scalePlotWidth, scalePlotHeight*len(plots), func(c draw.Canvas) {
		tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadY: vg.Points(10), PadTop: vg.Points(8), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(16)}
		for i, p := range plots {
			figure.Draw(p, tiles.At(c, 0, i))
		}
	})
	if err != nil {
		return err
	}
	return e.WriteFile(o.plot, picture)
}

// plot draws a panel.
func (s *scalePanel) plot(nodes []int, curves []scaleCurve) (*plot.Plot, error) {
	p := figure.New("", "nodes", s.name)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(doublings)
	p.Y.Min = 0
	if s.ideal {
		p.Y.Scale, p.Y.Tick.Marker, p.Y.Min = plot.LogScale{}, plot.TickerFunc(doublings), math.Inf(1)
	}
	for i := range curves {
		points := make(plotter.XYs, len(curves[i].rows))
		var ranges []figure.Span
		for k := range points {
			row := &curves[i].rows[k]
			points[k] = plotter.XY{X: float64(row.Nodes), Y: s.figure(&row.Figures)}
			if r := row.Range; r != nil {
				ranges = append(ranges, figure.Span{Low: s.figure(&r.Low), High: s.figure(&r.High)})
			}
		}
		if err := figure.AddBand(p, figure.Palette[i%len(figure.Palette)], points, ranges); err != nil {
			return nil, err
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = figure.Palette[i%len(figure.Palette)], vg.Points(1.4)
		if i >= len(figure.Palette) {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
		}
		marks.Color, marks.Shape, marks.Radius = line.Color, draw.CircleGlyph{}, vg.Points(1.8)
		p.Add(line, marks)
		p.Legend.Add(curves[i].name, line)
	}
	if s.ideal {
		if err := addIdeal(p, nodes); err != nil {
			return nil, err
		}
	}
	p.X.Max = max(p.X.Max, p.X.Min*2)
	p.Y.Max = max(p.Y.Max*1.02, 2*p.Y.Min, 1)
	p.Legend.Left, p.Legend.Top, p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = true, !s.legendBelow, vg.Points(2), vg.Points(6), vg.Points(-4)
	if s.legendBelow {
		p.Legend.YOffs = vg.Points(4)
	}
	return p, nil
}

// addIdeal draws the line speed-up = number of nodes.
func addIdeal(p *plot.Plot, nodes []int) error {
	var points plotter.XYs
	for _, n := range nodes {
		points = append(points, plotter.XY{X: float64(n), Y: float64(n)})
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Dashes = color.Gray{120}, []vg.Length{vg.Points(4), vg.Points(2)}
	p.Add(line)
	p.Legend.Add("ideal", line)
	return nil
}

// doublings returns ticks at powers of two, at most twelve.
func doublings(low, high float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(low)-1e-9)), int(math.Floor(math.Log2(high)+1e-9))
	step := 1 + (last-first)/12
	var ticks []plot.Tick
	for k := first; k <= last; k += step {
		v := math.Exp2(float64(k))
		ticks = append(ticks, plot.Tick{Value: v, Label: figure.Number(v)})
	}
	return ticks
}
