package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"maps"
	"math"
	"os"
	"testing"
)

// orientationFiles are what TestOrientations needs beside photographs. The net has random weights for each pixel, so that its scores differ with each orientation.
var orientationFiles = map[string]string{
	"solver.prototxt": `net: "test.prototxt" base_lr: 0 lr_policy: "fixed" max_iter: 1 snapshot_prefix: "n" random_seed: 1`,
	"test.prototxt": `layer { name: "data" type: "ImageData" top: "data" top: "label" image_data_param { source: "list.txt" batch_size: 8 new_height: 6 new_width: 6 } transform_param { scale: 0.01 } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "scores" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "silence" type: "Silence" bottom: "label" }`,
	"deploy.prototxt": `layer { name: "data" type: "Input" top: "data" input_param { shape { dim: [3, 3, 6, 6] } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "scores" inner_product_param { num_output: 5 } }`,
	"boxes.prototxt": `layer { name: "data" type: "Input" top: "data" input_param { shape { dim: [1, 3, 8, 8] } } }
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool" pooling_param { pool: AVE global_pooling: true } }
layer { name: "heads" type: "Convolution" bottom: "pool" top: "heads" convolution_param { num_output: 6 kernel_size: 1 }
  blobs { shape { dim: [6, 3, 1, 1] } data: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] } blobs { shape { dim: 6 } data: [1, 1, 1, 1, 1, 1] } }
layer { name: "found" type: "Yolov3DetectionOutput" bottom: "heads" top: "found" yolov3_detection_output_param { num_classes: 1 num_box: 1 mask_group_num: 1 mask: 0 anchors_scale: 30 biases: [2, 2] } }`,
}

// photograph returns a JPEG of 32 x 20 pixels with an orientation of Exif.
func photograph(t *testing.T, orientation int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 32, 20))
	for y := range 20 {
		for x := range 32 {
			m.Set(x, y, color.RGBA{byte(8 * x), byte(12 * y), byte(255 - 4*x - 5*y), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(orientation)) + "\x00\x00\x00\x00\x00\x00"
	return append([]byte("\xff\xd8"+exif), b.Bytes()[2:]...)
}

// TestOrientations: classify has the scores of test for photographs of all orientations, and detect's boxes have the size of the upright picture.
func TestOrientations(t *testing.T) {
	t.Chdir(t.TempDir())
	files, list, names := maps.Clone(orientationFiles), "", ""
	for o := 1; o <= 8; o++ {
		name := fmt.Sprintf("%d.jpg", o)
		files[name] = string(photograph(t, o))
		list, names = list+name+" 0\n", names+" "+name
	}
	files["list.txt"] = list
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runJSON(t, "train -solver solver.prototxt", 0)

	var tested struct {
		Outputs []struct {
			Index int
			Mean  float64
		}
	}
	decodeJSON(t, runJSON(t, "test -model test.prototxt -weights n_iter_1.caffemodel -iterations 1 -json -", 0), &tested)
	var classified []struct {
		Image       string
		Predictions []struct {
			Class int
			Score float64
		}
	}
	decodeJSON(t, runJSON(t, "classify deploy.prototxt n_iter_1.caffemodel test.prototxt none"+names+" -json -", 0), &classified)
	if len(tested.Outputs) != 40 || len(classified) != 8 {
		t.Fatalf("%d scores of test, %d images of classify", len(tested.Outputs), len(classified))
	}
	distinct := map[float64]bool{}
	for k, im := range classified {
		for _, p := range im.Predictions {
			want := tested.Outputs[5*k+p.Class].Mean
			if math.Abs(p.Score-want) > 1e-4*math.Abs(want) {
				t.Errorf("%s, class %d: classify has %g, test %g", im.Image, p.Class, p.Score, want)
			}
		}
		distinct[tested.Outputs[5*k].Mean] = true
	}
	if len(distinct) != 8 {
		t.Errorf("the orientations have %d scores only: the photographs do not tell them apart", len(distinct))
	}

	var detected []struct {
		Image         string
		Height, Width int
		Detections    []struct{ Box [4]float64 }
	}
	decodeJSON(t, runJSON(t, "detect -model boxes.prototxt -weights n_iter_1.caffemodel"+names+" -json -", 0), &detected)
	for k, im := range detected {
		height, width := 20, 32
		if k+1 >= 5 {
			height, width = width, height
		}
		if im.Height != height || im.Width != width || len(im.Detections) == 0 {
			t.Errorf("%s: detect says height %d, width %d and %d boxes; upright it has height %d and width %d", im.Image, im.Height, im.Width, len(im.Detections), height, width)
		}
		for _, d := range im.Detections {
			if d.Box[2] > float64(width) || d.Box[3] > float64(height) {
				t.Errorf("%s: the box %v is not within width %d and height %d", im.Image, d.Box, width, height)
			}
		}
	}
}

func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
