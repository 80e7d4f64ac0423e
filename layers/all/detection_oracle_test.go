package all_test

import (
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// jaccard is the overlap of two boxes of four values, in float64.
func jaccard(a, b []float32) float64 {
	side := func(k int) float64 {
		return math.Max(0, math.Min(float64(a[k+2]), float64(b[k+2]))-math.Max(float64(a[k]), float64(b[k])))
	}
	area := func(v []float32) float64 { return (float64(v[2]) - float64(v[0])) * (float64(v[3]) - float64(v[1])) }
	both := side(0) * side(1)
	return both / (area(a) + area(b) - both)
}

// multiBoxOracle computes SSD's loss from the paper's section 2.2, with codes CENTER_SIZE, SMOOTH_L1 and SOFTMAX, matches by an overlap of
// 0.5, and three negatives for each pair among priors that overlap no object by 0.5.
func multiBoxOracle(codes, scores, prior, objects []float32, images, n, classes int) float64 {
	var loc, conf float64
	pairs := 0
	for image := range images {
		var rows [][]float32
		for k := 0; k < len(objects); k += 8 {
			if int(objects[k]) == image {
				rows = append(rows, objects[k:k+8])
			}
		}
		if len(rows) == 0 {
			continue
		}
		of, best := make([]int, n), make([]float64, n) // the object of each prior, and the largest overlap
		type edge struct {
			i, j int
			v    float64
		}
		var edges []edge
		for i := range n {
			of[i] = -1
			for j, row := range rows {
				v := jaccard(prior[4*i:4*i+4], row[3:7])
				if edges = append(edges, edge{i, j, v}); v > best[i] {
					if best[i] = v; v >= 0.5 {
						of[i] = j
					}
				}
			}
		}
		sort.SliceStable(edges, func(a, b int) bool { return edges[a].v > edges[b].v })
		objectDone, priorDone := map[int]bool{}, map[int]bool{}
		for _, e := range edges {
			if e.v > 1e-6 && !objectDone[e.j] && !priorDone[e.i] {
				of[e.i], objectDone[e.j], priorDone[e.i] = e.j, true, true
			}
		}
		var negatives []float64
		own := 0
		for i := range n {
			x := scores[(image*n+i)*classes:][:classes]
			var sum float64
			for _, v := range x {
				sum += math.Exp(float64(v))
			}
			if of[i] < 0 {
				if best[i] < 0.5 {
					negatives = append(negatives, math.Log(sum)-float64(x[0]))
				}
				continue
			}
			own++
			row := rows[of[i]]
			conf += math.Log(sum) - float64(x[int(row[1])])
			for k := range 4 {
				side := float64(prior[4*i+2+k%2] - prior[4*i+k%2])
				size := float64(row[5+k%2] - row[3+k%2])
				target := math.Log(size / side)
				if k < 2 {
					target = (float64(row[3+k]+row[5+k]) - float64(prior[4*i+k]+prior[4*i+2+k])) / 2 / side
				}
				d := math.Abs(float64(codes[(image*n+i)*4+k]) - target/float64(prior[4*n+4*i+k]))
				if d < 1 {
					loc += d * d / 2
				} else {
					loc += d - 0.5
				}
			}
		}
		pairs += own
		sort.Sort(sort.Reverse(sort.Float64Slice(negatives)))
		for _, v := range negatives[:min(3*own, len(negatives))] {
			conf += v
		}
	}
	return (conf + loc) / float64(pairs)
}

func TestMultiBoxLossByDefinition(t *testing.T) {
	b := layertest.NewBench(t)
	for _, size := range [][3]int{{3, 24, 9}, {1, 60, 4}, {5, 200, 30}} {
		images, n, rows := size[0], size[1], size[2]
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "MultiBoxLoss", Param: "multibox_loss_param { num_classes: 4 code_type: CENTER_SIZE }", Bottoms: []layertest.Bottom{
				layertest.In(images, 4*n), layertest.In(images, 4*n), priors(n), objects(rows, images, 4)}})
			got := f.Forward(t)[0]
			want := multiBoxOracle(f.Bottom[0].Data(), f.Bottom[1].Data(), f.Bottom[2].Data(), f.Bottom[3].Data(), images, n, 4)
			layertest.Equal(t, "loss", got, []float32{float32(want)}, 1e-5)
		}
	}
}

