package modelplot

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// meshWidth and meshHeight are the size of a heat map in pixels.
const meshWidth, meshHeight = 1000, 560

// cells are the values of a mesh's CPEs, row by row. Cells without a CPE are NaN.
type cells struct {
	rows, cols int
	values     []float64
	most       float64 // the value with the darkest colour
}

// Mesh draws two heat maps of a mesh: the largest amount of LDM that each CPE uses in one pass through a layer, and its share of
// all bytes moved by DMA. It shows the first of several core groups with meshes. Core groups of one core are drawn as the cells
// of a single mesh.
func Mesh(r *modeltime.Report, format string) ([]byte, error) {
	m := r.Mesh
	where := fmt.Sprintf("core group 0 of %d", r.CoreGroups)
	if m.Rows*m.Cols == 1 {
		where = fmt.Sprintf("%d cores", r.CoreGroups)
	}
	ldm, dma := meshCells(m)
	left := meshPlot(ldm, fmt.Sprintf("%s used (KB of %.4g)", memoryName(m), float64(m.LDMBytes)/1024), m)
	right := meshPlot(dma, "share of the DMA bytes (%)", m)
	title := fmt.Sprintf("%s, %s (%s): %s on %s, %s, batch %d", m.Layer, m.Direction, m.Strategy, r.Model, r.Machine, where, r.Batch)
	return figure.Render(format, meshWidth, meshHeight, func(c draw.Canvas) {
		head := figure.Style(vg.Points(12))
		head.XAlign, head.YAlign = draw.XCenter, draw.YTop
		c.FillText(head, vg.Point{X: c.Center().X, Y: c.Max.Y - vg.Points(8)}, title)
		tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Points(24), PadTop: vg.Points(34), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(14)}
		figure.Draw(left, tiles.At(c, 0, 0))
		figure.Draw(right, tiles.At(c, 1, 0))
	})
}

func memoryName(m *modeltime.Mesh) string {
	if m.Rows*m.Cols == 1 {
		return "cache"
	}
	return "LDM"
}

// meshCells returns the cells for the CPEs of the first core group. Core groups of one core are arranged in as square a mesh as
// possible.
func meshCells(m *modeltime.Mesh) (ldm, dma *cells) {
	rows, cols, shown := m.Rows, m.Cols, m.CPEs
	if rows*cols == 1 {
		cols = int(math.Ceil(math.Sqrt(float64(len(m.CPEs)))))
		rows = (len(m.CPEs) + cols - 1) / cols
	} else {
		shown = m.CPEs[:rows*cols]
	}
	ldm = newCells(rows, cols, shown, func(u *cpe.Usage) float64 { return float64(u.LDMPeak) / 1024 })
	ldm.most = float64(m.LDMBytes) / 1024
	total := 0.0
	for _, u := range shown {
		total += float64(u.GetBytes + u.PutBytes)
	}
	dma = newCells(rows, cols, shown, func(u *cpe.Usage) float64 { return 100 * float64(u.GetBytes+u.PutBytes) / max(total, 1) })
	dma.most = 2 * 100 / float64(len(shown)) // an even share has half of the darkest shade
	for _, v := range dma.values {
		if v > dma.most {
			dma.most = v
		}
	}
	return ldm, dma
}

func newCells(rows, cols int, shown []cpe.Usage, of func(u *cpe.Usage) float64) *cells {
	c := &cells{rows: rows, cols: cols, values: make([]float64, rows*cols)}
	for i := range c.values {
		c.values[i] = math.NaN()
		if i < len(shown) {
			c.values[i] = of(&shown[i])
		}
	}
	return c
}

// meshPlot returns a plot of cells, row 0 on top.
func meshPlot(c *cells, title string, m *modeltime.Mesh) *plot.Plot {
	p := figure.New(title, "column of the mesh", "row of the mesh")
	p.Title.TextStyle.Font.Size = vg.Points(10)
	number := 1
	if m.Rows*m.Cols == 1 {
		p.X.Label.Text, p.Y.Label.Text, number = "core, counted from the row's first", "first core of the row", c.cols
	}
	var columns, rows []plot.Tick
	for col := range c.cols {
		columns = append(columns, plot.Tick{Value: float64(col), Label: strconv.Itoa(col)})
	}
	for row := range c.rows {
		rows = append(rows, plot.Tick{Value: float64(c.rows - 1 - row), Label: strconv.Itoa(row * number)})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(columns), plot.ConstantTicks(rows)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(c.cols)-0.5, -0.5, float64(c.rows)-0.5
	p.X.Padding, p.Y.Padding = 0, 0
	p.Add(c)
	return p
}

// Plot implements plot.Plotter: one box per cell with its value in it.
func (c *cells) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	style := figure.Style(vg.Points(8))
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i, v := range c.values {
		if math.IsNaN(v) {
			continue
		}
		col, row := float64(i%c.cols), float64(c.rows-1-i/c.cols)
		fill, ink := shade(v / max(c.most, 1e-9))
		left, right, bottom, top := x(col-0.5), x(col+0.5), y(row-0.5), y(row+0.5)
		corners := []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
		canvas.FillPolygon(fill, corners)
		canvas.StrokeLines(draw.LineStyle{Color: color.White, Width: vg.Points(1)}, append(corners, corners[0]))
		style.Color = ink
		canvas.FillText(style, vg.Point{X: (left + right) / 2, Y: (bottom + top) / 2}, strconv.FormatFloat(v, 'f', digits(c.most), 64))
	}
}

// digits is the number of decimals that distinguishes cells.
func digits(most float64) int {
	switch {
	case most >= 100:
		return 0
	case most >= 10:
		return 1
	}
	return 2
}

// shade returns a blue between white and dark for a share of the largest value, and a readable colour for text on it.
func shade(share float64) (fill, ink color.Color) {
	share = min(1, max(0, share))
	mix := func(light, dark float64) uint8 { return uint8(light + share*(dark-light)) }
	fill = color.RGBA{mix(0xf2, 0x08), mix(0xf6, 0x30), mix(0xfb, 0x6b), 255}
	if share > 0.4 {
		return fill, color.White
	}
	return fill, color.Black
}
