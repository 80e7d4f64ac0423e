package export

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// checkOutputs compares the outputs of an oracle with the net's.
func checkOutputs(t *testing.T, n *swnet.Net, got map[string]*onnxtest.Tensor) {
	t.Helper()
	for _, out := range n.Outputs() {
		v := got[out.Name]
		if v == nil {
			v = got[out.Name+"_2"] // an input that is also an output
		}
		if v == nil {
			t.Errorf("no output %q", out.Name)
		} else if !slices.Equal(v.Dims, out.Blob.Shape()) {
			t.Errorf("output %q has shape %v, the blob %v", out.Name, v.Dims, out.Blob.Shape())
		} else if at := worst(v.Data, out.Blob.Data()); at >= 0 {
			t.Errorf("value %d of %q is %g, the blob's %g", at, out.Name, v.Data[at], out.Blob.Data()[at])
		}
	}
}

// exported removes the layers that the export refuses in detectors, the size of the image, which only Proposal reads, and the layers behind them.
// Their bottoms become outputs.
func exported(p *caffepb.NetParameter) {
	removed := map[string]bool{}
	p.Layer = slices.DeleteFunc(p.Layer, func(l *caffepb.LayerParameter) bool {
		remove := slices.Contains([]string{"DetectionOutput", "Proposal", "DummyData"}, l.GetType()) ||
			slices.ContainsFunc(l.Bottom, func(b string) bool { return removed[b] })
		for _, top := range l.Top {
			removed[top] = removed[top] || remove
		}
		return remove
	})
}

// modelsOf returns the deploy nets of the zoo, for batches of two, or with -short the nets of small images for single ones.
func modelsOf(t *testing.T) map[string]*caffepb.NetParameter {
	files, err := filepath.Glob("../../../models/*/deploy.prototxt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	nets := map[string]*caffepb.NetParameter{}
	for _, file := range files {
		n, err := swproto.ReadNet(file)
		if err != nil {
			t.Fatal(err)
		}
		name, batch, values := filepath.Base(filepath.Dir(file)), int64(2), int64(0)
		if testing.Short() {
			batch = 1
		}
		for _, l := range n.Param.GetLayer() {
			for _, s := range l.GetInputParam().GetShape() {
				if s.Dim[0] > batch {
					s.Dim[0] = batch
				}
				if name == "fcn" {
					s.Dim[2], s.Dim[3] = 64, 80
				}
				image := int64(1)
				for _, d := range s.Dim[1:] {
					image *= d
				}
				values = max(values, image)
			}
		}
		if exported(n.Param); !testing.Short() || values <= 3*32*32 {
			nets[name] = n.Param
		}
	}
	return nets
}

// againstOracle exports every model and, with cases, every case.
func againstOracle(t *testing.T, variable string, maxOpset int, cases bool, refused func(name, why string) bool) {
	o := onnxtest.StartOracle(t, variable)
	check := func(name string, c *onnxtest.Case, net *caffepb.NetParameter, opt Options) {
		t.Run(fmt.Sprintf("%s/opset%d", name, opt.Opset), func(t *testing.T) {
			n := onnxtest.Build(t, net) // a net of its own, since recurrent layers keep states
			if c.Net != "" {
				onnxtest.FillWeights(n, 1)
			}
			opt.Net = recorded(n.ToProto(false))
			r, err := Net(n, opt)
			if err != nil {
				t.Fatal(err)
			}
			inputs := onnxtest.FillInputs(n, c, 4)
			if _, err := n.Forward(); err != nil {
				t.Fatal(err)
			}
			got, err := o.Run(t, r.Model, inputs)
			switch {
			case err != nil && refused(name, err.Error()):
				t.Logf("refused: %v", err)
			case err != nil:
				t.Error(err)
			case len(got) > 0:
				checkOutputs(t, n, got)
			}
		})
	}
	for name, net := range modelsOf(t) {
		c := onnxtest.Case{Indices: map[string]int{"cont": 2}}
		if name == "char_rnn" {
			c.Indices["input"] = 90
		}
		for _, fold := range []bool{false, true} {
			check(fmt.Sprintf("%s/fold=%v", name, fold), &c, net, Options{Opset: MinOpset, Fold: fold})
		}
	}
	if !cases {
		return
	}
	versions := []Options{{Opset: MinOpset}, {Opset: 17, Fold: true}, {Opset: 18}, {Opset: MaxOpset}}
	if testing.Short() {
		versions = versions[1:3]
	}
	for _, c := range onnxtest.Cases(7) {
		for _, opt := range versions {
			if opt.Opset <= maxOpset {
				check(c.Name, &c, onnxtest.Parse(t, c.Net), opt)
			}
		}
	}
}

func never(string, string) bool { return false }

// TestRuntime compares with ONNX Runtime, which has the pooling of regions only for opsets up to 21.
func TestRuntime(t *testing.T) {
	againstOracle(t, "SWCAFFE_ONNX_RUNTIME", MaxOpset, true, func(name, why string) bool {
		return strings.HasPrefix(name, "ROI") && strings.Contains(why, "Could not find an implementation for") && strings.Contains(why, "(22)")
	})
}

// TestChecker runs ONNX's own checker, which computes nothing. The release in Debian, 1.12, knows opsets up to 17.
func TestChecker(t *testing.T) { againstOracle(t, "SWCAFFE_ONNX_CHECKER", 17, true, never) }

// TestOpenCV compares the models with OpenCV. Its reader of ONNX, in 4.6, has no Scan, takes the bounds of a Clip as attributes alone, and
// gives no constant as an output (mobilenet_ssd's prior boxes).
func TestOpenCV(t *testing.T) {
	reasons := map[string]string{"char_rnn": "", "cifar10_mobilenet_v2": "parseClip", "mobilenet_ssd": "Requested blob not found"}
	againstOracle(t, "SWCAFFE_ONNX_OPENCV", MinOpset, false, func(name, why string) bool {
		model, _, _ := strings.Cut(name, "/")
		reason, known := reasons[model]
		return known && strings.Contains(why, reason)
	})
}