// TestMultiBoxLossByHand: one object equals the second of three priors, so that its code is 0. Scores are 0, so that every probability is 1/2.
// The third prior, which overlaps the object by 0.6, is paired too, or is no negative.
func TestMultiBoxLossByHand(t *testing.T) {
	b := layertest.NewBench(t)
	prior := []float32{0, 0, 0.1, 0.1, 0.5, 0.5, 1, 1, 0.5, 0.5, 1, 0.8, 1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5}
	object := []float32{0, 1, 0, 0.5, 0.5, 1, 1, 0}
	ln2 := math.Log(2)
	for _, tt := range []struct {
		param string
		want  float64
	}{
		{"match_type: BIPARTITE", 2 * ln2},                                              // a pair and the first prior
		{"match_type: BIPARTITE neg_overlap: 0.7", 3 * ln2},                             // and the third
		{"match_type: BIPARTITE neg_overlap: 0.7 neg_pos_ratio: 1", 2 * ln2},            // of which one is taken
		{"match_type: BIPARTITE neg_overlap: 0.7 neg_pos_ratio: inf", 3 * ln2},          // all
		{"match_type: BIPARTITE neg_overlap: 0.7 neg_pos_ratio: 0", ln2},                // none
		{"", (3*ln2 + 0.08) / 2},                                                        // two pairs; ymax of the code is 0.2/0.5
		{"encode_variance_in_target: true", (3*ln2 + 0.08) / 2},                         // the same
		{"loc_weight: 10", (3*ln2 + 0.8) / 2},                                           // ten times the codes
		{"match_type: BIPARTITE mining_type: NONE", 3 * ln2},                            // all negatives
		{"match_type: BIPARTITE conf_loss_type: LOGISTIC", 4 * ln2},                     // two classes each
		{"overlap_threshold: 0.65 conf_loss_type: LOGISTIC mining_type: NONE", 6 * ln2}, // all priors
		{"use_difficult_gt: false", 0},                                                  // the object is difficult
	} {
		rows := object
		if strings.Contains(tt.param, "difficult") { // without objects there is no loss
			rows = append(append([]float32{}, object[:7]...), 1)
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "MultiBoxLoss", Param: "multibox_loss_param { num_classes: 2 " + tt.param + " }", Bottoms: []layertest.Bottom{
				layertest.Given(make([]float32, 12), 1, 12), layertest.Given(make([]float32, 6), 1, 6), layertest.Given(prior, 1, 2, 12), layertest.Given(rows, 1, 1, 1, 8)}})
			layertest.Equal(t, tt.param, f.Forward(t)[0], []float32{float32(tt.want)}, 1e-6)
		}
	}
}

