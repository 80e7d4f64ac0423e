package layertest

import (
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	_ "github.com/swcaffe/swcaffe/layers/neuron" // Power
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// toy computes y = w * x^2 with one weight, and has the fault that its name says.
type toy struct {
	layers.Base
	fault  string
	weight *blob.Blob
	count  int
	sink   []float32
}

func init() {
	for _, fault := range faults {
		layers.Register(layers.Type{
			Name: "Toy " + fault.name, Doc: "w * x^2", Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				return &toy{Base: layers.Base{Param: p, Device: d}, fault: fault.name, weight: blob.New(1)}
			},
		})
	}
}

// faults lists faults of layers, with the check that must find each and the text of its report.
var faults = []struct {
	name                                                            string
	gradient, paths, first, cores, start, reads, reshape, allocates []string
}{
	{name: "without fault"},
	{name: "draws a factor"},
	{name: "gradient of one element is off", gradient: []string{"top 0 element 2", "bottom 0 element 2", "central difference"}},
	{name: "gradients change places", gradient: []string{"top 0 element 1", "bottom 0 element 0", "central difference 0 "}},
	{name: "gradient of one element is not written", gradient: []string{"bottom 0 element 1", "Backward gives NaN"}},
	{name: "reads a top that it disclaims", gradient: []string{"bottom 0 element 0", "Backward gives NaN"}, reads: []string{"mpe", "cpe", "all but 0", "gradient of bottom 0 element 0 is NaN"}},
	{name: "leaves a value of the top", gradient: []string{"top 0 element 1", "central difference NaN"}},
	{name: "writes a gradient in Forward", reads: []string{"Forward has written 3 to element 0 of the gradient of blob 0"}},
	{name: "weight gradient overwrites", gradient: []string{"weight 0 element 0"}, start: []string{"gradient of weight 0 element 0"}},
	{name: "adds to memory that was not cleared", start: []string{"cpe on host, sums started by StartDiff", "cpe on sw26010", "gradient of weight 0 element 0 is NaN"}},
	{name: "path is off by 0.001", paths: []string{"CPE on host", "CPE on sw26010", "top 0 element 3", "gradient of bottom 0 element 3"}, first: []string{"cpe on sw26010: top 0 element 3"}, start: []string{"top 0 element 3"}},
	{name: "path gives NaN", paths: []string{"top 0 element 0 is NaN"}, first: []string{"top 0 element 0 is NaN"}, start: []string{"top 0 element 0 is NaN"}},
	{name: "depends on the number of cores", cores: []string{"on 3 cores", "top 0 element 2"}},
	{name: "keeps its first extent", reshape: []string{"after a change of shapes to [[6]]", "top 0 element 4"}},
	{name: "allocates", allocates: []string{"an iteration allocates 1 times"}},
}

func (l *toy) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *toy) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Tops: l.fault == "reads a top that it disclaims"}}
}

func (l *toy) Arrange(layers.Arranged) error { return nil }

func (l *toy) Params() []*blob.Blob { return []*blob.Blob{l.weight} }

func (l *toy) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	if l.count == 0 || l.fault != "keeps its first extent" {
		l.count = bottom[0].Count()
	}
	return nil
}

func (l *toy) Forward(bottom, top []*blob.Blob) error {
	w, y := l.weight.Data()[0], top[0].Data()
	if l.fault == "draws a factor" {
		w *= float32(l.Device.Random.Float64())
	}
	if l.fault == "writes a gradient in Forward" {
		bottom[0].Diff()[0] = 3
	}
	if l.fault == "allocates" {
		l.sink = make([]float32, 100)
	}
	for i, x := range bottom[0].Data()[:min(l.count, len(y))] {
		if i != 1 || l.fault != "leaves a value of the top" {
			y[i] = w * x * x
		}
	}
	if l.Device.Engine == layers.CPE {
		switch l.fault {
		case "path is off by 0.001":
			y[3] += 0.001
		case "depends on the number of cores":
			if l.Device.Machine.Spec().CoreGroups == 3 {
				y[2] *= 1.0000001
			}
		case "path gives NaN":
			y[0] = float32(math.NaN())
		}
	}
	return nil
}

func (l *toy) Backward(top []*blob.Blob, _ []bool, bottom []*blob.Blob) error {
	dy, dx, x, y := top[0].Diff(), bottom[0].Diff(), bottom[0].Data(), top[0].Data()
	if l.fault != "adds to memory that was not cleared" {
		l.weight.Diff()
	}
	dw, _ := l.weight.Gradient()
	w := l.weight.Data()[0]
	var sum float64
	for i, g := range dy {
		factor := y[i] / (x[i] * x[i])
		sum += float64(g) * float64(y[i]) / float64(w)
		if i != 1 || l.fault != "gradient of one element is not written" {
			dx[i] = 2 * g * factor * x[i]
		}
	}
	switch l.fault {
	case "gradient of one element is off":
		dx[2] *= 1.05
	case "gradients change places":
		dx[0], dx[1] = dx[1], dx[0]
	case "weight gradient overwrites":
		dw[0] = 0
	case "path is off by 0.001":
		if l.Device.Engine == layers.CPE {
			dx[3] += 0.001
		}
	}
	dw[0] += float32(sum)
	return nil
}

