package modelplot

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rooflineWidth and rooflineHeight are the size of a roofline in pixels.
const rooflineWidth, rooflineHeight = 1060, 680

// passes are the directions with their markers, in the order of a report's table.
var passes = []struct {
	name  string
	of    func(l *modeltime.Layer) *modeltime.Direction
	glyph draw.GlyphDrawer
}{
	{"forward", func(l *modeltime.Layer) *modeltime.Direction { return l.Forward }, draw.CircleGlyph{}},
	{"weights", func(l *modeltime.Layer) *modeltime.Direction { return l.WeightGradient }, draw.PyramidGlyph{}},
	{"input", func(l *modeltime.Layer) *modeltime.Direction { return l.InputGradient }, draw.BoxGlyph{}},
}

// dot is one pass through a layer: its operations per byte of memory traffic, and per second.
type dot struct {
	name, layerType   string
	pass              int
	intensity, gflops float64
	ms                float64
	low, high         float64 // range of gflops; equal if it is not known
}

// Roofline draws the speed of every pass through a layer under the machine's roofline (Williams, Waterman and Patterson 2009):
// memory bandwidth and peak, over the core groups of the report. It leaves out passes without computation or without memory
// traffic. The area of a marker is proportional to its share of the time.
func Roofline(r *modeltime.Report, spec cpe.Spec, format string) ([]byte, error) {
	p, _, err := roofline(r, spec)
	if err != nil {
		return nil, err
	}
	legend := p.Legend
	p.Legend = plot.NewLegend()
	return figure.Render(format, rooflineWidth, rooflineHeight, func(c draw.Canvas) { beside(c, p, legend) })
}

// roofline makes the plot, and returns the names in it too.
func roofline(r *modeltime.Report, spec cpe.Spec) (*plot.Plot, *figure.Labels, error) {
	dots := dotsOf(r)
	if len(dots) == 0 {
		return nil, nil, errors.New("no pass through a layer both computes and moves bytes")
	}
	peak, gbps := spec.PeakGFlops()*float64(spec.CoreGroups), spec.BandwidthGBps()
	p := figure.New(fmt.Sprintf("Roofline: %s on %s, %s, batch %d", r.Model, r.Machine, cpe.Groups(r.CoreGroups), r.Batch),
		"operations a byte of memory traffic (FLOP/byte)", "GFLOP/s (modelled)")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(figure.LogTicks), plot.TickerFunc(figure.LogTicks)
	low, high := spans(p, dots, peak, gbps)
	roof, err := plotter.NewLine(plotter.XYs{{X: low, Y: low * gbps}, {X: peak / gbps, Y: peak}, {X: high, Y: peak}})
	if err != nil {
		return nil, nil, err
	}
	roof.Width = vg.Points(1.6)
	bars, err := addBars(p, dots, peak, gbps)
	if err != nil {
		return nil, nil, err
	}
	p.Add(roof)
	markers := addDots(p, dots)
	names := []figure.Label{
		{X: high / 1.05, Y: peak, Text: fmt.Sprintf("peak %.4g GFLOP/s", peak)},
		{X: math.Sqrt(low * peak / gbps), Y: gbps * math.Sqrt(low*peak/gbps), Text: fmt.Sprintf("memory %.4g GB/s", gbps)},
	}
	labels := figure.NewLabels(append(names, longest(dots, markers)...), append(markers, bars...))
	ridge := peak / gbps
	labels.Barriers = []figure.Barrier{{X0: low, Y0: low * gbps, X1: ridge, Y1: peak}, {X0: ridge, Y0: peak, X1: high, Y1: peak}}
	p.Add(labels)
	return p, labels, nil
}

// dotsOf lists the passes to draw, the longest first.
func dotsOf(r *modeltime.Report) []dot {
	var dots []dot
	for i := range r.Layers {
		l := &r.Layers[i]
		for k, pass := range passes {
			d := pass.of(l)
			if d == nil || d.MemoryBytes == 0 || !(d.GFlops > 0) {
				continue
			}
			flops := d.GFlops * d.ModelledMs * 1e6
			point := dot{l.Name + " " + pass.name, l.Type, k, flops / float64(d.MemoryBytes), d.GFlops, d.ModelledMs, d.GFlops, d.GFlops}
			if r := d.GFlopsRange; r.Known() {
				point.low, point.high = r.Low, r.High
			}
			dots = append(dots, point)
		}
	}
	slices.SortStableFunc(dots, func(a, b dot) int { return cmp.Compare(b.ms, a.ms) })
	return dots
}