// TestDetectionEvaluateByHand: class 1 has two objects in image 0, one of which is difficult; class 2 has one in image 1.
func TestDetectionEvaluateByHand(t *testing.T) {
	b := layertest.NewBench(t)
	objects := []float32{
		0, 1, 0, 0.1, 0.1, 0.5, 0.5, 0,
		0, 1, 1, 0.6, 0.6, 0.9, 0.9, 1,
		1, 2, 0, 0, 0, 0.5, 1, 0,
		-1, -1, -1, -1, -1, -1, -1, -1,
	}
	detections := []float32{
		0, 1, 0.5, 0.1, 0.1, 0.5, 0.5, // a second one of the first object
		0, 1, 0.9, 0.1, 0.1, 0.5, 0.48,
		0, 1, 0.4, 0.6, 0.6, 0.9, 0.9, // the difficult one
		0, 2, 0.8, 0.1, 0.1, 0.5, 0.5, // another class
		1, 2, 0.3, 0, 0, 0.5, 0.4, // an overlap of 0.4
		1, 2, 0.2, 0, 0, 0.5, 0.6, // 0.6
	}
	want := func(count, difficult float32) []float32 {
		return []float32{
			-1, 1, count, -1, -1,
			-1, 2, 1, -1, -1,
			0, 1, 0.9, 1, 0,
			0, 1, 0.5, 0, 1,
			0, 1, 0.4, difficult, 0,
			0, 2, 0.8, 0, 1,
			1, 2, 0.3, 0, 1,
			1, 2, 0.2, 1, 0,
		}
	}
	sizes := filepath.Join(t.TempDir(), "sizes.txt")
	if err := os.WriteFile(sizes, []byte("\xef\xbb\xbfa  2 100 200\r\nmy b 10 10\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for param, want := range map[string][]float32{
		"":                                  want(2, 1),
		"evaluate_difficult_gt: false":      want(1, 0),
		"name_size_file: \"" + sizes + "\"": want(2, 1),
	} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "DetectionEvaluate", Param: "detection_evaluate_param { num_classes: 3 " + param + " }",
				Bottoms: []layertest.Bottom{layertest.Given(detections, 1, 1, 6, 7), layertest.Given(objects, 1, 1, 4, 8)}})
			layertest.Equal(t, "top, "+param, f.Forward(t)[0], want, 0)
		}
	}
}

