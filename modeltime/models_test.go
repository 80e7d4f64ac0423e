package modeltime

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// model reads a net of the tree or of the benchmark nets; the test is skipped where it is not.
func model(t *testing.T, path string) *swproto.Net {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no net %s", path)
	}
	n, err := swproto.ReadNet(path)
	if err != nil {
		t.Fatal(err)
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

// TestModelsFit: all layers of the tree's large nets and of the benchmark nets run within the LDM of a CPE, whosever kernels they are.
func TestModelsFit(t *testing.T) {
	var paths []string
	for _, name := range []string{"alexnet", "alexnet_bn", "caffenet", "googlenet", "resnet18", "resnet50", "vgg16", "vgg19"} {
		paths = append(paths, filepath.Join("../models", name, "train_val.prototxt"))
	}
	for _, name := range []string{"cifar10_quick", "lenet"} {
		paths = append(paths, filepath.Join("../../shared/bench/nets", name+".prototxt"))
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			net := model(t, path)
			for _, software := range []string{"swcaffe", "swcaffe-2018"} {
				o := withSoftware(t, software)
				o.Batch = 8
				r, err := Run(net, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range r.Layers {
					for _, d := range []*Direction{l.Forward, l.WeightGradient, l.InputGradient} {
						if d != nil && d.LDMPeak > o.Spec.LDMBytes {
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
			net := model(t, filepath.Join("../../shared/bench/nets", name+".prototxt"))
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
	if plain := run(t, text, without); plain.Layers[1].Forward.ModelledMs >= r.Layers[1].Forward.ModelledMs {
		t.Errorf("a bias on the MPE costs nothing: %g and %g ms", r.Layers[1].Forward.ModelledMs, plain.Layers[1].Forward.ModelledMs)
	}
}
