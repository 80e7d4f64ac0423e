package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/predict"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/proto/inferencepb"
)

// Nets whose inputs differ on axis 0, or have other things than items there.
const (
	scaled = `layer { name: "i" type: "Input" top: "x" top: "w" input_param { shape { dim: 2 dim: 3 } shape { dim: 3 } } }
layer { name: "l" type: "Scale" bottom: "x" bottom: "w" top: "h" scale_param { axis: 1 } }`
	regions = `layer { name: "i" type: "Input" top: "x" top: "rois" input_param { shape { dim: 1 dim: 2 dim: 8 dim: 8 } shape { dim: 1 dim: 5 } } }
layer { name: "l" type: "ROIPooling" bottom: "x" bottom: "rois" top: "p" roi_pooling_param { pooled_w: 2 pooled_h: 2 spatial_scale: 1 } }`
	captions = `layer { name: "i" type: "Input" top: "x" top: "c" top: "st" input_param { shape { dim: 4 dim: 2 dim: 3 } shape { dim: 4 dim: 2 } shape { dim: 2 dim: 3 } } }
layer { name: "l" type: "LSTM" bottom: "x" bottom: "c" bottom: "st" top: "h" recurrent_param { num_output: 4 weight_filler { type: "constant" value: 0.3 } } }`
	summed = `layer { name: "i" type: "Input" top: "x" top: "y" input_param { shape { dim: 4 dim: 3 } } }
layer { name: "l" type: "Eltwise" bottom: "x" bottom: "y" top: "s" }`
)

