package logs

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// gap is where a curve became NaN or infinite.
type gap struct {
	x     float64
	words string
}

// newGap returns the gap that begins with a point.
func newGap(x float64, p logPoint) gap {
	return gap{x, fmt.Sprintf("%s at %d", caffelog.Figure(p.value), p.iteration)}
}

// mark is a plotter: a sign at the upper border, with words and perhaps a line down.
type mark struct {
	x     float64
	words string
	row   int // of the words, from the border down
	shape draw.GlyphDrawer
	style draw.LineStyle // of the line; width 0: none
	font  text.Style
}

func (m mark) Plot(c draw.Canvas, p *plot.Plot) {
	across, _ := p.Transforms(&c)
	at := vg.Point{X: across(m.x), Y: c.Max.Y - vg.Points(6) - vg.Length(m.row)*m.font.Font.Size*1.3}
	if m.style.Width > 0 {
		c.StrokeLine2(m.style, at.X, c.Min.Y, at.X, at.Y)
	}
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: m.font.Color, Radius: vg.Points(3), Shape: m.shape}, at)
	font, gap := m.font, vg.Points(6)
	if at.X > (c.Min.X+c.Max.X)/2 {
		font.XAlign, gap = text.XRight, -gap
	}
	font.YAlign = text.YCenter
	c.FillText(font, vg.Point{X: at.X + gap, Y: at.Y}, m.words)
}

// DataRange widens the x axis to the mark; the y axis stays.
func (m mark) DataRange() (xmin, xmax, ymin, ymax float64) {
	return m.x, m.x, math.Inf(1), math.Inf(-1)
}

// usual returns the least and the largest value of a curve, without those more than ten times as far from 0 as its first one and as nine tenths of all.
func (c *curve) usual() (low, high float64) {
	sizes := make([]float64, len(c.y))
	for i, v := range c.y {
		sizes[i] = math.Abs(v)
	}
	slices.Sort(sizes)
	far := 10 * max(math.Abs(c.y[0]), sizes[int(math.Ceil(0.9*float64(len(sizes)-1)))])
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range c.y {
		if math.Abs(v) <= far || far == 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// limit returns the upper end of the y axis at which a log that diverges leaves the others visible: the largest usual value of all logs but those
// that reach ten times (on a logarithmic axis ten thousand times) the range of the lowest quarter of the logs.
func (p *panel) limit() float64 {
	floor, tops := 0.0, map[int]float64{}
	for i := range p.curves {
		c := &p.curves[i]
		if len(c.y) == 0 {
			continue
		}
		low, high := c.usual()
		if top, ok := tops[c.log]; !ok || high > top {
			tops[c.log] = high
		}
		floor = min(floor, low)
	}
	if len(tops) == 0 {
		return math.Inf(1)
	}
	var list []float64
	for _, top := range tops {
		list = append(list, top)
	}
	slices.Sort(list)
	near, times := list[(len(list)-1)/4], 10.0
	switch {
	case p.logarithmic:
		times, floor = 1e4, 0
	case p.what == "lr":
		times = 100
	}
	limit := near
	for _, top := range list {
		if top <= floor+times*(near-floor) {
			limit = top
		}
	}
	return limit
}

// beyond returns the first point of a curve above a limit, and its largest value.
func (c *curve) beyond(limit float64) (x, most float64, ok bool) {
	for i, v := range c.y {
		if v > limit && !ok {
			x, ok = c.x[i], true
		}
	}
	if ok {
		most = slices.Max(c.y)
	}
	return x, most, ok
}
