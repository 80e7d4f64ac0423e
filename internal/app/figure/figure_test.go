package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func TestFormat(t *testing.T) {
	for path, want := range map[string]string{"a.svg": "svg", "b/c.PNG": "png"} {
		if got, err := Format(path); err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"a.pdf", "svg", ""} {
		if _, err := Format(path); err == nil || !strings.Contains(err.Error(), path+": the name must end in .png or .svg") {
			t.Errorf("%q: error %v", path, err)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks     plot.Ticker
		low, high float64
		want      string
	}{
		{plot.TickerFunc(roundTicks), 0, 10, "0 2 4 6 8 10"},
		{plot.TickerFunc(roundTicks), 0.1, 0.62, "0.1 0.2 0.3 0.4 0.5 0.6"},
		{plot.TickerFunc(LogTicks), 0.5, 2000, "1 10 100 1000"},
		{plot.TickerFunc(LogTicks), 1, 10, "1 10"},
	} {
		var labels []string
		for _, tick := range c.ticks.Ticks(c.low, c.high) {
			if tick.Value < c.low-1e-9 || tick.Value > c.high+1e-9 {
				t.Errorf("a tick at %g, outside %g to %g", tick.Value, c.low, c.high)
			}
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%g to %g: ticks %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// canvas is one for laying out; what is painted on it is thrown away.
func canvas(t *testing.T, width, height int, paint func(c draw.Canvas)) {
	t.Helper()
	picture, err := Render("png", width, height, paint)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || c.Width != width || c.Height != height {
		t.Errorf("%d x %d pixels became %v, %v", width, height, c, err)
	}
}

// TestLabels: names hide neither each other nor the edge, nor markers where there is room; those without a place are left out.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ points, width, least int }{{1, 400, 1}, {12, 600, 10}, {40, 600, 30}, {100, 200, 4}} {
		var labels []Label
		for i := range c.points {
			angle := float64(i) * 2.4 // a spiral: the first ones lie close together
			labels = append(labels, Label{
				X: 5 + math.Sqrt(float64(i))*math.Cos(angle)/3, Y: 5 + math.Sqrt(float64(i))*math.Sin(angle)/3, Radius: 3, Text: fmt.Sprintf("layer %d", i),
			})
		}
		p := New("", "x", "y")
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 10, 0, 10
		canvas(t, c.width, c.width, func(area draw.Canvas) {
			names := NewLabels(labels, labels[:1]).Layout(&area, p)
			if len(names) < c.least {
				t.Errorf("%d names on %d pixels: only %d have a place", c.points, c.width, len(names))
			}
			hidden := 0
			for i, n := range names {
				if !inside(n.Box, area.Rectangle) {
					t.Errorf("%s stands at %v, beyond the edge", n.Text, n.Box)
				}
				for k, other := range names {
					if k != i && !clear(n.Box, []vg.Rectangle{other.Box}) {
						t.Errorf("%s hides %s", n.Text, other.Text)
					}
					if k != i && other.Far && !clear(n.Box, leader(other.At, nearest(other.At, other.Box))) {
						t.Errorf("%s hides the line to %s", n.Text, other.Text)
					}
				}
				if !clear(n.Box, []vg.Rectangle{{Min: names[0].At, Max: names[0].At.Add(vg.Point{X: 1, Y: 1})}}) {
					hidden++
				}
			}
			if c.points < 20 && hidden > 0 {
				t.Errorf("%d names hide the marker", hidden)
			}
		})
	}
}

// TestLogarithmicAxes: axis labels leave no gap at the ends of logarithmic axes.
func TestLogarithmicAxes(t *testing.T) {
	p := New("a title", "a rather long label of the axis", "another long label")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 1, 1e4, 1, 1e4
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(LogTicks), plot.TickerFunc(LogTicks)
	svg, err := Render("svg", 500, 400, func(c draw.Canvas) { Draw(p, c) })
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"a title", "a rather long label of the axis", "another long label", "1000"} {
		if n := strings.Count(string(svg), ">"+words+"<"); n == 0 {
			t.Errorf("the picture does not say %q", words)
		}
	}
	if !strings.Contains(string(svg), "font-family:Liberation Sans,Arial,") {
		t.Error("there is one font only")
	}
	if p.X.Label.Text == "" || p.Y.Label.Text == "" {
		t.Error("drawing has changed the plot")
	}
}

// TestLargePicture: a PNG of more pixels than memory should be asked for is an error that says how many.
func TestLargePicture(t *testing.T) {
	_, err := Render("png", 100000, 20000, func(draw.Canvas) { t.Error("it was painted") })
	if err == nil || !strings.Contains(err.Error(), "2000 million pixels") {
		t.Errorf("error %v", err)
	}
}

// TestTextOfAnyBytes: an SVG is XML, whatever bytes the names in it have.
func TestTextOfAnyBytes(t *testing.T) {
	text, err := RenderLengths("svg", 100, 100, func(c draw.Canvas) {
		c.FillText(Style(10), vg.Point{}, "co\"nv<1>\xff\x01\u00e9\uffff & \t")
	})
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(text)); err == nil; {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) || !bytes.Contains(text, []byte("nv&lt;1&gt;\ufffd\ufffd\u00e9\ufffd")) {
		t.Errorf("%v in %s", err, text)
	}
}
