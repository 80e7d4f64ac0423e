// Package figure holds the parts that all charts share: canvases for SVG and PNG files, fonts, colours, grids and ticks.
package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Palette holds colours that readers with red-green colour blindness can distinguish (Okabe and Ito 2008).
var Palette = [...]color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 255}, color.RGBA{0xd5, 0x5e, 0x00, 255}, color.RGBA{0x00, 0x9e, 0x73, 255}, color.RGBA{0xcc, 0x79, 0xa7, 255},
	color.RGBA{0xe6, 0x9f, 0x00, 255}, color.RGBA{0x56, 0xb4, 0xe9, 255}, color.RGBA{0, 0, 0, 255},
}

// dpi makes a PNG's pixel 3/4 of a point, browsers' ratio for SVG.
const dpi = 96

// pixels converts pixels to a length.
func pixels(n int) vg.Length { return vg.Length(n) * vg.Inch / dpi }

// Format returns the picture format for a file's name: "png" or "svg".
func Format(path string) (string, error) {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if format != "png" && format != "svg" {
		return "", fmt.Errorf("%s: the name must end in .png or .svg", path)
	}
	return format, nil
}

// maxPixels limits a PNG, which takes four bytes per pixel.
const maxPixels = 1 << 28

// Render returns a picture of width x height pixels in a format.
func Render(format string, width, height int, paint func(c draw.Canvas)) ([]byte, error) {
	return RenderLengths(format, pixels(width), pixels(height), paint)
}

// RenderLengths returns a picture of w x h in a format, painted on white. The SVG also names common fonts of the same widths, for
// viewers without ours.
func RenderLengths(format string, w, h vg.Length, paint func(c draw.Canvas)) ([]byte, error) {
	canvas := vg.CanvasWriterTo(vgsvg.New(w, h))
	if format == "png" {
		if n := float64(w / pixels(1) * h / pixels(1)); n > maxPixels {
			return nil, fmt.Errorf("the picture would have %.0f million pixels: write it as svg", n/1e6)
		}
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
	}
	c := draw.New(canvas)
	if format != "png" { // which begins white
		c.FillPolygon(color.White, []vg.Point{{}, {X: w}, {X: w, Y: h}, {Y: h}})
	}
	paint(c)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil || format == "png" {
		return b.Bytes(), err
	}
	svg := bytes.Map(inXML, b.Bytes()) // names in nets and logs may have any bytes
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
}

// inXML replaces what XML has no way to hold: bytes that are not UTF-8, which bytes.Map gives as utf8.RuneError, and control characters.
func inXML(r rune) rune {
	if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xFFFE || r == 0xFFFF {
		return utf8.RuneError
	}
	return r
}

// Style returns a text style in the font of plots.
func Style(size vg.Length) text.Style {
	s := plot.New().Title.TextStyle
	s.Font = font.Font{Typeface: s.Font.Typeface, Variant: "Sans", Size: size}
	return s
}

// New makes a plot with a grid and labelled axes. An empty title takes no space.
func New(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	if title != "" {
		p.Title.TextStyle.Font = Style(vg.Points(12)).Font
		p.Title.Padding = vg.Points(6)
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = vg.Points(11), vg.Points(9)
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
		axis.Tick.Marker = plot.TickerFunc(roundTicks)
	}
	p.Legend.TextStyle.Font = Style(vg.Points(9)).Font
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{220}, color.Gray{220}
	p.Add(grid)
	return p
}

// Draw draws a plot. It corrects gonum's margins: gonum computes the space for axis labels as if logarithmic axes were linear,
// which leaves gaps at their ends.
func Draw(p *plot.Plot, c draw.Canvas) {
	x, y := p.X.Label, p.Y.Label
	p.X.Label.Text, p.Y.Label.Text = "", ""
	down, left := x.TextStyle.Height(x.Text)+vg.Points(5), y.TextStyle.Height(y.Text)+vg.Points(5)
	inner := draw.Crop(c, left, 0, down, 0)
	p.Draw(inner)
	data := p.DataCanvas(inner)
	middle := data.Center()
	style := x.TextStyle
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	c.FillText(style, vg.Point{X: middle.X, Y: c.Min.Y}, x.Text)
	style = y.TextStyle
	style.XAlign, style.YAlign, style.Rotation = draw.XCenter, draw.YTop, math.Pi/2
	c.FillText(style, vg.Point{X: c.Min.X, Y: middle.Y}, y.Text)
	p.X.Label, p.Y.Label = x, y
}

// roundTicks returns five to twelve labelled ticks at multiples of 1, 2 or 5 times a power of ten.
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
		ticks = append(ticks, plot.Tick{Value: k * step, Label: Number(k*step + 0)})
	}
	return ticks
}

// LogTicks returns labelled ticks at powers of ten, and unlabelled ones between them.
func LogTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
		for k := 1.0; k < 10; k++ {
			tick := plot.Tick{Value: k * power}
			if k == 1 {
				tick.Label = Number(power)
			}
			if tick.Value >= low && tick.Value <= high {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// Number prints a value with up to six digits.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
