package modeltime

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

const small = `
layer { name: "data" type: "Data" top: "data" top: "label" transform_param { crop_size: 11 }
  data_param { source: "nowhere" batch_size: 4 backend: LMDB } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  convolution_param { num_output: 16 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "scale" type: "Scale" bottom: "conv1" top: "scale" scale_param { bias_term: true } }
layer { name: "conv2" type: "Convolution" bottom: "scale" top: "conv2"
  convolution_param { num_output: 8 kernel_size: 3 stride: 2 weight_filler { type: "xavier" } } param { lr_mult: 0 } param { lr_mult: 0 } }
layer { name: "pool" type: "Pooling" bottom: "conv2" top: "pool" pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
`

func readNet(t *testing.T, text string) *swproto.Net {
	t.Helper()
	path := filepath.Join(t.TempDir(), "net.prototxt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := swproto.ReadNet(path)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func options(t *testing.T) Options {
	t.Helper()
	s, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Spec: s, Mode: cpe.CostOnly, State: swnet.MergeState(caffepb.Phase_TRAIN)}
}

func run(t *testing.T, text string, o Options) *Report {
	t.Helper()
	r, err := Run(readNet(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDirections: the first convolution has no input gradient, one with frozen weights none of the weights; data that cannot
// be read is stood in for; the totals are the sums of the layers.
func TestDirections(t *testing.T) {
	o := options(t)
	o.Batch = 7
	r := run(t, small, o)
	if r.Batch != 7 || r.CoreGroups != 4 || r.Mode != "cost" || r.Machine != "sw26010" {
		t.Errorf("%+v", r)
	}
	want := map[string][3]bool{ // forward, weights, input
		"data": {}, "conv1": {true, true, false}, "scale": {true, true, true}, "conv2": {true, false, true},
		"pool": {true, false, true}, "ip": {true, true, true}, "loss": {true, false, true},
	}
	forward, backward := 0.0, 0.0
	for _, l := range r.Layers {
		got := [3]bool{l.Forward != nil, l.WeightGradient != nil, l.InputGradient != nil}
		if got != want[l.Name] {
			t.Errorf("%s has directions %v, want %v", l.Name, got, want[l.Name])
		}
		if l.Forward != nil {
			forward += l.Forward.ModelledMs
		}
		backward += l.BackwardMs()
	}
	total := r.Total
	if total.ForwardMs != forward || total.BackwardMs != backward || total.IterationMs != forward+backward+total.UpdateMs {
		t.Errorf("totals %+v, sums %g and %g", total, forward, backward)
	}
	if want := 7000 / total.IterationMs; math.Abs(total.Images/want-1) > 1e-12 {
		t.Errorf("%g images/s, want %g", total.Images, want)
	}
	values := int64(3*121 + 1 + 2*16*121 + 8*25 + 8*9 + 5) // of an image
	if total.ActivationBytes != 8*(7*values+1) {
		t.Errorf("activations take %d bytes, want %d", total.ActivationBytes, 8*(7*values+1))
	}
	weights := int64(16*27 + 16 + 2*16 + 8*144 + 8 + 5*8*3*3 + 5)
	if total.ParameterBytes != 12*weights {
		t.Errorf("parameters take %d bytes, want %d", total.ParameterBytes, 12*weights)
	}
}

// TestFlopsAreCounted: a convolution charges two flops a multiply-add in every direction and strategy, whatever the machine.
func TestFlopsAreCounted(t *testing.T) {
	const batch = 4
	want := 2.0 * batch * 16 * 27 * 11 * 11
	for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit} {
		o := options(t)
		o.Force.Family = st
		l := run(t, small, o).Layers[1]
		flops := l.Forward.GFlops * l.Forward.ModelledMs * 1e6
		// The implicit strategy leaves out what meets padding, and shuffles its arrays.
		if flops < want*0.8 || flops > want*1.2 {
			t.Errorf("%v: %.0f flops, want about %.0f", st, flops, want)
		}
		if l.Forward.Strategy != st.String() {
			t.Errorf("strategy %s, want %v", l.Forward.Strategy, st)
		}
	}
}

// TestPeakShare: a rate's share is that of all core groups' peak, 4 x 742.4 GFLOP/s.
func TestPeakShare(t *testing.T) {
	for _, l := range run(t, small, options(t)).Layers {
		for _, d := range []*Direction{l.Forward, l.WeightGradient, l.InputGradient} {
			if d != nil && math.Abs(d.PeakShare-d.GFlops/2969.6) > 1e-12 {
				t.Errorf("%s: %g GFLOP/s are %g of the peak", l.Name, d.GFlops, d.PeakShare)
			}
		}
	}
}

// TestModesAgree: functional and cost-only runs report the same figures, at any GOMAXPROCS and with any seed, on machines with
// a mesh and on those whose cores share a memory. Neither needs the data.
func TestModesAgree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range cpe.Names() {
		if name == "host" {
			continue
		}
		spec, err := cpe.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		var first string
		for i, mode := range []cpe.Mode{cpe.CostOnly, cpe.Functional, cpe.CostOnly} {
			runtime.GOMAXPROCS(1 + i%2)
			o := options(t)
			o.Spec, o.Mode, o.Seed = spec, mode, uint64(i)
			r := run(t, small, o)
			r.Mode = ""
			out, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(out)
			}
			if string(out) != first {
				t.Errorf("%s, %v:\n%s\nfirst:\n%s", name, mode, out, first)
			}
		}
	}
}