func TestFaultsAreFound(t *testing.T) {
	b := NewBench(t)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			c := &Case{
				Type: "Toy " + fault.name, Again: [][]int{{6}},
				Bottoms: []Bottom{Given([]float32{0.5, -0.75, 1, 1.25, 0.8, 0.6}, 4)}, Weights: []Fill{Uniform(1.5, 2)},
			}
			device := func() *layers.Device { return b.Device(layers.CPE) }
			for _, check := range []struct {
				name string
				err  error
				want []string
			}{
				{"CheckGradient", CheckGradient(b.Device(layers.MPE), c), fault.gradient},
				{"CheckPaths", CheckPaths(b, c), fault.paths},
				{"CheckFirstUse", CheckFirstUse(b, c), fault.first},
				{"CheckCores", CheckCores(b, c), fault.cores},
				{"CheckStart", CheckStart(b, c), fault.start},
				{"CheckReads", CheckReads(b, c), fault.reads},
				{"CheckReshape", CheckReshape(device, c), fault.reshape},
				{"CheckAllocations", CheckAllocations(b, c), fault.allocates},
			} {
				report(t, check.name, check.err, check.want)
			}
		})
	}
}

// report fails the test unless the error contains all parts, or is nil if there are none.
func report(t *testing.T, check string, err error, want []string) {
	t.Helper()
	switch {
	case err != nil && want == nil:
		t.Errorf("%s reports %q", check, err)
	case err == nil && want != nil:
		t.Errorf("%s found nothing, expected a report of %q", check, want)
	}
	for _, part := range want {
		if err != nil && !strings.Contains(err.Error(), part) {
			t.Errorf("%s reports %q, which does not contain %q", check, err, part)
		}
	}
}

// TestLayersWithoutCPEPathAreFound: CheckTiled reports the toys, which use plain loops on both engines, but not a Power layer.
func TestLayersWithoutCPEPathAreFound(t *testing.T) {
	b := NewBench(t)
	for _, tt := range []struct{ typ, still, want string }{
		{"Toy without fault", "", "has no CPE path"},
		{"Toy without fault", "it moves no values", ""},
		{"Power", "", ""},
		{"Power", "it moves no values", "though it moves no values"},
	} {
		err := CheckTiled(b, &Case{Type: tt.typ, Still: tt.still, Bottoms: []Bottom{In(4)}})
		if tt.want == "" {
			report(t, tt.typ, err, nil)
		} else {
			report(t, tt.typ, err, []string{tt.want})
		}
	}
}

func TestTypesWithoutCasesAreReported(t *testing.T) {
	plain, source := layers.Type{Name: "A"}, layers.Type{Name: "B", NoGradient: true}
	unchecked := []*Case{{Type: "A", NoGradient: "for a reason"}}
	checked := append(unchecked, &Case{Type: "A"})
	for _, tt := range []struct {
		name  string
		typ   layers.Type
		cases []*Case
		want  string
	}{
		{"no case", plain, nil, "no test case"},
		{"no case of a source", source, nil, "no test case"},
		{"no gradient check", plain, unchecked, "checks the gradient"},
		{"one gradient check", plain, checked, ""},
		{"a source", source, unchecked, ""},
	} {
		got := covered(tt.typ, tt.cases)
		if got == "" != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, expected %q", tt.name, got, tt.want)
		}
	}
}

func TestDiffers(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tt := range []struct {
		got, want float32
		differ    bool
	}{
		{1, 1, false}, {1.01, 1, false}, {1.03, 1, true}, {103, 100, true}, {0.005, 0, false}, {-0.02, 0, true},
		{nan, nan, false}, {nan, 1, true}, {1, nan, true}, {inf, inf, false}, {inf, -inf, true}, {inf, 1, true}, {1, inf, true},
	} {
		if differs(tt.got, tt.want, 0.01) != tt.differ {
			t.Errorf("differs(%g, %g) is %v", tt.got, tt.want, !tt.differ)
		}
	}
}

func TestDistinctKeepsItsDistance(t *testing.T) {
	b := blob.New(50)
	fill(b, Distinct(-1, 1), "bottom", 0)
	values := b.Data()
	for i := range values {
		for k := range values[:i] {
			if d := math.Abs(float64(values[i] - values[k])); d < 2./49-1e-6 {
				t.Fatalf("values %d and %d are %g apart", i, k, d)
			}
		}
	}
}