// TestSavedDetections: two images of 200 x 100 pixels with a detection each, in all formats.
func TestSavedDetections(t *testing.T) {
	b := layertest.NewBench(t)
	for format, want := range map[string]map[string]string{
		"VOC":    {"det_cat.txt": "a1 0.75 20 50 100 80\n", "det_dog.txt": "7 0.5 40 0 200 50\n"},
		"ILSVRC": {"det_.txt": "a1 1 0.75 20 50 100 80\n7 2 0.5 40 0 200 50\n"},
		"COCO": {"det_.json": `[
    {
        "image_id": "a1",
        "category_id": "cat",
        "bbox": [
            20,
            50,
            80,
            30
        ],
        "score": 0.75
    },
    {
        "image_id": 7,
        "category_id": "dog",
        "bbox": [
            40,
            0,
            160,
            50
        ],
        "score": 0.5
    }
]
`},
	} {
		for _, engine := range layertest.Engines() {
			dir := t.TempDir()
			files := map[string]string{
				"labels": "item { name: \"none\" label: 0 display_name: \"background\" }\nitem { name: \"cat\" label: 1 }\nitem { name: \"dog\" label: 2 }\n",
				"sizes":  "a1 100 200\n7 100 200\n",
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f := layertest.Build(t, b, engine, layertest.Case{Type: "DetectionOutput",
				Param: "detection_output_param { num_classes: 3 confidence_threshold: 0.1 nms_param { nms_threshold: 0.5 } save_output_param { output_directory: \"" + dir +
					"/out\" output_name_prefix: \"det_\" output_format: \"" + format + "\" label_map_file: \"" + dir + "/labels\" name_size_file: \"" + dir + "/sizes\" } }",
				Bottoms: []layertest.Bottom{
					layertest.Given([]float32{0, 0, 0, 0, 1, -5, 12, -3}, 2, 4), // the second box, from 0.2 to 1.7, is clipped
					layertest.Given([]float32{0, 0.75, 0, 0, 0, 0.5}, 2, 3),
					layertest.Given([]float32{0.1, 0.5, 0.5, 0.8, 0.1, 0.1, 0.1, 0.1}, 1, 2, 4)}})
			f.Forward(t)
			for name, text := range want {
				got, err := os.ReadFile(filepath.Join(dir, "out", name))
				if err != nil || string(got) != text {
					t.Errorf("%s: %s is\n%s(%v), want\n%s", format, name, got, err, text)
				}
			}
		}
	}
}

// TestPriorsOfPublishedNets counts the prior boxes of SSD300 and SSD512 (Liu et al. 2016, section 3.1) and of MobileNet-SSD: the sides of the
// square maps, and whether a cell has the ratios 2 and 1/2 alone, or 3 and 1/3 too.
func TestPriorsOfPublishedNets(t *testing.T) {
	b := layertest.NewBench(t)
	const two, three = "min_size: 30 max_size: 60 aspect_ratio: 2", "min_size: 30 max_size: 60 aspect_ratio: [2, 3]"
	for _, net := range []struct {
		name  string
		image int
		sides []int
		param []string
		want  int
	}{
		{"SSD300", 300, []int{38, 19, 10, 5, 3, 1}, []string{two, three, three, three, two, two}, 8732},
		{"SSD512", 512, []int{64, 32, 16, 8, 4, 2, 1}, []string{two, three, three, three, three, two, two}, 24564},
		{"MobileNet-SSD", 300, []int{19, 10, 5, 3, 2, 1}, []string{"min_size: 60 aspect_ratio: 2", three, three, three, three, three}, 1917},
	} {
		n := 0
		for i, side := range net.sides {
			f := layertest.Build(t, b, layertest.Engines()[0], layertest.Case{Type: "PriorBox", Param: "prior_box_param { " + net.param[i] + " }",
				Bottoms: []layertest.Bottom{layertest.In(1, 1, side, side), layertest.In(1, 3, net.image, net.image)}})
			n += f.Top[0].Dim(2) / 4
		}
		if n != net.want {
			t.Errorf("%s has %d prior boxes, want %d", net.name, n, net.want)
		}
	}
}

func TestErrorsOfDetection(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	pred := []layertest.Bottom{in(2, 8), in(2, 6), in(1, 2, 8), in(1, 1, 1, 8)}
	maps := []layertest.Bottom{in(1, 2, 3, 4), in(1, 3, 30, 40)}
	rows := []layertest.Bottom{in(1, 1, 2, 7), in(1, 1, 2, 8)}
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"PriorBox", "", maps, []string{"min_size is not set"}},
		{"PriorBox", "prior_box_param { min_size: 0.5 }", maps, []string{"min_size", "0.5"}},
		{"PriorBox", "prior_box_param { min_size: 3 max_size: [4, 5] }", maps, []string{"2 and 1"}},
		{"PriorBox", "prior_box_param { min_size: 3 max_size: 3 }", maps, []string{"greater", "3 and 3"}},
		{"PriorBox", "prior_box_param { min_size: 3 aspect_ratio: 0 }", maps, []string{"aspect_ratio", "it is 0"}},
		{"PriorBox", "prior_box_param { min_size: 3 variance: [0.1, 0.2] }", maps, []string{"1 or 4", "there are 2"}},
		{"PriorBox", "prior_box_param { min_size: 3 variance: 0 }", maps, []string{"variance", "it is 0"}},
		{"PriorBox", "prior_box_param { min_size: 3 img_size: 3 img_h: 4 }", maps, []string{"not both"}},
		{"PriorBox", "prior_box_param { min_size: 3 img_h: 4 }", maps, []string{"4 and 0"}},
		{"PriorBox", "prior_box_param { min_size: 3 step: 3 step_h: 4 }", maps, []string{"not both"}},
		{"PriorBox", "prior_box_param { min_size: 3 step_w: 4 }", maps, []string{"0 and 4"}},
		{"PriorBox", "prior_box_param { min_size: 3 }", []layertest.Bottom{in(2, 3), in(1, 3, 4, 5)}, []string{"4 axes", "2 3 (6)"}},
		{"MultiBoxLoss", "", pred, []string{"num_classes"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 4 }", pred, []string{"2 priors with 4 classes need 8 values", "2 6 (12)"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 share_location: false mining_type: NONE }", pred, []string{"2 priors with 3 codes of 4 values need 24 values", "2 8 (16)"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 share_location: false }", pred, []string{"MAX_NEGATIVE", "share_location"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 do_neg_mining: false }", pred, []string{"do_neg_mining: false", "MAX_NEGATIVE"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 background_label_id: 3 }", pred, []string{"3 and 3"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 map_object_to_agnostic: true }", pred, []string{"it is 3"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 neg_pos_ratio: -1 }", pred, []string{"neg_pos_ratio", "it is -1"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 neg_pos_ratio: nan }", pred, []string{"neg_pos_ratio", "it is NaN"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 mining_type: HARD_EXAMPLE sample_size: 0 }", pred, []string{"sample_size", "it is 0"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 }", []layertest.Bottom{pred[0], pred[1], pred[2], in(1, 1, 1, 7)}, []string{"bottom[3]", "1 1 1 7 (7)"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 }", []layertest.Bottom{pred[0], in(3, 6), pred[2], pred[3]}, []string{"2 8 (16)", "3 6 (18)"}},
		{"MultiBoxLoss", "multibox_loss_param { num_classes: 3 }", []layertest.Bottom{pred[0], pred[1], in(2, 8), pred[3]}, []string{"bottom[2]", "2 8 (16)"}},
		{"DetectionOutput", "", pred[:3], []string{"num_classes"}},
		{"DetectionOutput", "detection_output_param { num_classes: 3 nms_param { nms_threshold: -1 } }", pred[:3], []string{"nms_threshold", "-1"}},
		{"DetectionOutput", "detection_output_param { num_classes: 3 nms_param { eta: 2 } }", pred[:3], []string{"eta", "it is 2"}},
		{"DetectionOutput", "detection_output_param { num_classes: 2 }", pred[:3], []string{"2 priors with 2 classes need 4 values"}},
		{"DetectionOutput", "detection_output_param { num_classes: 3 save_output_param { output_directory: \"x\" label_map_file: \"l\" name_size_file: \"s\" output_format: \"CSV\" } }", pred[:3], []string{`"CSV"`, "VOC"}},
		{"DetectionOutput", "detection_output_param { num_classes: 3 save_output_param { output_directory: \"x\" label_map_file: \"gone\" name_size_file: \"s\" output_format: \"VOC\" } }", pred[:3], []string{"label_map_file", "gone"}},
		{"DetectionEvaluate", "", rows, []string{"num_classes"}},
		{"DetectionEvaluate", "detection_evaluate_param { num_classes: 3 overlap_threshold: 0 }", rows, []string{"overlap_threshold", "it is 0"}},
		{"DetectionEvaluate", "detection_evaluate_param { num_classes: 3 name_size_file: \"gone\" }", rows, []string{"name_size_file", "gone"}},
		{"DetectionEvaluate", "detection_evaluate_param { num_classes: 3 }", []layertest.Bottom{rows[1], rows[1]}, []string{"bottom[0]", "1 1 2 8 (16)"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
	for _, tt := range []struct {
		row  []float32
		want string
	}{
		{[]float32{2, 1, 0, 0, 0, 1, 1, 0}, "object 0 is of image 2, but there are 2 images"},
		{[]float32{0, 3, 0, 0, 0, 1, 1, 0}, "object 0 has label 3, but there are 3 classes (0 to 2)"},
		{[]float32{0, 0, 0, 0, 0, 1, 1, 0}, "object 0 has the background's label 0"},
		{[]float32{0, 1, 0, 0, 0, float32(math.Inf(1)), 1, 0}, "object 0 has a value that is not finite: [0 1 0 0 0 +Inf 1 0]"},
	} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "MultiBoxLoss", Param: "multibox_loss_param { num_classes: 3 }",
				Bottoms: []layertest.Bottom{pred[0], pred[1], pred[2], layertest.Given(tt.row, 1, 1, 1, 8)}})
			if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != tt.want {
				t.Errorf("%v: error %v, want %s", engine, err, tt.want)
			}
		}
	}
}
