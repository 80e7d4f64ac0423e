package serve

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// detector is a net with a map of two cells, each of which finds an object with a score of 0.75 around its prior box of 8 x 8 pixels.
const detector = `layer { name: "x" type: "Input" top: "data" input_param { shape { dim: [2, 3, 20, 40] } } transform_param { mean_value: 10 scale: 0.1 } }
layer { name: "codes" type: "InnerProduct" bottom: "data" top: "codes" inner_product_param { num_output: 8 } }
layer { name: "scores" type: "InnerProduct" bottom: "data" top: "scores" inner_product_param { num_output: 4 bias_filler { value: 0.75 } } }
layer { name: "map" type: "Pooling" bottom: "data" top: "map" pooling_param { kernel_size: 20 stride: 20 } }
layer { name: "prior" type: "PriorBox" bottom: "map" bottom: "data" top: "prior" prior_box_param { min_size: 8 } }
layer { name: "out" type: "DetectionOutput" bottom: "codes" bottom: "scores" bottom: "prior" top: "out" detection_output_param { num_classes: 2 confidence_threshold: 0.1 } }`

// object is one of an answer.
type object struct {
	Class                  int
	Label                  string
	Score                  float32
	XMin, YMin, XMax, YMax float32
}

// TestDetect: boxes are in pixels of the image of their request, whatever else asks at the same time.
func TestDetect(t *testing.T) {
	cfg := config(t)
	path, labels := filepath.Join(t.TempDir(), "d.prototxt"), filepath.Join(t.TempDir(), "map.prototxt")
	write(t, path, detector)
	write(t, labels, `item { name: "none" label: 0 } item { name: "n2" label: 1 display_name: "cat" }`)
	cfg.Models[0].Options.Net, cfg.Models[0].Options.Labels = path, labels
	_, url := run(t, cfg)
	var clients sync.WaitGroup
	for i := range 8 {
		scale := 1 + i%2 // the image is as large as the net's input, or twice
		clients.Go(func() {
			_, _, body := call(t, "PUT", url+"/v2/models/m/detect?threshold=0.7", picture(20*scale, 40*scale))
			var got struct {
				Height, Width int
				Objects       []object
			}
			if err := json.Unmarshal(body, &got); err != nil || got.Height != 20*scale || got.Width != 40*scale || len(got.Objects) != 2 {
				t.Errorf("%v: %s", err, body)
				return
			}
			slices.SortFunc(got.Objects, func(a, b object) int { return int(a.XMin - b.XMin) })
			for k, o := range got.Objects {
				want := [4]float32{float32((6 + 20*k) * scale), float32(6 * scale), float32((14 + 20*k) * scale), float32(14 * scale)}
				if o.Class != 1 || o.Label != "cat" || o.Score != 0.75 || !near([]float32{o.XMin, o.YMin, o.XMax, o.YMax}, want[:]) {
					t.Errorf("object %d: %v, want %v", k, o, want)
				}
			}
		})
	}
	clients.Wait()
	if _, _, body := call(t, "PUT", url+"/v2/models/m/detect?threshold=0.8", picture(20, 40)); !strings.Contains(string(body), `"objects":[]`) {
		t.Errorf("a threshold above all scores: %s", body)
	}
	if _, _, body := call(t, "GET", url+"/v2/models/m", nil); !strings.Contains(string(body), `"outputs":[{"name":"out","datatype":"FP32","shape":[1,1,-1,7]}]`) {
		t.Errorf("metadata: %s", body)
	}
	if status, _, body := call(t, "PUT", url+"/v2/models/m/detect?treshold=0.8", picture(20, 40)); status != 400 || !strings.Contains(string(body), `did you mean \"threshold\"? (parameters: threshold)`) {
		t.Errorf("a parameter that is none: status %d: %s", status, body)
	}
	if status, _, body := call(t, "PUT", url+"/v2/models/m/classify", picture(20, 40)); status != 400 {
		t.Errorf("classify: status %d: %s", status, body)
	}
}
