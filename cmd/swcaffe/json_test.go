package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/glog"
)

// jsonLines are command lines whose -json files have, together, every field of docs/json.md. The first word may be !, for a run that
// fails: its file is written all the same.
var jsonLines = []string{
	"version", "device_query -machine sw26010", "doctor -cluster",
	"! check -phase TRAIN faulty.prototxt deploy.prototxt", "! check none.prototxt", "check images.prototxt",
	"test -model net.prototxt -weights n_iter_1.caffemodel -iterations 2", "test -model detections.prototxt -weights n_iter_1.caffemodel -iterations 1 -eval_type detection",
	"classify deploy.prototxt n_iter_1.caffemodel none none image.png",
	"verify -model net.prototxt",
	"! image_info image.png net.prototxt",
	"detect -model yolo.prototxt -weights n_iter_1.caffemodel image.png",
	"parse_log run.log",
	"time -model conv.prototxt -iterations 1", "time -model conv.prototxt -dry_run", "time -model conv.prototxt -machine sw26010 -heatmap mesh.svg -layer conv",
	"time -model conv.prototxt -cores 8 -processor epyc9654",
	"explore -model conv.prototxt -vary ldm_kb=32,64",
	"bandwidth -machine sw26010 -bytes 256 -cpes 64", "bandwidth -cluster taihulight -bytes 256",
	"scale -model net.prototxt -nodes 1,2", "allreduce -cluster taihulight -nodes 2", "lr_find -solver solver.prototxt -iterations 10",
}

// jsonFiles are what these need.
var jsonFiles = map[string]string{
	"net.prototxt": `layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: [2, 3] } shape { dim: [2, 4] } data_filler { value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }`,
	"deploy.prototxt": `input: "data" input_dim: [1, 1, 3, 1]
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "y" inner_product_param { num_output: 4 } }`,
	"conv.prototxt": `name: "c" layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: [2, 32, 16, 16] } shape { dim: [2, 32, 8, 8] } data_filler { value: 1 } } }
layer { name: "conv" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "conv2" type: "Convolution" bottom: "y" top: "z" convolution_param { num_output: 32 kernel_size: 1 stride: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "t" top: "l" }`,
	"yolo.prototxt": `layer { name: "data" type: "Input" top: "data" input_param { shape { dim: [1, 3, 8, 8] } } }
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool" pooling_param { pool: AVE global_pooling: true } }
layer { name: "heads" type: "Convolution" bottom: "pool" top: "heads" convolution_param { num_output: 6 kernel_size: 1 }
  blobs { shape { dim: [6, 3, 1, 1] } data: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] } blobs { shape { dim: 6 } data: [1, 1, 1, 1, 1, 1] } }
layer { name: "found" type: "Yolov3DetectionOutput" bottom: "heads" top: "found" yolov3_detection_output_param { num_classes: 1 num_box: 1 mask_group_num: 1 mask: 0 anchors_scale: 30 biases: [2, 2] } }`,
	"images.prototxt": `layer { name: "x" type: "ImageData" top: "x" top: "t" image_data_param { source: "images.txt" batch_size: 1 } }`,
	"images.txt":      "image.png 0\n",
	"faulty.prototxt": `layer { name: "r" type: "RelU" bottom: "x" top: "y" }`,
	"detections.prototxt": `layer { name: "d" type: "DummyData" top: "d" top: "t" dummy_data_param { shape { dim: [1, 1, 1, 7] } shape { dim: [1, 1, 1, 8] } data_filler { value: 1 } data_filler { value: 1 } } }
layer { name: "e" type: "DetectionEvaluate" bottom: "d" bottom: "t" top: "e" detection_evaluate_param { num_classes: 3 background_label_id: 0 } }`,
	"solver.prototxt": `net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 1 snapshot_prefix: "n" random_seed: 1`,
	"run.log": `I1120 12:00:00.000000     1 solver.go:1] Solving net
I1120 12:00:01.000000     1 solver.go:1] Iteration 0, loss = 2.5
I1120 12:00:01.000000     1 solver.go:1]     Train net output #0: l = 2.5 (* 1 = 2.5 loss)
I1120 12:00:01.000000     1 solver.go:1] Iteration 0, lr = 0.01
I1120 12:00:02.000000     1 solver.go:1] Iteration 0, Testing net (#0)
I1120 12:00:02.000000     1 solver.go:1]     Test net output #0: accuracy = 0.5
`,
}

