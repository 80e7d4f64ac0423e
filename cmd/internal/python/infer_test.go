package python

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

const deployNet = `
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 16 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "bn" }
layer { name: "relu" type: "ReLU" bottom: "bn" top: "bn" }`

// openText opens a net for phase TEST.
func openText(t *testing.T, text string) (*netReply, *Net) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "net.prototxt")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := openNet(netRequest{File: file, Phase: int32(caffepb.Phase_TEST)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := find[*Net](r.Handle)
	if err != nil {
		t.Fatal(err)
	}
	return r, n
}

// TestInferenceEconomises: a net for inference economises as long as Python looks at inputs and outputs alone, and keeps its blobs from the
// first look at a hidden one.
func TestInferenceEconomises(t *testing.T) {
	r, n := openText(t, deployNet)
	forward := func(want bool) {
		t.Helper()
		if _, err := Forward(r.Handle, 0, 3); err != nil || n.net.Economises() != want {
			t.Fatalf("the net economises: %t, want %t; error %v", n.net.Economises(), want, err)
		}
	}
	look := func(h Handle) View {
		t.Helper()
		v, err := Look(h, false)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	forward(true)
	defer Forget(look(r.Blobs[0]).Address)
	defer Forget(look(r.Blobs[2]).Address)
	forward(true)
	before := n.net.BlobAt(1).Data()[0]
	Forget(look(r.Blobs[1]).Address)
	if n.net.BlobAt(1).Data()[0] == before && before != 0 {
		t.Error("the hidden blob was not computed")
	}
	forward(false)

	r, n = openText(t, deployNet)
	weights := look(r.Layers[1].Blobs[0])
	forward(false)
	Forget(weights.Address)
	forward(true)
}

// TestInferable: nets that Python may run backward or whose runs cannot be repeated keep their blobs.
func TestInferable(t *testing.T) {
	for what, text := range map[string]string{
		"force_backward":       "force_backward: true" + deployNet,
		"debug_info":           "debug_info: true" + deployNet,
		"an input overwritten": strings.Replace(deployNet, `layer { name: "conv"`, `layer { name: "r" type: "ReLU" bottom: "data" top: "data" } layer { name: "conv"`, 1),
		"random data":          strings.Replace(deployNet, `type: "Input" top: "data" input_param {`, `type: "DummyData" top: "data" dummy_data_param { data_filler { type: "gaussian" }`, 1),
		"a loss":               deployNet + `layer { name: "l" type: "Reduction" bottom: "bn" top: "l" loss_weight: 1 }`,
		"running statistics":   strings.Replace(deployNet, `"BatchNorm"`, `"BatchNorm" batch_norm_param { use_global_stats: false }`, 1),
		"weights that change":  deployNet + `layer { name: "ip" type: "InnerProduct" bottom: "bn" top: "p" inner_product_param { num_output: 2 normalize: true } }`,
	} {
		if _, n := openText(t, text); n.infers() || n.net.Economises() {
			t.Errorf("%s: the net economises", what)
		}
	}
	for what, text := range map[string]string{
		"layers of forks":    deployNet + `layer { name: "h" type: "HardSwish" bottom: "bn" top: "h" } layer { name: "m" type: "Mish" bottom: "h" top: "m" } layer { name: "n" type: "Noise" bottom: "m" top: "n" noise_param { gaussian_std: 1 } }`,
		"a constant":         deployNet + `layer { name: "d" type: "DummyData" top: "d" dummy_data_param { shape { dim: 16 } data_filler { value: 2 } } } layer { name: "s" type: "Scale" bottom: "bn" bottom: "d" top: "s" }`,
		"stochastic pooling": deployNet + `layer { name: "p" type: "Pooling" bottom: "bn" top: "p" pooling_param { pool: STOCHASTIC kernel_size: 2 } }`,
	} {
		if _, n := openText(t, text); !n.infers() || !n.net.Economises() {
			t.Errorf("%s: the net does not economise", what)
		}
	}
}
