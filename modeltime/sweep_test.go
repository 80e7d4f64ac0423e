package modeltime

import (
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

func axis(t *testing.T, name string, values ...float64) Axis {
	t.Helper()
	p, err := cpe.FindParameter(name)
	if err != nil {
		t.Fatal(err)
	}
	return Axis{p, values}
}

func sweep(t *testing.T, o Options, axes ...Axis) (*Sweep, error) {
	t.Helper()
	s, err := NewSweep(o.Spec, axes)
	if err != nil {
		return nil, err
	}
	return s, s.Run(readNet(t, small), o)
}

// TestSweep: every variant is what a model of that machine alone says, in the order of the axes, at any GOMAXPROCS.
func TestSweep(t *testing.T) {
	o := options(t)
	var first *Sweep
	for _, procs := range []int{1, 3} {
		before := runtime.GOMAXPROCS(procs)
		s, err := sweep(t, o, axis(t, "ldm_kb", 64, 8), axis(t, "clock_ghz", 0.7, 1.45, 2.9))
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s
		} else if !reflect.DeepEqual(first.Points, s.Points) {
			t.Errorf("GOMAXPROCS %d:\n%v\nnot\n%v", procs, s.Points, first.Points)
		}
	}
	var i int
	for _, kb := range []float64{64, 8} {
		for _, ghz := range []float64{0.7, 1.45, 2.9} {
			own := o
			own.Spec.LDMBytes, own.Spec.ClockGHz = int(1024*kb), ghz
			r := run(t, small, own)
			p := first.Points[i]
			if p.Values[0] != kb || p.Values[1] != ghz || p.Total != r.Total {
				t.Errorf("point %d %+v, want %g KB, %g GHz: %+v", i, p, kb, ghz, r.Total)
			}
			sum := 0.0
			for _, share := range p.Bounds {
				sum += share
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("point %d: the bounds' shares add up to %g", i, sum)
			}
			i++
		}
	}
	if first.Base.Total != first.Points[1].Total || !reflect.DeepEqual(first.Base.Values, []float64{64, 1.45}) {
		t.Errorf("the machine as described is %+v, its variant %+v", first.Base, first.Points[1])
	}
}

// TestSweepWithoutRoom: a variant that cannot run the net says why, and the others are modelled all the same.
func TestSweepWithoutRoom(t *testing.T) {
	s, err := sweep(t, options(t), axis(t, "ldm_kb", 64, 0.015625))
	if err != nil {
		t.Fatal(err)
	}
	if s.Points[0].Error != "" || !strings.Contains(s.Points[1].Error, `"conv1"`) || !strings.Contains(s.Points[1].Error, "there are 16") {
		t.Errorf("errors %q and %q", s.Points[0].Error, s.Points[1].Error)
	}
	_, err = sweep(t, options(t), axis(t, "ldm_kb", 0.015625))
	if err == nil || !strings.Contains(err.Error(), "none of the variants can run the net") {
		t.Errorf("error %v, want one that says that nothing ran", err)
	}
}

func TestSweepErrors(t *testing.T) {
	many := make([]float64, 101)
	for i := range many {
		many[i] = float64(i + 1)
	}
	for _, c := range []struct {
		axes []Axis
		want string
	}{
		{[]Axis{axis(t, "ldm_kb")}, "ldm_kb has no values"},
		{[]Axis{axis(t, "ldm_kb", 64), axis(t, "ldm_kb", 32)}, "ldm_kb is varied twice"},
		{[]Axis{axis(t, "ldm_kb", many...), axis(t, "clock_ghz", many...)}, "more than 10000 combinations"},
		{[]Axis{axis(t, "clock_ghz", 1), axis(t, "ldm_kb", 64, -3)}, "ldm_kb=-3: must be positive"},
		{[]Axis{axis(t, "memory_gbytes_per_s", 64)}, `memory_gbytes_per_s: machine "sw26010" has none`},
	} {
		if _, err := sweep(t, options(t), c.axes...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
