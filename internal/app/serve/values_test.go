package serve

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/predict"
	"github.com/swcaffe/swcaffe/proto/inferencepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// words, selected and judged are nets whose layers do not take every value. A Reshape that fits no number of items behind a Filter is refused as late as a value.
const (
	words = `layer { name: "i" type: "Input" top: "word" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "e" type: "Embed" bottom: "word" top: "e" embed_param { input_dim: 4 num_output: 2 bias_term: false } }`
	selected = `layer { name: "i" type: "Input" top: "x" top: "s" input_param { shape { dim: 4 dim: 2 } shape { dim: 4 } } }
layer { name: "f" type: "Filter" bottom: "x" bottom: "s" top: "f" }
layer { name: "r" type: "Reshape" bottom: "f" top: "r" reshape_param { shape { dim: -1 dim: 4 } } }`
	judged = `layer { name: "i" type: "Input" top: "x" top: "label" input_param { shape { dim: 1 dim: 3 } shape { dim: 1 } } }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "x" bottom: "label" top: "l" }`
)

// TestWrongValues: values that a layer does not take are an error of the request, which names the layer and no file.
func TestWrongValues(t *testing.T) {
	cfg, _ := serving(t, map[string]string{"regions": regions, "words": words, "selected": selected, "judged": judged})
	s, url := run(t, cfg)
	client := dial(t, s.GRPC())
	for _, c := range []struct {
		model, want string
		in          []predict.Array
	}{
		{"regions", `model "regions": layer "l" (ROIPooling): region 1 is of image 3, but there are 1 images`,
			[]predict.Array{counting("x", 0, 1, 2, 8, 8), filled("rois", []int{2, 5}, 0, 0, 0, 7, 7, 3, 0, 0, 7, 7)}},
		{"words", `model "words": layer "e" (Embed): index 9 of element 1 is no integer from 0 to 3 (input_dim 4)`, []predict.Array{filled("word", []int{1, 3}, 0, 9, 1)}},
		{"words", `items 2 to 2 of 3, counted from 0: model "words": layer "e" (Embed): index 4 of element 2 is no`, []predict.Array{filled("word", []int{3, 3}, 0, 1, 1, 0, 0, 0, 0, 0, 4)}},
		{"selected", `model "selected": layer "r" (Reshape): bottom count (2) must be divisible`, []predict.Array{counting("x", 0, 4, 2), filled("s", []int{4}, 0, 0, 1, 0)}},
		{"judged", `model "judged": layer "l" (SoftmaxWithLoss): label 3 of item 0 is out of range`, []predict.Array{counting("x", 0, 1, 3), filled("label", []int{1}, 3)}},
	} {
		code, _, body := call(t, "POST", url+"/v2/models/"+c.model+"/infer", inputsOf(c.in...))
		if text := strings.ReplaceAll(string(body), `\"`, `"`); code != http.StatusBadRequest || !strings.Contains(text, c.want) || strings.Contains(text, ".prototxt") {
			t.Errorf("status %d: %s, want %s", code, text, c.want)
		}
		r := &inferencepb.ModelInferRequest{ModelName: c.model}
		for _, a := range c.in {
			in := &inferencepb.ModelInferRequest_InferInputTensor{Name: a.Name, Datatype: "FP32", Contents: &inferencepb.InferTensorContents{Fp32Contents: a.Values}}
			for _, n := range a.Shape {
				in.Shape = append(in.Shape, int64(n))
			}
			r.Inputs = append(r.Inputs, in)
		}
		if _, err := infer(t.Context(), client, r); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), ".prototxt") {
			t.Errorf("gRPC: %v, want %s", err, c.want)
		}
	}
}

// TestWrongValuesBesideOthers: values that a layer does not take end their own request alone, not those that share its run.
func TestWrongValuesBesideOthers(t *testing.T) {
	cfg, _ := serving(t, map[string]string{"words": words})
	cfg.Delay = 50 * time.Millisecond
	_, url := run(t, cfg)
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			word, want := float32(i%4), http.StatusOK
			if i == 3 {
				word, want = 7, http.StatusBadRequest
			}
			code, _, body := call(t, "POST", url+"/v2/models/words/infer", inputsOf(filled("word", []int{1, 3}, 0, 1, word)))
			if code != want || i == 3 && !strings.Contains(string(body), "index 7 of element 2 ") {
				t.Errorf("request %d: status %d: %s", i, code, body)
			}
		})
	}
	clients.Wait()
}

// TestUnable: what a model cannot answer is said without its file's name.
func TestUnable(t *testing.T) {
	cfg, _ := serving(t, map[string]string{"words": words, "small": small, "regions": regions})
	_, url := run(t, cfg)
	for _, c := range []struct{ call, want string }{
		{"words/classify", `model \"words\": the input is 2 3`}, {"regions/classify", `model \"regions\" has 2 inputs`}, {"small/detect", `model \"small\" has no DetectionOutput layer`},
	} {
		if code, _, body := call(t, "POST", url+"/v2/models/"+c.call, picture(4, 5)); code != 400 || !strings.Contains(string(body), c.want) || strings.Contains(string(body), ".prototxt") {
			t.Errorf("%s: status %d: %s, want %s", c.call, code, body, c.want)
		}
	}
}
