package modeltime

import (
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
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

// faultyAt is a layer that panics on machines with a clock of faultyClock.
type faultyAt struct{ layers.Base }

const faultyClock = 0.7

func init() {
	layers.Register(layers.Type{
		Name: "Faulty", Doc: "panics in tests",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &faultyAt{layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Exactly(1),
	})
}

func (l *faultyAt) SetUp(_, top []*blob.Blob) error   { return nil }
func (l *faultyAt) Reshape(_, top []*blob.Blob) error { top[0].Reshape(4); return nil }
func (l *faultyAt) Forward(_, _ []*blob.Blob) error {
	if l.Device.Machine.Spec().ClockGHz == faultyClock {
		panic("words")
	}
	return nil
}
func (l *faultyAt) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// TestSweepPanics: a panic while a variant is modelled arrives at the caller of Run.
func TestSweepPanics(t *testing.T) {
	o := options(t)
	s, err := NewSweep(o.Spec, []Axis{axis(t, "clock_ghz", 1, faultyClock, 2, faultyClock, 3)})
	if err != nil {
		t.Fatal(err)
	}
	var p *relay.Panic
	func() {
		defer relay.Catch(&p)
		t.Errorf("Run returned %v", s.Run(readNet(t, small+`layer { name: "faulty" type: "Faulty" top: "faulty" }`), o))
	}()
	if p == nil || p.Value != "words" || !strings.Contains(string(p.Stack), "(*faultyAt).Forward") {
		t.Errorf("Run raised %v", p)
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
