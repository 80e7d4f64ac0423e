package modeltime

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// images are the shapes of what small nets read from databases, which the tests do not make; those of large ones follow from crop_size.
var images = map[string][]int64{"lenet": {1, 28, 28}, "cifar10_quick": {3, 32, 32}}

// model reads a net of the zoo. Databases are replaced by constant images of the same shape.
func model(t *testing.T, name string) *swproto.Net {
	t.Helper()
	n, err := swproto.ReadNet(filepath.Join("../models", name, "train_val.prototxt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range n.Param.Layer {
		if shape := images[name]; shape != nil && l.GetType() == "Data" {
			l.Type, l.DataParam, l.TransformParam = proto.String("DummyData"), nil, nil
			l.DummyDataParam = &caffepb.DummyDataParameter{
				Shape:      []*caffepb.BlobShape{{Dim: append([]int64{1}, shape...)}, {Dim: []int64{1}}},
				DataFiller: []*caffepb.FillerParameter{{Value: proto.Float32(0.5)}, {Value: proto.Float32(1)}},
			}
		}
	}
	return n
}

// withSoftware are the options for a published program, or our own.
func withSoftware(t *testing.T, name string) Options {
	t.Helper()
	o := options(t)
	var err error
	if o.Spec, err = o.Spec.WithSoftware(name); err != nil {
		t.Fatal(err)
	}
	return o
}

// modelled is an iteration of a net with somebody's kernels, and the bytes that each layer's directions must move.
type modelled struct {
	spec   cpe.Spec
	report *Report
	least  map[string][3]float64
}

// modelledOnce keeps what eightImages has run, by net and software.
var modelledOnce = map[[2]string]*modelled{}

// eightImages runs a net of the zoo with eight images, unless an earlier test has: several tests look at the same report. Without bare, it runs on
// all curves of the machine's bandwidth.
func eightImages(t *testing.T, name, software string, bare bool) *modelled {
	t.Helper()
	key := [2]string{name, software}
	if m := modelledOnce[key]; m != nil {
		return m
	}
	o, m := withSoftware(t, software), &modelled{least: map[string][3]float64{}}
	o.Batch, o.Bare = 8, bare
	o.Built = func(n *swnet.Net) error {
		for i := range n.NumLayers() {
			m.least[n.LayerName(i)] = compulsory(n, i)
		}
		return nil
	}
	var err error
	if m.report, err = Run(model(t, name), o); err != nil {
		t.Fatal(err)
	}
	m.spec = o.Spec
	modelledOnce[key] = m
	return m
}

// TestModelsFit: all layers of every net of the zoo for images run within the LDM of a CPE, whosever kernels they are.
func TestModelsFit(t *testing.T) {
	if racing.Detector {
		t.Skip("its goroutines, one for each curve of bandwidth, are those of TestRanges")
	}
	for _, name := range []string{"alexnet", "alexnet_bn", "caffenet", "cifar10_quick", "googlenet", "lenet", "resnet18", "resnet50", "vgg16", "vgg19"} {
		t.Run(name, func(t *testing.T) {
			for _, software := range []string{"swcaffe", "swcaffe-2018"} {
				m := eightImages(t, name, software, false)
				for _, l := range m.report.Layers {
					for _, d := range []*Direction{l.Forward, l.WeightGradient, l.InputGradient} {
						if d != nil && d.LDMPeak > m.spec.LDMBytes {
							t.Errorf("%s, %s takes %d bytes of LDM", software, l.Name, d.LDMPeak)
						}
					}
				}
			}
		})
	}
}

// TestModelsInBothModes: small nets report the same figures functionally and charging costs alone.
func TestModelsInBothModes(t *testing.T) {
	for _, name := range []string{"lenet", "cifar10_quick"} {
		t.Run(name, func(t *testing.T) {
			net := model(t, name)
			for _, software := range cpe.Softwares() {
				var out [2]string
				for i, mode := range []cpe.Mode{cpe.CostOnly, cpe.Functional} {
					o := withSoftware(t, software)
					o.Mode, o.Batch = mode, 2
					r, err := Run(net, o)
					if err != nil {
						t.Fatal(err)
					}
					r.Mode = ""
					text, err := json.Marshal(r)
					if err != nil {
						t.Fatal(err)
					}
					out[i] = string(text)
				}
				if out[0] != out[1] {
					t.Errorf("%s: cost only\n%s\nfunctional\n%s", software, out[0], out[1])
				}
			}
		})
	}
}

// TestLeftToMPE: with the software of 2018 batch normalisation takes as long as its passes take an MPE of every core group, and a
// convolution's bias is added to what the CPEs take.
func TestLeftToMPE(t *testing.T) {
	const text = `
layer { name: "data" type: "DummyData" top: "data" dummy_data_param { shape { dim: 8 dim: 4 dim: 10 dim: 10 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 16 kernel_size: 3 pad: 1 } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "bn" }
layer { name: "loss" type: "Reduction" bottom: "bn" top: "loss" loss_weight: 1 }
`
	o := withSoftware(t, "swcaffe-2018")
	r := run(t, text, o)
	bytes := 4 * 8 * 16 * 100 / float64(o.Spec.CoreGroups)
	bn := r.Layers[2]
	if want := o.Spec.MPETime(0, 12*bytes).Milliseconds(); bn.Forward.ModelledMs != want || bn.Forward.Bound != "mpe" {
		t.Errorf("forward %+v, want %g ms", bn.Forward, want)
	}
	if want := o.Spec.MPETime(0, 17*bytes).Milliseconds(); bn.InputGradient.ModelledMs != want {
		t.Errorf("backward %+v, want %g ms", bn.InputGradient, want)
	}
	without := o
	var err error
	if without.Spec, err = o.Spec.Without("mpe"); err != nil {
		t.Fatal(err)
	}
	conv, plain := r.Layers[1], run(t, text, without).Layers[1]
	const ps = 1e-9 // ms
	array := o.Spec.MPETime(0, bytes).Milliseconds()
	if got, want := conv.Forward.ModelledMs, plain.Forward.ModelledMs+2*array; math.Abs(got-want) > ps {
		t.Errorf("forward with a bias %g ms, want %g", got, want)
	}
	if got, want := conv.WeightGradient.ModelledMs, plain.WeightGradient.ModelledMs+array; math.Abs(got-want) > ps {
		t.Errorf("weights' and bias's gradient %g ms, want %g", got, want)
	}
	scale := run(t, strings.Replace(text, `"BatchNorm"`, `"Scale" scale_param { bias_term: true }`, 1), o).Layers[2]
	for i, d := range []*Direction{scale.Forward, scale.WeightGradient, scale.InputGradient} {
		if want := float64([]int{6, 5, 2}[i]) * array; math.Abs(d.ModelledMs-want) > 6*ps { // six times the rounding of one
			t.Errorf("scale, direction %d: %g ms, want %g", i, d.ModelledMs, want)
		}
	}
}

// TestLeftToMPEByArrays: a sum takes three accesses a bottom and value, a split that sums gradients as many for each top but two, beside what
// the CPEs do.
func TestLeftToMPEByArrays(t *testing.T) {
	const text = `
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 8 dim: 16 dim: 10 dim: 10 } } }
layer { name: "ip" type: "Convolution" bottom: "data" top: "x" convolution_param { num_output: 16 kernel_size: 1 bias_term: false } }
layer { name: "relu1" type: "ReLU" bottom: "x" top: "a" }
layer { name: "relu2" type: "ReLU" bottom: "x" top: "b" }
layer { name: "sum" type: "Eltwise" bottom: "a" bottom: "b" bottom: "x" top: "sum" }
layer { name: "split" type: "Split" bottom: "sum" top: "s1" top: "s2" top: "s3" top: "s4" }
layer { name: "loss" type: "Reduction" bottom: "s1" top: "l1" loss_weight: 1 }
layer { name: "loss2" type: "Reduction" bottom: "s2" top: "l2" loss_weight: 1 }
layer { name: "loss3" type: "Reduction" bottom: "s3" top: "l3" loss_weight: 1 }
layer { name: "loss4" type: "Reduction" bottom: "s4" top: "l4" loss_weight: 1 }
`
	o := withSoftware(t, "swcaffe-2018")
	without := o
	var err error
	if without.Spec, err = o.Spec.Without("mpe"); err != nil {
		t.Fatal(err)
	}
	const ps = 1e-9 // ms
	array := 3 * 4 * 8 * 16 * 100 / float64(o.Spec.CoreGroups) / o.Spec.MPE.CopyGBps / 1e6
	with, plain := layersByName(run(t, text, o)), layersByName(run(t, text, without))
	if got := with["sum"].Forward.ModelledMs; math.Abs(got-3*array) > ps {
		t.Errorf("the sum takes %g ms, want %g", got, 3*array)
	}
	if got, want := with["split"].BackwardMs(), plain["split"].BackwardMs()+2*array; math.Abs(got-want) > ps {
		t.Errorf("the split takes %g ms, want %g", got, want)
	}
	for _, name := range []string{"ip", "relu1", "x_ip_0_split"} { // no bias; the CPEs'; three tops
		got, want := with[name].BackwardMs(), plain[name].BackwardMs()
		if name == "x_ip_0_split" {
			want += array
		}
		if math.Abs(got-want) > ps {
			t.Errorf("%s takes %g ms backward, want %g", name, got, want)
		}
	}
}

func layersByName(r *Report) map[string]*Layer {
	m := map[string]*Layer{}
	for i := range r.Layers {
		m[r.Layers[i].Name] = &r.Layers[i]
	}
	return m
}

// TestLogOf2017 holds the loops of which cycles are known against the lines of the log that give them, and LRN's other line: one core group,
// seconds, within 1 %. The log's other lines are compared in cpe/validation.
func TestLogOf2017(t *testing.T) {
	for _, c := range []struct {
		layer             string
		shape             string
		forward, backward float64
	}{
		{`type: "LRN" lrn_param { local_size: 5 alpha: 1e-4 beta: 0.75 }`, "dim: 128 dim: 64 dim: 56 dim: 56", 4.17211, 4.7545},
		{`type: "LRN" lrn_param { local_size: 5 alpha: 1e-4 beta: 0.75 }`, "dim: 128 dim: 192 dim: 56 dim: 56", 12.5919, 14.2339},
		{`type: "Dropout"`, "dim: 256 dim: 4096", 42.938e-3, 10.78e-3},
	} {
		o := withSoftware(t, "swcaffe-2018")
		o.Spec.CoreGroups = 1
		l := run(t, `
force_backward: true
layer { name: "data" type: "Input" top: "data" input_param { shape { `+c.shape+` } } }
layer { name: "l" bottom: "data" top: "top" `+c.layer+` }
layer { name: "loss" type: "Reduction" bottom: "top" top: "loss" loss_weight: 1 }
`, o).Layers[1]
		for _, d := range []struct{ got, want float64 }{{l.Forward.ModelledMs, c.forward}, {l.BackwardMs(), c.backward}} {
			if math.Abs(d.got/1e3/d.want-1) > 0.01 {
				t.Errorf("%s of %s: %g s, want %g", c.layer, c.shape, d.got/1e3, d.want)
			}
		}
	}
}
