package modelplot

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/modeltime"
)

// sweepOf makes a sweep whose images a second are the values' sum.
func sweepOf(t *testing.T, axes map[string][]float64, order ...string) *modeltime.Sweep {
	t.Helper()
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	var list []modeltime.Axis
	for _, name := range order {
		p, err := cpe.FindParameter(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, modeltime.Axis{Parameter: p, Values: axes[name]})
	}
	s, err := modeltime.NewSweep(spec, list)
	if err != nil {
		t.Fatal(err)
	}
	s.Model, s.Batch, s.Base.Total.Images = "net", 7, 10
	for i := range s.Points {
		for _, v := range s.Points[i].Values {
			s.Points[i].Total.Images += v
		}
	}
	return s
}

// TestSweepPicture looks for the words of a sweep's picture: its axes with units, a tick at every value, every curve's name.
func TestSweepPicture(t *testing.T) {
	s := sweepOf(t, map[string][]float64{"ldm_kb": {32, 48, 256}, "clock_ghz": {1, 2}}, "ldm_kb", "clock_ghz")
	s.Points[1].Error = "no room"
	svg, err := Sweep(s, "svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"net on variants of sw26010, batch 7", "ldm_kb (KB)", "images a second (modelled)", "32", "48", "64", "256",
		"clock_ghz = 1", "clock_ghz = 2", "as described"} {
		if !strings.Contains(string(svg), ">"+words+"<") {
			t.Errorf("the picture does not say %q", words)
		}
	}
	picture, err := Sweep(s, "png")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || c.Width != sweepWidth || c.Height != sweepHeight {
		t.Errorf("PNG %v, %v", c, err)
	}
}

func TestTooManyCurves(t *testing.T) {
	var clocks []float64
	for i := range maxCurves + 1 {
		clocks = append(clocks, float64(i+1))
	}
	axes := map[string][]float64{"ldm_kb": {32, 64}, "clock_ghz": clocks}
	want := fmt.Sprintf("%d curves, for every combination of clock_ghz", maxCurves+1)
	if err := CanSweep(sweepOf(t, axes, "ldm_kb", "clock_ghz")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := CanSweep(sweepOf(t, axes, "clock_ghz", "ldm_kb")); err != nil {
		t.Error(err)
	}
}