// TestJSON: standard output has one JSON value and nothing else, and the fields are those of docs/json.md, with their types.
func TestJSON(t *testing.T) {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := documentedFields(string(text))
	t.Chdir(t.TempDir())
	for name, text := range jsonFiles {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 3))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("image.png", picture.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	runJSON(t, "train -solver solver.prototxt", 0)
	got := map[string]map[string]string{}
	for _, line := range jsonLines {
		code := 0
		if rest, fails := strings.CutPrefix(line, "! "); fails {
			line, code = rest, 1
		}
		name, _, _ := strings.Cut(line, " ")
		in := json.NewDecoder(strings.NewReader(runJSON(t, line+" -json -", code)))
		var value any
		if err := in.Decode(&value); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if _, err := in.Token(); err != io.EOF {
			t.Errorf("%s: more than JSON on standard output", line)
		}
		if got[name] == nil {
			got[name] = map[string]string{}
		}
		fieldsOf(value, "", got[name])
	}
	for name, fields := range got {
		if want := expected(documented[name], fields); !maps.Equal(fields, want) {
			t.Errorf("%s has\n%s\ndocs/json.md has\n%s", name, table(fields), table(documented[name]))
		}
	}
	for _, c := range commands {
		fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		c.Do(fs)
		if (fs.Lookup("json") != nil) != (got[c.Name] != nil) || (got[c.Name] != nil) != (documented[c.Name] != nil) {
			t.Errorf("%s: has -json %v, is run %v, is documented %v", c.Name, fs.Lookup("json") != nil, got[c.Name] != nil, documented[c.Name] != nil)
		}
	}
}

// expected returns the documented types of the fields that a command must print. A type with a question mark is that of a field that may be
// absent.
func expected(documented, printed map[string]string) map[string]string {
	all := map[string]string{}
	for name, kind := range documented {
		kind, rare := strings.CutSuffix(kind, "?")
		if _, ok := printed[name]; ok || !rare {
			all[name] = kind
		}
	}
	return all
}

// runJSON runs a command line and returns its standard output.
func runJSON(t *testing.T, line string, code int) string {
	t.Helper()
	var out, log strings.Builder
	if got := commands.Run(&cli.Env{Log: glog.New(&log), Stdout: &out, Stderr: &log}, strings.Fields(line)); got != code {
		t.Fatalf("%s: exit code %d\n%s", line, got, log.String())
	}
	return out.String()
}

// fieldsOf collects the paths of a value's fields with their types. Objects and lists of objects are known by their fields.
func fieldsOf(value any, path string, all map[string]string) {
	add := func(kind string) {
		if path, simple := strings.CutSuffix(path, "[]"); simple {
			all[path] = "list"
		} else {
			all[path] = kind
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			fieldsOf(field, strings.TrimPrefix(path+"."+name, "."), all)
		}
	case []any:
		for _, item := range v {
			fieldsOf(item, path+"[]", all)
		}
	case nil: // known from another object, or from another run
	case string:
		add("string")
	case bool:
		add("boolean")
	default:
		add("number")
	}
}

// documentedFields reads the tables below the headings that name commands.
func documentedFields(text string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, section := range strings.Split(text, "\n## `")[1:] {
		name, rest, _ := strings.Cut(section, "`")
		all[name] = map[string]string{}
		for line := range strings.Lines(rest) {
			if cells := strings.Split(line, "|"); len(cells) > 3 && strings.HasPrefix(cells[1], " `") {
				all[name][strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[2])
			}
		}
	}
	return all
}

func table(fields map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "| `%s` | %s | |\n", name, fields[name])
	}
	return b.String()
}