func init() {
	layers.Register(layers.Type{
		Name: "Unplannable", New: func(_ *caffepb.LayerParameter, d *layers.Device) layers.Layer { return unplannable{device: d} },
		Couples: layers.Always(layers.Moves, "turns the batch around"), Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// unplannable is a layer that only the reference path takes.
type unplannable struct {
	breaking
	device *layers.Device
}

func (u unplannable) SetUp(_, _ []*blob.Blob) error {
	if u.device.Engine == layers.MPE {
		return nil
	}
	return errors.New("no kernel turns a batch around")
}

// serving returns the configuration of models with these nets, and their nets as a function that runs them in package predict.
func serving(t *testing.T, nets map[string]string) (cfg Config, alone func(name string, in ...predict.Array) predict.Array) {
	t.Helper()
	cfg = config(t)
	cfg.Models = nil
	sessions := map[string]*predict.Session{}
	for name, net := range nets {
		path := filepath.Join(t.TempDir(), "deploy.prototxt")
		write(t, path, net)
		o := predict.Options{Net: path}
		cfg.Models = append(cfg.Models, Source{Name: name, Version: "1", Options: o})
		m, err := loader(1)(o)
		if err != nil {
			t.Fatal(err)
		}
		if sessions[name], err = m.NewSession(1); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { sessions[name].Close() })
	}
	slices.SortFunc(cfg.Models, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return cfg, func(name string, in ...predict.Array) predict.Array {
		t.Helper()
		outs, err := sessions[name].Run(t.Context(), in...)
		if err != nil {
			t.Fatal(err)
		}
		return predict.Array{Name: outs[0].Name, Shape: slices.Clone(outs[0].Shape), Values: slices.Clone(outs[0].Values)}
	}
}

// counting is an input of small integers from first on.
func counting(name string, first int, shape ...int) predict.Array {
	a := predict.Array{Name: name, Shape: shape, Values: make([]float32, blob.CountOf(shape...))}
	for i := range a.Values {
		a.Values[i] = float32((first + i) % 7)
	}
	return a
}

// filled is an input of given values.
func filled(name string, shape []int, values ...float32) predict.Array {
	return predict.Array{Name: name, Shape: shape, Values: values}
}

// inputsOf is the request with the inputs.
func inputsOf(in ...predict.Array) []byte {
	var list []any
	for _, a := range in {
		list = append(list, map[string]any{"name": a.Name, "datatype": "FP32", "shape": a.Shape, "data": a.Values})
	}
	b, _ := json.Marshal(map[string]any{"inputs": list})
	return b
}

// TestInputsThatDiffer: nets whose inputs have other things than items on axis 0 are served one request at a time, with the shapes that it gives, and metadata says which extents may be others.
func TestInputsThatDiffer(t *testing.T) {
	cfg, alone := serving(t, map[string]string{"scaled": scaled, "regions": regions, "captions": captions, "summed": summed, "square": strings.Replace(scaled, "dim: 2", "dim: 3", 1)})
	cfg.Delay = 5 * time.Millisecond
	s, url := run(t, cfg)
	connection := dial(t, s.GRPC())
	for name, want := range map[string][]any{
		"scaled": {true, "x", -1, 3, "w", 3, "h", -1, 3}, "square": {true, "x", -1, 3, "w", 3, "h", -1, 3}, "regions": {true, "x", -1, 2, 8, 8, "rois", -1, 5, "p", -1, 2, 2, 2},
		"captions": {true, "x", -1, 2, 3, "c", -1, 2, "st", 2, 3, "h", -1, 2, 4}, "summed": {true, "x", -1, 3, "y", -1, 3, "s", -1, 3},
	} {
		var d description
		_, _, body := call(t, "GET", url+"/v2/models/"+name, nil)
		if err := json.Unmarshal(body, &d); err != nil {
			t.Fatal(err)
		}
		got := []any{s.isVersionReady(name, "1")}
		for _, p := range slices.Concat(d.Inputs, d.Outputs) {
			got = append(got, p.Name)
			for _, n := range p.Shape {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		r, err := invoke[inferencepb.ModelMetadataResponse](t.Context(), connection, "ModelMetadata", &inferencepb.ModelMetadataRequest{Name: name})
		if err != nil || fmt.Sprint(r.Inputs[1].Shape) != fmt.Sprint(d.Inputs[1].Shape) {
			t.Errorf("%s over gRPC: %v, %v", name, r, err)
		}
		if joins := s.repository.models[name].serving["1"].joins; joins != (name == "summed") {
			t.Errorf("%s: requests share runs: %v", name, joins)
		}
	}
	var clients sync.WaitGroup
	for i := range 12 {
		for name, in := range map[string][]predict.Array{
			"scaled":   {counting("x", i, 1+i, 3), counting("w", i, 3)},
			"square":   {counting("w", i, 3), counting("x", i, 1+i, 3)},
			"regions":  {counting("x", i, 1, 2, 8, 8), filled("rois", []int{2, 5}, 0, 0, 0, 7, 7, 0, float32(i%4), 2, 5, 5)},
			"captions": {counting("x", i, 1+i, 2, 3), {Name: "c", Shape: []int{1 + i, 2}, Values: make([]float32, 2+2*i)}, counting("st", i, 2, 3)},
			"summed":   {counting("x", i, 1+i, 3), counting("y", 2*i, 1+i, 3)},
		} {
			want := alone(name, in...)
			clients.Go(func() {
				status, h, body := call(t, "POST", url+"/v2/models/"+name+"/infer", inputsOf(in...))
				if status != 200 {
					t.Errorf("%s, request %d: status %d: %s", name, i, status, body)
				} else if shape, got := outputOf(t, h, body); !slices.Equal(shape, want.Shape) || !near(got, want.Values) {
					t.Errorf("%s, request %d: %v of shape %v, want %v of %v", name, i, got, shape, want.Values, want.Shape)
				}
			})
		}
	}
	clients.Wait()
	one := inputsOf(filled("x", []int{2, 3}, 1, 2, 3, 4, 5, 6), filled("w", []int{3}, 1, 10, 100))
	_, h, body := call(t, "POST", url+"/v2/models/scaled/infer", one)
	if shape, got := outputOf(t, h, body); !slices.Equal(shape, []int{2, 3}) || !slices.Equal(got, []float32{1, 20, 300, 4, 50, 600}) {
		t.Errorf("scaled: %v of shape %v", got, shape)
	}
	pixels := make([]float32, 128)
	for i := range pixels {
		pixels[i] = float32(i + 1)
	}
	_, h, body = call(t, "POST", url+"/v2/models/regions/infer", inputsOf(filled("x", []int{1, 2, 8, 8}, pixels...), filled("rois", []int{2, 5}, 0, 0, 0, 7, 7, 0, 2, 2, 5, 5)))
	if _, got := outputOf(t, h, body); !slices.Equal(got, []float32{28, 32, 60, 64, 92, 96, 124, 128, 28, 30, 44, 46, 92, 94, 108, 110}) {
		t.Errorf("two regions of an image: %v", got)
	}
}

// TestInputsThatDoNotFit: shapes that a net cannot be planned for are errors of the request that name the inputs and the layer, and no file.
func TestInputsThatDoNotFit(t *testing.T) {
	cfg, _ := serving(t, map[string]string{"scaled": scaled, "captions": captions, "summed": summed})
	_, url := run(t, cfg)
	for _, c := range []struct {
		name   string
		in     []predict.Array
		reason string
	}{
		{"scaled", []predict.Array{counting("x", 0, 2, 3), counting("w", 0, 4)}, `inputs \"x\" [2 3], \"w\" [4]: layer \"l\" (Scale): dimension mismatch`},
		{"scaled", []predict.Array{counting("x", 0, 2, 4), counting("w", 0, 3)}, `input \"x\" has shape [2 4], model \"scaled\" takes [-1 3]`},
		{"scaled", []predict.Array{counting("x", 0, 2, 3), counting("w", 0, 3, 1)}, `model \"scaled\" takes [3]`},
		{"scaled", []predict.Array{counting("x", 0, 2, 3), counting("w", 0, 0)}, `at least one item`},
		{"captions", []predict.Array{counting("x", 0, 4, 2, 3), counting("c", 0, 3, 2), counting("st", 0, 2, 3)}, `layer \"l\" (LSTM): bottom[1]`},
		{"summed", []predict.Array{counting("x", 0, 2, 3), counting("y", 0, 4, 3)}, `input \"y\" has 4 items on axis 0, input \"x\" has 2`},
	} {
		status, _, body := call(t, "POST", url+"/v2/models/"+c.name+"/infer", inputsOf(c.in...))
		if status != 400 || !strings.Contains(string(body), c.reason) || strings.Contains(string(body), ".prototxt") {
			t.Errorf("%s: status %d, want %s: %s", c.name, status, c.reason, body)
		}
	}
	if status, _, body := call(t, "POST", url+"/v2/models/scaled/infer", inputsOf(counting("x", 0, 2, 3), counting("w", 0, 3))); status != 200 {
		t.Errorf("afterwards: status %d: %s", status, body)
	}
}

// TestStatedShapesBeyondBatch: the prototxt's own shape is taken where more items than a run may have are refused.
func TestStatedShapesBeyondBatch(t *testing.T) {
	cfg, _ := serving(t, map[string]string{"m": `layer { name: "i" type: "Input" top: "x" input_param { shape { dim: 20 dim: 2 } } }
layer { name: "l" type: "Reduction" bottom: "x" top: "s" }`})
	_, url := run(t, cfg)
	x := counting("x", 0, 20, 2)
	var sum float32
	for _, v := range x.Values {
		sum += v
	}
	_, h, body := call(t, "POST", url+"/v2/models/m/infer", inputsOf(x))
	if _, got := outputOf(t, h, body); !slices.Equal(got, []float32{sum}) {
		t.Errorf("20 rows: %v, want %v", got, sum)
	}
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", inputsOf(counting("x", 0, 21, 2))); status != 400 || !strings.Contains(string(body), "at most 20 at once") {
		t.Errorf("21 rows: status %d: %s", status, body)
	}
}

// TestUnplannable: a model whose own shapes cannot be planned is not ready, and the error of loading says why; the other models are served.
func TestUnplannable(t *testing.T) {
	cfg, _ := serving(t, map[string]string{"good": scaled})
	for name, net := range map[string]string{"fork": strings.Replace(scaled, "shape { dim: 3 }", "shape { dim: 4 }", 1), "turn": strings.Replace(small, `"Softmax"`, `"Unplannable"`, 1)} {
		path := filepath.Join(t.TempDir(), "deploy.prototxt")
		write(t, path, net)
		cfg.Models = append(cfg.Models, Source{Name: name, Version: "1", Options: predict.Options{Net: path}})
	}
	s, url := run(t, cfg)
	err := s.Load()
	for name, why := range map[string]string{"fork": `layer "l" (Scale): dimension mismatch`, "turn": `layer "prob" (Unplannable): no kernel turns a batch around`} {
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: loading gives %v, want %s", name, err, why)
		}
		if status, _, body := call(t, "GET", url+"/v2/models/"+name+"/ready", nil); status != 503 {
			t.Errorf("%s: ready has status %d: %s", name, status, body)
		}
		if status, _, body := call(t, "GET", url+"/v2/models/"+name, nil); status != 404 || !strings.Contains(string(body), `has no version that is ready"}`) {
			t.Errorf("%s: status %d: %s", name, status, body)
		}
		if status, _, body := call(t, "GET", url+"/v2/models/"+name+"/versions/1", nil); status != 404 || !strings.Contains(string(body), `has no version 1 ready; none is ready"}`) {
			t.Errorf("%s: status %d: %s", name, status, body)
		}
	}
	if _, _, body := call(t, "GET", url+"/v2/models/good/versions/3", nil); !strings.Contains(string(body), `has no version 3 ready; ready are 1"}`) {
		t.Errorf("another version: %s", body)
	}
	if !s.isVersionReady("good", "1") {
		t.Error("the good one is not ready")
	}
}

// TestNoLists: nets without outputs, and outputs without axes, have lists without elements in answers, not null.
func TestNoLists(t *testing.T) {
	const input = `layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 2 } } }
`
	cfg, _ := serving(t, map[string]string{"one": small, "sum": input + `layer { name: "sum" type: "Reduction" bottom: "data" top: "sum" }`})
	path := filepath.Join(t.TempDir(), "deploy.prototxt")
	write(t, path, input+`layer { name: "none" type: "Silence" bottom: "data" }`)
	cfg.Models = append(cfg.Models, Source{Name: "none", Version: "1", Options: predict.Options{Net: path}})
	_, url := run(t, cfg)
	for path, want := range map[string]string{"GET none": `"outputs":[]`, "POST none/infer": `"outputs":[]`, "GET sum": `"shape":[]`, "POST sum/infer": `"shape":[],"data":[3]`} {
		method, path, _ := strings.Cut(path, " ")
		status, _, body := call(t, method, url+"/v2/models/"+path, inputsOf(filled("data", []int{1, 2}, 1, 2)))
		if status != 200 || !strings.Contains(string(body), want) || strings.Contains(string(body), "null") {
			t.Errorf("%s: status %d: %s, want %s", path, status, body, want)
		}
	}
	if _, _, body := call(t, "GET", url+"/models", nil); strings.Contains(string(body), "null") {
		t.Errorf("models: %s", body)
	}
}
