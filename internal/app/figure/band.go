package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// Span is the range of a point's Y.
type Span struct{ Low, High float64 }

// AddBand fills the area between the ranges of a curve's points with a light tint of its colour. Without ranges it adds nothing.
func AddBand(p *plot.Plot, c color.Color, points plotter.XYs, ranges []Span) error {
	if len(ranges) == 0 {
		return nil
	}
	var outline plotter.XYs
	for i, r := range ranges {
		outline = append(outline, plotter.XY{X: points[i].X, Y: r.High})
	}
	for i := len(ranges) - 1; i >= 0; i-- {
		outline = append(outline, plotter.XY{X: points[i].X, Y: ranges[i].Low})
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	band.Color, band.LineStyle.Width = Tint(c), 0
	p.Add(band)
	return nil
}

// Tint is a transparent shade of a colour.
func Tint(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 40}
}