// TestObjectsOfDetectors: nets that learn or test detection run with values too, without the data. Training reports the same figures in both
// modes; a test's depend on the number of detections.
func TestObjectsOfDetectors(t *testing.T) {
	const detector = `
layer { name: "data" type: "AnnotatedData" top: "data" top: "label" data_param { source: "nowhere" batch_size: 3 }
  transform_param { resize_param { resize_mode: WARP height: 8 width: 8 } } annotated_data_param { batch_sampler { } } }
layer { name: "loc" type: "Convolution" bottom: "data" top: "loc" convolution_param { num_output: 4 kernel_size: 8 weight_filler { type: "xavier" } } }
layer { name: "loc_flat" type: "Flatten" bottom: "loc" top: "loc_flat" }
layer { name: "conf" type: "Convolution" bottom: "data" top: "conf" convolution_param { num_output: 3 kernel_size: 8 weight_filler { type: "xavier" } } }
layer { name: "conf_flat" type: "Flatten" bottom: "conf" top: "conf_flat" }
layer { name: "prior" type: "PriorBox" bottom: "loc" bottom: "data" top: "prior" prior_box_param { min_size: 4 } }
layer { name: "loss" type: "MultiBoxLoss" bottom: "loc_flat" bottom: "conf_flat" bottom: "prior" bottom: "label" top: "loss"
  include { phase: TRAIN } propagate_down: [true, true, false, false] multibox_loss_param { num_classes: 3 } }
layer { name: "out" type: "DetectionOutput" bottom: "loc_flat" bottom: "conf_flat" bottom: "prior" top: "out"
  include { phase: TEST } detection_output_param { num_classes: 3 nms_param { top_k: 4 } } }
layer { name: "eval" type: "DetectionEvaluate" bottom: "out" bottom: "label" top: "eval"
  include { phase: TEST } detection_evaluate_param { num_classes: 3 } }
`
	for _, phase := range []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST} {
		var totals [2]Total
		for i, mode := range []cpe.Mode{cpe.CostOnly, cpe.Functional} {
			o := options(t)
			o.Mode, o.State = mode, swnet.MergeState(phase)
			totals[i] = run(t, detector, o).Total
		}
		if phase == caffepb.Phase_TRAIN && !reflect.DeepEqual(totals[0], totals[1]) {
			t.Errorf("%v: cost only %+v, functional %+v", phase, totals[0], totals[1])
		}
	}
}

// TestErrorsNameTheLayer: a plan that does not fit LDM says which layer wanted how much.
func TestErrorsNameTheLayer(t *testing.T) {
	o := options(t)
	o.Spec.LDMBytes = 16
	_, err := Run(readNet(t, small), o)
	if err == nil || !strings.Contains(err.Error(), `"conv1"`) || !strings.Contains(err.Error(), "there are 16") {
		t.Errorf("error %v, want one that names conv1 and 16 bytes", err)
	}
}

// TestUpdate: weights, gradients and momentum are read and written once, all core groups at the 26.4 GB/s that one of them gets of DMA, by one
// kernel, whose threads are started.
func TestUpdate(t *testing.T) {
	r := run(t, `
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 2048 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 4096 bias_term: false } }
layer { name: "loss" type: "Reduction" bottom: "ip" top: "loss" loss_weight: 1 }
`, options(t))
	want := 6*4*2048*4096/(4*26.4e6) + 0.028
	if got := r.Total.UpdateMs; math.Abs(got/want-1) > 0.03 {
		t.Errorf("the update takes %g ms, want about %g", got, want)
	}
}
