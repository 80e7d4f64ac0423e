package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// palette are colours that can be told apart without seeing red from green (Okabe and Ito 2008).
var palette = [...]color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 255}, color.RGBA{0xd5, 0x5e, 0x00, 255}, color.RGBA{0x00, 0x9e, 0x73, 255}, color.RGBA{0xcc, 0x79, 0xa7, 255},
	color.RGBA{0xe6, 0x9f, 0x00, 255}, color.RGBA{0x56, 0xb4, 0xe9, 255}, color.RGBA{0, 0, 0, 255},
}

// plotDPI makes a pixel of a PNG 3/4 of a point, as browsers do with SVG.
const plotDPI = 96

// drawPanels writes panels below each other, each of width x height pixels.
func drawPanels(w io.Writer, panels []panel, format string, width, height int) error {
	size := func(pixels int) vg.Length { return vg.Length(pixels) * vg.Inch / plotDPI }
	total := size(height * len(panels))
	canvas := vg.CanvasWriterTo(vgsvg.New(size(width), total))
	if format == "png" {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(size(width), total), vgimg.UseDPI(plotDPI))}
	}
	var plots [][]*plot.Plot
	for _, p := range panels {
		drawn, err := p.plot()
		if err != nil {
			return err
		}
		plots = append(plots, []*plot.Plot{drawn})
	}
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadX: vg.Points(8), PadY: vg.Points(8), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(14)}
	places := plot.Align(plots, tiles, draw.New(canvas))
	for i := range plots {
		plots[i][0].Draw(places[i][0])
	}
	_, err := canvas.WriteTo(w)
	return err
}

// plot makes a panel's plot: a grid, curves with a marker where there are few points, a legend beside the curves' ends.
func (p *panel) plot() (*plot.Plot, error) {
	drawn := plot.New()
	drawn.X.Label.Text, drawn.Y.Label.Text = "iterations", p.what
	if p.seconds {
		drawn.X.Label.Text = "seconds"
	}
	if p.what == "lr" {
		drawn.Y.Label.Text = "learning rate"
	}
	drawn.X.Min, drawn.X.Tick.Marker, drawn.Y.Tick.Marker = 0, plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	if p.logarithmic {
		drawn.Y.Scale, drawn.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	for _, axis := range []*plot.Axis{&drawn.X, &drawn.Y} {
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = vg.Points(11), vg.Points(9)
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
	}
	drawn.Legend.TextStyle.Font = font.Font{Typeface: drawn.Legend.TextStyle.Font.Typeface, Variant: "Sans", Size: vg.Points(9)}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{220}, color.Gray{220}
	drawn.Add(grid)
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
		line.Color, line.Width = palette[i%len(palette)], vg.Points(1.4)
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

// widen gives a panel whose values are all equal a range.
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

// roundTicks puts labels at multiples of 1, 2 or 5 times a power of ten, five to twelve of them.
func roundTicks(low, high float64) []plot.Tick {
	power := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	step := power
	for _, factor := range []float64{2, 5} {
		if (high-low)/(power*factor) >= 5 {
			step = power * factor
		}
	}
	var ticks []plot.Tick
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: strconv.FormatFloat(k*step+0, 'g', 6, 64)})
	}
	return ticks
}
