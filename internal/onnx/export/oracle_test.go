package export

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// differences compares the outputs of an oracle with the net's.
func differences(n *swnet.Net, got map[string]*onnxtest.Tensor) (all []string) {
	for _, out := range n.Outputs() {
		v := got[out.Name]
		if v == nil {
			v = got[out.Name+"_2"] // an input that is also an output
		}
		if v == nil {
			all = append(all, fmt.Sprintf("no output %q", out.Name))
		} else if !slices.Equal(v.Dims, out.Blob.Shape()) {
			all = append(all, fmt.Sprintf("output %q has shape %v, the blob %v", out.Name, v.Dims, out.Blob.Shape()))
		} else if at := worst(v.Data, out.Blob.Data()); at >= 0 {
			all = append(all, fmt.Sprintf("value %d of %q is %g, the blob's %g", at, out.Name, v.Data[at], out.Blob.Data()[at]))
		}
	}
	return all
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

// compute runs a case's net, and its model in an oracle. err is the oracle's refusal.
func compute(t *testing.T, o *onnxtest.Oracle, c *onnxtest.Case, net *caffepb.NetParameter, opt Options) (n *swnet.Net, got map[string]*onnxtest.Tensor, err error) {
	t.Helper()
	n = onnxtest.Build(t, net) // a net of its own, since recurrent layers keep states
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
	got, err = o.Run(t, r.Model, inputs)
	return n, got, err
}

// caseVersions has the options that every case is exported with.
func caseVersions() []Options {
	all := []Options{{Opset: MinOpset}, {Opset: 17, Fold: true}, {Opset: 18}, {Opset: MaxOpset}}
	if testing.Short() {
		return all[1:3]
	}
	return all
}

// againstOracle exports every model and, with cases, every case.
func againstOracle(t *testing.T, variable string, maxOpset int, cases bool, refused func(name, why string) bool) {
	o := onnxtest.StartOracle(t, variable)
	check := func(name string, c *onnxtest.Case, net *caffepb.NetParameter, opt Options) {
		t.Run(fmt.Sprintf("%s/opset%d", name, opt.Opset), func(t *testing.T) {
			n, got, err := compute(t, o, c, net, opt)
			switch {
			case err != nil && refused(name, err.Error()):
				t.Logf("refused: %v", err)
			case err != nil:
				t.Error(err)
			case len(got) > 0:
				for _, d := range differences(n, got) {
					t.Error(d)
				}
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
	for _, c := range onnxtest.Cases(7) {
		for _, opt := range caseVersions() {
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

// misreadBy returns the layers that the table of docs/onnx.md says an OpenCV reads wrong without a word.
func misreadBy(t *testing.T, version string) string {
	doc, err := os.ReadFile("../../../docs/onnx.md")
	if err != nil {
		t.Fatal(err)
	}
	var layers []string
	for line := range strings.Lines(string(doc)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 && strings.TrimSpace(cells[1]) == version && strings.Contains(cells[3], "without a word") {
			layers = append(layers, cells[2])
		}
	}
	if len(layers) == 0 {
		t.Fatalf("docs/onnx.md has no row of OpenCV %s", version)
	}
	return strings.Join(layers, ",")
}

// TestOpenCVCases runs every layer case in Debian's OpenCV, 4.6: it reads a model right or refuses it. The layers that it reads wrong are those
// that docs/onnx.md names, and each of these has such a case.
func TestOpenCVCases(t *testing.T) {
	o := onnxtest.StartOracle(t, "SWCAFFE_ONNX_OPENCV")
	named := misreadBy(t, "4.6")
	word := regexp.MustCompile(`[A-Za-z0-9]+`)
	right, refused, wrong := 0, 0, map[string]bool{}
	for _, c := range onnxtest.Cases(7) {
		kind, _, _ := strings.Cut(c.Name, "/")
		for _, opt := range caseVersions() {
			n, got, err := compute(t, o, &c, onnxtest.Parse(t, c.Net), opt)
			if err != nil {
				refused++
				continue
			}
			for _, out := range n.Outputs() { // OpenCV's arrays have two axes at least
				if v := got[out.Name]; v != nil && out.Blob.NumAxes() == 1 && len(v.Dims) == 2 && v.Dims[1] == 1 {
					v.Dims = v.Dims[:1]
				}
			}
			switch d := differences(n, got); {
			case len(d) == 0:
				right++
			case slices.Contains(word.FindAllString(named, -1), kind):
				wrong[kind] = true
			default:
				t.Errorf("%s, opset %d: OpenCV 4.6 reads other values without a word, and docs/onnx.md does not name %s: %v", c.Name, opt.Opset, kind, d)
			}
		}
	}
	t.Logf("%d right, %d refused, wrong as documented: %v", right, refused, wrong)
	if right < 2*refused {
		t.Errorf("%d right, %d refused: the test covers too little", right, refused)
	}
	for kind := range rules {
		if slices.Contains(word.FindAllString(named, -1), kind) && !wrong[kind] {
			t.Errorf("docs/onnx.md says that OpenCV 4.6 reads %s wrong, and no case is", kind)
		}
	}
}
