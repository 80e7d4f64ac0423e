package modeltime

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/modeltime/trust"
)

// TestRanges: every range is that of three models with one curve each, widened by the factors of the pass's kind; it holds the figure.
func TestRanges(t *testing.T) {
	o := options(t)
	var err error
	if o.Spec, err = o.Spec.WithSoftware("swcaffe-2018"); err != nil {
		t.Fatal(err)
	}
	o.Batch = 8
	r := run(t, small, o)
	bare := o
	bare.Bare = true
	var alone []*Report
	for _, curve := range o.Spec.Curves() {
		if bare.Spec, err = o.Spec.WithCurve(curve); err != nil {
			t.Fatal(err)
		}
		alone = append(alone, run(t, small, bare))
	}
	if alone[0].Layers[1].Forward.ModelledRange.Known() || alone[0].Total.ImagesRange.Known() {
		t.Error("a bare report has ranges")
	}
	near := func(what string, got trust.Range, kind trust.Kind, of func(r *Report) float64) {
		t.Helper()
		f, _ := trust.Of("sw26010").Of(kind)
		low, high := math.Inf(1), 0.0
		for _, a := range alone {
			low, high = min(low, f.Low*of(a)), max(high, f.High*of(a))
		}
		if math.Abs(got.Low-low) > 1e-12*low || math.Abs(got.High-high) > 1e-12*high {
			t.Errorf("%s: range %v, want %v to %v", what, got, low, high)
		}
		if v := of(r); !(got.Low <= v && v <= got.High) {
			t.Errorf("%s: %v lies outside its range%v", what, v, got)
		}
	}
	for _, c := range []struct {
		layer string
		kind  trust.Kind
	}{{"conv1", trust.Explicit}, {"scale", trust.MPE}, {"pool", trust.Pooling}, {"ip", trust.Product}, {"loss", trust.Stream}} {
		for i, l := range r.Layers {
			if l.Name != c.layer {
				continue
			}
			if got := l.Kind(shape.Forward); got != c.kind {
				t.Errorf("%s is of kind %s, want %s", c.layer, got, c.kind)
			}
			near(c.layer, l.Forward.ModelledRange, c.kind, func(r *Report) float64 { return r.Layers[i].Forward.ModelledMs })
			work := l.Forward.GFlops * l.Forward.ModelledMs
			if rate := l.Forward.GFlopsRange; math.Abs(rate.High*l.Forward.ModelledRange.Low-work) > 1e-9*work {
				t.Errorf("%s: GFLOP/s%v, ms%v", c.layer, rate, l.Forward.ModelledRange)
			}
		}
	}
	near("iteration", r.Total.IterationRange, trust.Iteration, func(r *Report) float64 { return r.Total.IterationMs })
	near("update", r.Total.UpdateRange, trust.Iteration, func(r *Report) float64 { return r.Total.UpdateMs })
	if got, want := r.Total.ImagesRange.Low, 8000/r.Total.IterationRange.High; math.Abs(got-want) > 1e-9*want {
		t.Errorf("at least %v images/s, want %v", got, want)
	}
}

// TestRangesElsewhere: in functional mode ranges are the same; nothing is said of machines of which no times were published.
func TestRangesElsewhere(t *testing.T) {
	o := options(t)
	o.Batch = 8
	r := run(t, small, o)
	var err error
	o.Mode = cpe.Functional
	if moved := run(t, small, o); moved.Total != r.Total {
		t.Errorf("functional %+v, cost only %+v", moved.Total, r.Total)
	}
	o.Mode = cpe.CostOnly
	if o.Spec, err = cpe.Load("knl7250"); err != nil {
		t.Fatal(err)
	}
	if r := run(t, small, o); r.Total.ImagesRange.Known() || r.Layers[1].Forward.ModelledRange.Known() {
		t.Error("the KNL has ranges, of which no times were published")
	}
}