// spans sets the axes to show all dots, the ridge of the roof and some of its flat part.
func spans(p *plot.Plot, dots []dot, peak, gbps float64) (low, high float64) {
	ridge := peak / gbps
	low, high = ridge/10, ridge*10
	bottom := low * gbps
	for _, d := range dots {
		low, high, bottom = min(low, d.intensity), max(high, d.intensity), min(bottom, d.gflops)
	}
	low, high = low/1.5, high*1.5
	p.X.Min, p.X.Max = low, high
	p.Y.Min, p.Y.Max = bottom/2, peak*2
	return low, high
}

// maxKinds is the number of layer types with a colour of their own. All other types share the last colour.
const maxKinds = len(figure.Palette) - 1

// kinds returns the types of layers that take the most time.
func kinds(dots []dot) []string {
	var names []string
	total := map[string]float64{}
	for _, d := range dots {
		if total[d.layerType] == 0 {
			names = append(names, d.layerType)
		}
		total[d.layerType] += d.ms
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(total[b], total[a]) })
	return names[:min(len(names), maxKinds)]
}

// addDots draws the dots with a legend of their colours and markers, and returns their places.
func addDots(p *plot.Plot, dots []dot) []figure.Label {
	names := kinds(dots)
	longest := dots[0].ms
	var places []figure.Label
	others := false
	for _, d := range dots {
		kind := slices.Index(names, d.layerType)
		if kind < 0 {
			kind, others = maxKinds, true
		}
		style := draw.GlyphStyle{Color: figure.Palette[kind], Radius: radius(d.ms / longest), Shape: passes[d.pass].glyph}
		rim := style
		rim.Color, rim.Radius = color.White, style.Radius+vg.Points(0.7) // separates neighbouring markers
		at := plotter.XYs{{X: d.intensity, Y: d.gflops}}
		p.Add(&plotter.Scatter{XYs: at, GlyphStyle: rim}, &plotter.Scatter{XYs: at, GlyphStyle: style})
		places = append(places, figure.Label{X: d.intensity, Y: d.gflops, Radius: style.Radius})
	}
	key := func(name string, c color.Color, shape draw.GlyphDrawer) {
		p.Legend.Add(name, &plotter.Scatter{XYs: nil, GlyphStyle: draw.GlyphStyle{Color: c, Radius: vg.Points(4), Shape: shape}})
	}
	for i, name := range names {
		key(name, figure.Palette[i], draw.CircleGlyph{})
	}
	if others {
		key("others", figure.Palette[maxKinds], draw.CircleGlyph{})
	}
	for _, pass := range passes {
		key(pass.name, color.Gray{90}, pass.glyph)
	}
	return places
}

// addBars draws the ranges of the dots' rates, as far as they lie below the roof, and returns spots of the bars.
func addBars(p *plot.Plot, dots []dot, peak, gbps float64) (spots []figure.Label, err error) {
	for _, d := range dots {
		top := min(d.high, peak, gbps*d.intensity)
		if d.low >= top {
			continue
		}
		bar, err := plotter.NewLine(plotter.XYs{{X: d.intensity, Y: d.low}, {X: d.intensity, Y: top}})
		if err != nil {
			return nil, err
		}
		bar.Color, bar.Width = color.Gray{190}, vg.Points(0.7)
		p.Add(bar)
		const density = 1.1 // spots lie closer than names are high
		for y := d.low; y < top; y *= density {
			spots = append(spots, figure.Label{X: d.intensity, Y: y, Radius: vg.Points(0.5)})
		}
	}
	return spots, nil
}

// radius is that of a marker whose pass takes a share of the longest pass's time.
func radius(share float64) vg.Length {
	const least, most = 1.8, 8
	return vg.Points(max(least, most*math.Sqrt(share)))
}

// longest names the passes that take the most time. dots and places are in descending order of time. Passes of the same kind at
// the same place, such as those of equal layers, share a name.
func longest(dots []dot, places []figure.Label) []figure.Label {
	const most, alike = 10, 0.02
	var names []figure.Label
	var named []int
	shared := map[int]int{}
	near := func(a, b float64) bool { return math.Abs(a-b) <= alike*b }
	for i, d := range dots {
		k := slices.IndexFunc(named, func(k int) bool {
			return dots[k].pass == d.pass && near(d.intensity, dots[k].intensity) && near(d.gflops, dots[k].gflops)
		})
		switch {
		case k >= 0:
			shared[k]++
		case len(named) < most:
			named = append(named, i)
		}
	}
	for k, i := range named {
		name := places[i]
		name.Text = dots[i].name
		if n := shared[k]; n > 0 {
			name.Text += fmt.Sprintf(" (%d alike)", n+1)
		}
		names = append(names, name)
	}
	return names
}
