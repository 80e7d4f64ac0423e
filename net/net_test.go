package net

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func device(t *testing.T) *layers.Device {
	t.Helper()
	return deviceOn(t, "host")
}

func deviceOn(t *testing.T, machine string) *layers.Device {
	t.Helper()
	spec, err := cpe.Load(machine)
	if err != nil {
		t.Fatal(err)
	}
	return deviceOf(t, spec)
}

func deviceOf(t *testing.T, spec cpe.Spec) *layers.Device {
	t.Helper()
	m, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	log := logrus.New()
	log.SetOutput(io.Discard)
	return &layers.Device{Machine: m, Random: layers.NewRandom(1), Log: log}
}

func build(t *testing.T, text string) (*Net, error) {
	t.Helper()
	p := parse(t, text)
	n, err := New(p, Options{
		State: MergeState(caffepb.Phase_TRAIN, p.State), Device: device(t),
		Pos: func(i int) string { return "net.prototxt:" + string(rune('1'+i)) },
	})
	if err == nil {
		t.Cleanup(func() { n.Close() })
	}
	return n, err
}

const head = `
layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 4 } data_filler { value: 1 } } }
`

func TestBuildErrors(t *testing.T) {
	tooMany := `layer "a" (Tile): top blob 0 of shape [2 1200000000] would have more than 2147483647 values`
	if pages.Memory() < 4*2400000000 {
		tooMany = `layer "a" (Tile): 9.6 GB of memory would be needed in one piece`
	}
	tests := []struct{ name, net, want string }{
		{"unknown type", head + `layer { name: "a" type: "InerProduct" bottom: "x" top: "y" }`,
			`net.prototxt:2: layer "a" (InerProduct): unknown layer type "InerProduct", did you mean "InnerProduct"?`},
		{"unknown types, one error each", head + "layer { name: 'a' type: 'Correlation' bottom: 'z' top: 'a' }\nlayer { name: 'b' type: 'ReLu' bottom: 'x' top: 'b' }\n" +
			"layer { name: 'c' type: 'Correlation' }\nlayer { name: 'd' type: 'Correlation' include { phase: TEST } }",
			`net.prototxt:2: layer "a" (Correlation): unknown layer type "Correlation"; forks of Caffe such as FlowNet's have it, BVLC Caffe and swcaffe do not (1 more of this type)
net.prototxt:3: layer "b" (ReLu): unknown layer type "ReLu", did you mean "ReLU"?`},
		{"too many axes", `layer { name: "a" type: "Input" top: "a" input_param { shape { ` + strings.Repeat("dim: 1 ", 33) + "} } }",
			`net.prototxt:1: layer "a" (Input): top blob 0 has 33 axes, at most 32 are possible`},
		{"no layers", `name: "bare" layer { name: "a" type: "DummyData" top: "x" include { phase: TEST } }`,
			`net.prototxt:0: net "bare": no layers for phase TRAIN, level 0, stages []`},
		{"missing bottom", head + `layer { name: "a" type: "ReLU" bottom: "y" top: "y" }`,
			`net.prototxt:2: layer "a": unknown bottom blob "y" (bottom index 0)`},
		{"missing bottom behind a layer of another phase", "layer { name: 'v' type: 'DummyData' top: 'x' include { phase: TEST } }\n" + head + `layer { name: "a" type: "ReLU" bottom: "y" top: "y" }`,
			`net.prototxt:3: layer "a": unknown bottom blob "y" (bottom index 0)`},
		{"two makers", head + `layer { name: "a" type: "ReLU" bottom: "x" top: "t" }`,
			`net.prototxt:2: layer "a" (ReLU): top blob "t" is produced by multiple sources: layer "x" at net.prototxt:1 makes it already`},
		{"no type", head + `layer { name: "a" bottom: "x" top: "y" }`, `net.prototxt:2: layer "a": type is missing (known types: AbsVal, `},
		{"two makers, behind the bottoms", head + `layer { name: "a" type: "Slice" bottom: "x" top: "y" top: "t" }`,
			`net.prototxt:2: layer "a" (Slice): top blob "t" is produced by multiple sources: layer "x" at net.prototxt:1 makes it already`},
		{"in place where it cannot", head + `layer { name: "a" type: "AbsVal" bottom: "x" top: "x" }`, `cannot run in place`},
		{"shapes", head + `layer { name: "a" type: "EuclideanLoss" bottom: "x" bottom: "t" top: "l" }`,
			`layer "a" (EuclideanLoss): inputs must have the same dimension: 2 3 (6) and 2 4 (8)`},
		{"loss weights", head + `layer { name: "a" type: "ReLU" bottom: "x" top: "y" loss_weight: 1 loss_weight: 2 }`,
			`2 values for 1 tops`},
		{"propagate_down", head + `layer { name: "a" type: "ReLU" bottom: "x" top: "y" propagate_down: true propagate_down: true }`,
			`propagate_down must be specified either 0 or 1 times`},
		{"too many values", head + `layer { name: "a" type: "Tile" bottom: "x" top: "y" tile_param { tiles: 400000000 } }`, tooMany},
		{"more values than can be counted", `layer { name: "a" type: "DummyData" top: "y" dummy_data_param { shape { dim: 2000000000 dim: 2000000000 dim: 2000000000 } } }`,
			`layer "a" (DummyData): top 0 of shape [2000000000 2000000000 2000000000] would have more than 2147483647 values`},
		{"an extent that is none", `layer { name: "a" type: "Input" top: "y" input_param { shape { dim: 4000000000 } } }`, `dim 0 of the shape is 4000000000`},
		{"too many params", head + `layer { name: "a" type: "ReLU" bottom: "x" top: "y" param { } }`,
			`too many params specified: 1 for a layer with 0 weight blobs`},
		{"shared shapes", head + `
			layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" } inner_product_param { num_output: 2 bias_term: false } }
			layer { name: "b" type: "InnerProduct" bottom: "t" top: "b" param { name: "w" } inner_product_param { num_output: 2 bias_term: false } }`,
			`cannot share param "w" owned by layer "a" with layer "b"; shape mismatch: the owner's shape is 2 3 (6), the sharing layer expects 2 4 (8)`},
		{"shared rates", head + `
			layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" lr_mult: 1 } inner_product_param { num_output: 2 bias_term: false } }
			layer { name: "b" type: "InnerProduct" bottom: "x" top: "b" param { name: "w" lr_mult: 2 } inner_product_param { num_output: 2 bias_term: false } }`,
			`shared param "w" has mismatched lr_mult: 2 here, 1 in layer "a"`},
		{"shared decay", head + `
			layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" decay_mult: 1 } inner_product_param { num_output: 2 bias_term: false } }
			layer { name: "b" type: "InnerProduct" bottom: "x" top: "b" param { name: "w" decay_mult: 2 } inner_product_param { num_output: 2 bias_term: false } }`,
			`shared param "w" has mismatched decay_mult: 2 here, 1 in layer "a"`},
		{"shared counts", head + `
			layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" } inner_product_param { num_output: 2 bias_term: false } }
			layer { name: "b" type: "InnerProduct" bottom: "t" top: "b" param { name: "w" share_mode: PERMISSIVE } inner_product_param { num_output: 2 bias_term: false } }`,
			`cannot share param "w" owned by layer "a" with layer "b"; count mismatch: the owner's shape is 2 3 (6), the sharing layer expects 2 4 (8)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := build(t, tt.net)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestPlanTooLargeForLDM: the error names the layer, the bytes requested and the bytes available.
func TestPlanTooLargeForLDM(t *testing.T) {
	p := parse(t, `
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 50000 } } }
		layer { name: "wide" type: "Softmax" bottom: "x" top: "y" }`)
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	spec.LDMBytes = 8 // less than one value of each array
	_, err = New(p, Options{State: MergeState(caffepb.Phase_TEST), Device: deviceOf(t, spec)})
	var ldm *cpe.LDMError
	if !errors.As(err, &ldm) || ldm.Have != 8 || ldm.Asked < 50000*4 {
		t.Fatalf("error %v is no LDM error with sensible figures", err)
	}
	for _, want := range []string{`layer "wide"`, "there are 8"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}

// needs lists for each layer whether it runs backward and which bottoms get gradients.
func needs(n *Net) string {
	var s strings.Builder
	for i := range n.NumLayers() {
		s.WriteString(n.LayerName(i) + ":")
		if n.NeedsBackward(i) {
			s.WriteString(" runs")
		}
		for j := range n.Bottoms(i) {
			s.WriteString(map[bool]string{true: " +", false: " -"}[n.Propagates(i, j)])
		}
		s.WriteString("\n")
	}
	return s.String()
}

func TestWhoNeedsBackward(t *testing.T) {
	const ip = `type: "InnerProduct" inner_product_param { num_output: 4 weight_filler { type: "xavier" } }`
	tests := []struct{ name, net, want string }{
		{"only what lies between a weight and a loss", head + `
			layer { name: "a" bottom: "x" top: "a" ` + ip + ` }
			layer { name: "b" bottom: "a" top: "b" ` + ip + ` }
			layer { name: "loss" type: "EuclideanLoss" bottom: "b" bottom: "t" top: "l" }
			`, "x:\na: runs -\nb: runs +\nloss: runs + -\n"},
		{"a branch without loss is left out", head + `
			layer { name: "a" bottom: "x" top: "a" ` + ip + ` }
			layer { name: "side" bottom: "a" top: "side" ` + ip + ` }
			layer { name: "loss" type: "EuclideanLoss" bottom: "a" bottom: "t" top: "l" }
			`, "x:\na: runs -\na_a_0_split: runs +\nside: -\nloss: runs + -\n"},
		{"frozen weights need none", head + `
			layer { name: "a" bottom: "x" top: "a" param { lr_mult: 0 } param { lr_mult: 0 } ` + ip + ` }
			layer { name: "b" bottom: "a" top: "b" ` + ip + ` }
			layer { name: "loss" type: "EuclideanLoss" bottom: "b" bottom: "t" top: "l" }
			`, "x:\na: -\nb: runs -\nloss: runs + -\n"},
		{"propagate_down: false stops there", head + `
			layer { name: "a" bottom: "x" top: "a" ` + ip + ` }
			layer { name: "b" bottom: "a" top: "b" propagate_down: false ` + ip + ` }
			layer { name: "loss" type: "EuclideanLoss" bottom: "b" bottom: "t" top: "l" }
			`, "x:\na: -\nb: runs -\nloss: runs + -\n"},
		{"force_backward reaches the data, not the labels", "force_backward: true" + head + `
			layer { name: "a" bottom: "x" top: "a" ` + ip + ` }
			layer { name: "s" type: "Slice" bottom: "t" top: "label" top: "rest" slice_param { axis: 1 slice_point: 1 } }
			layer { name: "loss" type: "SoftmaxWithLoss" bottom: "a" bottom: "label" top: "l" }
			`, "x:\na: runs +\ns: runs +\nloss: runs + -\n"},
	}
	for _, tt := range tests {
		n, err := build(t, tt.net)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := needs(n); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestNothingGiven: a layer of any type without parameters, on images or on labels, either builds or returns an error.
func TestNothingGiven(t *testing.T) {
	for _, kind := range layers.Types() {
		for _, bottom := range []string{"image", "label"} {
			text := fmt.Sprintf(`layer { name: "d" type: "Input" top: "image" top: "label"
				input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } shape { dim: 2 } } }
				layer { name: "l" type: %q`, kind.Name)
			for range kind.Bottoms.Min {
				text += fmt.Sprintf(" bottom: %q", bottom)
			}
			for i := range kind.Tops.Min {
				text += fmt.Sprintf(` top: "t%d"`, i)
			}
			if _, err := build(t, text+" }"); err != nil && !strings.Contains(err.Error(), fmt.Sprintf(`layer "l" (%s): `, kind.Name)) {
				t.Errorf("%s on %ss: %v", kind.Name, bottom, err)
			}
		}
	}
}

// TestSharedWeights: two layers with one weight add up their gradients, and a snapshot contains the weight twice.
func TestSharedWeights(t *testing.T) {
	n, err := build(t, head+`
		layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" } inner_product_param { num_output: 3 bias_term: false weight_filler { value: 0.5 } } }
		layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" param { name: "w" } inner_product_param { num_output: 3 bias_term: false } }
		layer { name: "loss" type: "Reduction" bottom: "b" top: "l" loss_weight: 2 }`)
	if err != nil && strings.Contains(err.Error(), "unknown layer type") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Learnable()) != 1 {
		t.Fatalf("%d learnable weights, want 1", len(n.Learnable()))
	}
	n.ClearParamDiffs()
	loss, err := n.ForwardBackward()
	if err != nil {
		t.Fatal(err)
	}
	// a = 1.5, b = 2.25 everywhere; 6 values, weight 2. d/dW(o,i) = 2 * (2*1.5 [as b] + 2*1.5*1 [as a]).
	if math.Abs(loss-27) > 1e-5 {
		t.Errorf("loss %g, want 27", loss)
	}
	for i, g := range n.Learnable()[0].Blob.Diff() {
		if math.Abs(float64(g)-12) > 1e-5 {
			t.Errorf("gradient %d is %g, want 12", i, g)
		}
	}
	blobs := 0
	for _, l := range n.ToProto(false).Layer {
		blobs += len(l.Blobs)
	}
	if blobs != 2 {
		t.Errorf("the snapshot has %d blobs, want 2", blobs)
	}
}

// TestGradientsStandInMemory: when Backward reports a layer complete, the placed memory holds its gradients, including those that are zero
// because nothing was added.
func TestGradientsStandInMemory(t *testing.T) {
	n, err := build(t, head+`
		layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 4 weight_filler { value: 0.5 } } }
		layer { name: "idle" type: "InnerProduct" bottom: "a" top: "i" inner_product_param { num_output: 2 } }
		layer { name: "loss" type: "EuclideanLoss" bottom: "a" bottom: "t" top: "l" }`)
	if err != nil {
		t.Fatal(err)
	}
	memory := map[string][][]float32{}
	for _, l := range n.Learnable() {
		diff := make([]float32, l.Blob.Count())
		l.Blob.Place(make([]float32, len(diff)), diff)
		memory[l.Layer] = append(memory[l.Layer], diff)
	}
	for range 2 {
		for _, diffs := range memory {
			for _, d := range diffs {
				vec.Fill(d, float32(math.NaN()))
			}
		}
		n.ClearParamDiffs()
		if _, err := n.Forward(); err != nil {
			t.Fatal(err)
		}
		told := 0
		if err := n.Backward(func(layer int) {
			told++
			// a = 1.5 everywhere and t = 1, so that da = 0.5 / 2; two items with x = 1.
			want := map[string]float32{"a": 0.5, "idle": 0}[n.LayerName(layer)]
			for i, d := range memory[n.LayerName(layer)] {
				if slices.ContainsFunc(d, func(v float32) bool { return v != want }) {
					t.Errorf("layer %q, weight %d: %v, want %g", n.LayerName(layer), i, d, want)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		if told != n.NumLayers() {
			t.Errorf("%d layers are told of, not %d", told, n.NumLayers())
		}
	}
}

func TestCopyWeights(t *testing.T) {
	const net = head + `layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }`
	from, err := build(t, net)
	if err != nil {
		t.Fatal(err)
	}
	to, err := build(t, net)
	if err != nil {
		t.Fatal(err)
	}
	saved := from.ToProto(false)
	if err := to.CopyWeights(saved); err != nil {
		t.Fatal(err)
	}
	for i, v := range from.Learnable()[0].Blob.Data() {
		if got := to.Learnable()[0].Blob.Data()[i]; got != v {
			t.Fatalf("weight %d is %g, want %g", i, got, v)
		}
	}
	ip := saved.Layer[1]
	ip.Blobs = ip.Blobs[:1]
	if err := to.CopyWeights(saved); err == nil || !strings.Contains(err.Error(), "the weights have 1, the layer has 2") {
		t.Errorf("error %v", err)
	}
	ip.Blobs = append(ip.Blobs, ip.Blobs[0])
	if err := to.CopyWeights(saved); err == nil || !strings.Contains(err.Error(), "shape mismatch: the weights' shape is 2 3, the layer's is 2 (2)") {
		t.Errorf("error %v", err)
	}
}

// TestSharersRates: a shared weight has the multipliers of whichever layer gives them, 1 by default. PERMISSIVE sharing requires only equal
// counts.
func TestSharersRates(t *testing.T) {
	for _, c := range []struct {
		owner, sharer string
		lr, decay     float32
	}{
		{"", "", 1, 1}, {"lr_mult: 2 decay_mult: 3", "", 2, 3}, {"", "lr_mult: 2 decay_mult: 3", 2, 3},
		{"lr_mult: 2", "decay_mult: 0", 2, 0}, {"lr_mult: 2 decay_mult: 0", "lr_mult: 2 decay_mult: 0", 2, 0},
	} {
		n, err := build(t, head+`
			layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" `+c.owner+` } inner_product_param { num_output: 4 bias_term: false } }
			layer { name: "b" type: "InnerProduct" bottom: "t" top: "b" param { name: "w" share_mode: PERMISSIVE `+c.sharer+` } inner_product_param { num_output: 3 bias_term: false } }`)
		if err != nil {
			t.Fatal(err)
		}
		all := n.Learnable()
		if len(all) != 1 || all[0].LRMult != c.lr || all[0].DecayMult != c.decay || all[0].Layer != "a" || !n.Params("b")[0].SharesData(all[0].Blob) {
			t.Errorf("%q and %q: %+v, want lr_mult %g and decay_mult %g", c.owner, c.sharer, all, c.lr, c.decay)
		}
	}
}

func TestOutputsAreSorted(t *testing.T) {
	n, err := build(t, head+`
		layer { name: "z" type: "ReLU" bottom: "x" top: "zeta" }
		layer { name: "a" type: "ReLU" bottom: "t" top: "alpha" loss_weight: 3 }`)
	if err != nil {
		t.Fatal(err)
	}
	outs := n.Outputs()
	if len(outs) != 2 || outs[0].Name != "alpha" || outs[1].Name != "zeta" || outs[0].LossWeight != 3 || outs[1].LossWeight != 0 {
		t.Errorf("outputs %v", outs)
	}
}

// TestSnapshotSaysLossWeight: a stored loss layer has the default loss_weight of 1; other layers have the prototxt's.
func TestSnapshotSaysLossWeight(t *testing.T) {
	n, err := build(t, head+`
		layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 4 } }
		layer { name: "p" type: "Power" bottom: "x" top: "p" loss_weight: 0.5 }
		layer { name: "loss" type: "EuclideanLoss" bottom: "a" bottom: "t" top: "l" }`)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range n.ToProto(false).Layer {
		want := map[string][]float32{"loss": {1}, "p": {0.5}}[l.GetName()]
		if !slices.Equal(l.LossWeight, want) {
			t.Errorf("layer %q is stored with loss_weight %v, want %v", l.GetName(), l.LossWeight, want)
		}
	}
}

// TestLossThatIsRead: if another layer reads a loss, only that layer gives it a gradient, unless loss_weight makes the loss count as well.
// For l = |a|^2/2 the gradient is a, times 2 through the Power layer, plus once more with the weight. If the reader has no gradient, the
// loss layer does not run backward, as in Caffe.
func TestLossThatIsRead(t *testing.T) {
	const form = `
		layer { name: "a" type: "Parameter" top: "a" parameter_param { shape { dim: 1 dim: 2 } } }
		layer { name: "t" type: "DummyData" top: "t" dummy_data_param { shape { dim: 1 dim: 2 } } }
		layer { name: "l" type: "EuclideanLoss" bottom: "a" bottom: "t" top: "l" WEIGHT }
		layer { name: "p" type: "Power" bottom: "l" top: "z" power_param { scale: 2 } loss_weight: 1 }`
	silent := strings.Replace(form, `type: "Power"`, `type: "Power" propagate_down: false`, 1)
	for _, tt := range []struct {
		name, net string
		times     float32
	}{
		{"by default", strings.Replace(form, "WEIGHT", "", 1), 2},
		{"with a weight", strings.Replace(form, "WEIGHT", "loss_weight: 1", 1), 3},
		{"not passed down", strings.Replace(silent, "WEIGHT", "", 1), 0},
	} {
		for _, economise := range []bool{false, true} {
			p := parse(t, tt.net)
			n, err := New(p, Options{State: MergeState(caffepb.Phase_TRAIN), Device: device(t), Economise: economise})
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			a := n.Learnable()[0].Blob
			copy(a.Data(), []float32{1, 3})
			for range 2 {
				n.ClearParamDiffs()
				if _, err := n.ForwardBackward(); err != nil {
					t.Fatal(err)
				}
				if want := []float32{tt.times, 3 * tt.times}; !slices.Equal(a.Diff(), want) {
					t.Errorf("%s, economise %v: gradient %v, want %v", tt.name, economise, a.Diff(), want)
				}
			}
		}
	}
}

// TestWhatSpoiledTheLoss: the report names the origin of the first non-finite loss, however many such Forwards follow. After a finite loss,
// the next failure is reported with its own origin.
func TestWhatSpoiledTheLoss(t *testing.T) {
	n, err := build(t, head+`
layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 5 weight_filler { value: 0.1 } } }
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: 4 weight_filler { value: 0.1 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "b" bottom: "t" top: "loss" }`)
	if err != nil {
		t.Fatal(err)
	}
	weights := func(layer string) []float32 { return n.named[layer][0].Params()[0].Data() }
	inf := float32(math.Inf(1))
	for i, step := range []struct {
		layer string
		value float32
		want  string
	}{
		{"b", nan, `layer "b" (InnerProduct): weight blob 0 holds NaN at index 7`},
		{"a", inf, `layer "b" (InnerProduct): weight blob 0 holds NaN at index 7`},
		{"b", 1, `layer "b" (InnerProduct): weight blob 0 holds NaN at index 7`},
		{"a", 1, ""},
		{"a", inf, `layer "a" (InnerProduct): weight blob 0 holds +Inf at index 7`},
	} {
		weights(step.layer)[7] = step.value
		if _, err := n.Forward(); err != nil {
			t.Fatal(err)
		}
		if got := n.FirstNonFinite(); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}
