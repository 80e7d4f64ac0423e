package modelplot

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// probe is a plotter that looks at the canvas on which a plot is drawn.
type probe func(c draw.Canvas, p *plot.Plot)

// Plot implements plot.Plotter.
func (f probe) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// crowded is a report of many passes below the roof, most of them at its ridge, with ranges.
func crowded(seed uint64) *modeltime.Report {
	random := rand.New(rand.NewPCG(seed, 1))
	r := &modeltime.Report{Model: "net", Machine: "sw26010", Batch: 3, CoreGroups: 4}
	for i := range 40 {
		pass := func() *modeltime.Direction {
			intensity := 28 * (0.3 + 1.2*random.Float64())
			rate := min(2970, 105.7*intensity) * (0.3 + 0.69*random.Float64())
			ms := 1 + 30*random.Float64()
			return &modeltime.Direction{
				ModelledMs: ms, GFlops: rate, MemoryBytes: int64(rate * ms * 1e6 / intensity), GFlopsRange: trust.Range{Low: 0.4 * rate, High: 1.3 * rate},
			}
		}
		r.Layers = append(r.Layers, modeltime.Layer{
			Name: fmt.Sprintf("inception_%d/3x3", i), Type: "Convolution", Forward: pass(), WeightGradient: pass(), InputGradient: pass(),
		})
	}
	return r
}

// TestNamesInTheClear: no name of a roofline overlaps another one, a marker or the roof, and no line to a name crosses the roof or a name, on
// crowded plots. Roof and lines are segments here, and not the spots of the placement.
func TestNamesInTheClear(t *testing.T) {
	spec := load(t, "sw26010")
	peak, gbps := spec.PeakGFlops()*float64(spec.CoreGroups), spec.BandwidthGBps()
	for seed := range uint64(4) {
		p, labels, err := roofline(crowded(seed), spec)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		p.Add(probe(func(c draw.Canvas, p *plot.Plot) {
			x, y := p.Transforms(&c)
			at := func(intensity, rate float64) vg.Point { return vg.Point{X: x(intensity), Y: y(rate)} }
			roof := [][2]vg.Point{{at(p.X.Min, gbps*p.X.Min), at(peak/gbps, peak)}, {at(peak/gbps, peak), at(p.X.Max, peak)}}
			names := labels.Layout(&c, p)
			seen = len(names)
			for i, n := range names {
				for _, s := range roof {
					if meets(s, n.Box) {
						t.Errorf("seed %d: %s lies on the roof", seed, n.Text)
					}
				}
				line := [2]vg.Point{n.At, {X: (n.Box.Min.X + n.Box.Max.X) / 2, Y: (n.Box.Min.Y + n.Box.Max.Y) / 2}}
				if i > 1 && n.Far && above(line[0], roof) != above(line[1], roof) {
					t.Errorf("seed %d: the line to %s crosses the roof", seed, n.Text)
				}
				for k, o := range names {
					if k != i && n.Box.Min.X < o.Box.Max.X && o.Box.Min.X < n.Box.Max.X && n.Box.Min.Y < o.Box.Max.Y && o.Box.Min.Y < n.Box.Max.Y {
						t.Errorf("seed %d: %s overlaps %s", seed, n.Text, o.Text)
					}
				}
				for _, m := range labels.Markers {
					if q := at(m.X, m.Y); q.X > n.Box.Min.X && q.X < n.Box.Max.X && q.Y > n.Box.Min.Y && q.Y < n.Box.Max.Y {
						t.Errorf("seed %d: %s hides a marker", seed, n.Text)
					}
				}
			}
		}))
		if _, err := figure.Render("svg", rooflineWidth, rooflineHeight, func(c draw.Canvas) { figure.Draw(p, c) }); err != nil {
			t.Fatal(err)
		}
		if seen < 8 {
			t.Errorf("seed %d: only %d names have a place", seed, seen)
		}
	}
}

// above reports whether a point lies above the roof.
func above(q vg.Point, roof [][2]vg.Point) bool {
	for _, s := range roof {
		if q.X >= s[0].X && q.X <= s[1].X {
			return q.Y > s[0].Y+(s[1].Y-s[0].Y)*(q.X-s[0].X)/(s[1].X-s[0].X)
		}
	}
	return false
}

// meets reports whether a segment passes through a box, by looking at many points of it.
func meets(s [2]vg.Point, box vg.Rectangle) bool {
	const points = 5000
	for i := range points + 1 {
		q := s[0].Add(s[1].Sub(s[0]).Scale(vg.Length(i) / points))
		if q.X > box.Min.X && q.X < box.Max.X && q.Y > box.Min.Y && q.Y < box.Max.Y {
			return true
		}
	}
	return false
}
