package all_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// sequenceMarks marks sequences of at least half the time steps: a 0 and then ones for each item, and zeros after its end.
func sequenceMarks(steps, items int) layertest.Bottom {
	return layertest.Bottom{Shape: []int{steps, items}, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		for n := range items {
			length := steps/2 + r.IntN(steps-steps/2+1)
			for t := range steps {
				values[t*items+n] = 0
				if t > 0 && t < length {
					values[t*items+n] = 1
				}
			}
		}
	}}
}

// endedLabels draws one to most labels below classes for each item, and then -1.
func endedLabels(places, items, most, classes int) layertest.Bottom {
	return layertest.Bottom{Shape: []int{places, items}, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		for n := range items {
			length := 1 + r.IntN(most)
			for i := range places {
				if values[i*items+n] = -1; i < length {
					values[i*items+n] = float32(r.IntN(classes))
				}
			}
		}
	}}
}

func init() {
	many := "the slopes are of the sum over items, not of the mean"
	addCases("CTCLoss",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(8, 1, 5), sequenceMarks(8, 1), endedLabels(8, 1, 3, 4)}},
		layertest.Case{Name: "blank 0", Param: "ctc_loss_param { blank_index: 0 preprocess_collapse_repeated: true }",
			Bottoms: []layertest.Bottom{layertest.In(6, 1, 4), sequenceMarks(6, 1), fixed([]float32{1, 1, 2, -1, -1, -1}, 6, 1)}},
		layertest.Case{Name: "many", NoGradient: many, Bottoms: []layertest.Bottom{layertest.In(30, 9, 37), sequenceMarks(30, 9), endedLabels(30, 9, 7, 36)}})
	addCases("WarpCTCLoss",
		layertest.Case{Name: "rows", Bottoms: []layertest.Bottom{layertest.In(6, 1, 5), layertest.Labels(5, 1, 3)}, Again: [][]int{{9, 30, 5}, {30, 4}}},
		layertest.Case{Name: "marks", NoGradient: many, Bottoms: []layertest.Bottom{layertest.In(20, 4, 6), sequenceMarks(20, 4), endedLabels(20, 4, 6, 5)}},
		layertest.Case{Name: "counts", NoGradient: many, Param: "ctc_loss_param { blank_index: 3 }",
			Bottoms: []layertest.Bottom{layertest.In(9, 3, 4), fixed([]float32{9, 6, 0}, 3), fixed([]float32{3, 2, 0}, 3), layertest.Labels(3, 5, 3)}})
}

// TestCTCFormsOverAllPaths: every form has the loss and the slopes of its sequences, added up over all paths, and no slopes behind their ends. Item 0
// has five steps and the labels 0 1 0, item 1 three steps and the labels 1 1.
func TestCTCFormsOverAllPaths(t *testing.T) {
	const steps, classes, items = 5, 3, 2
	marks := fixed([]float32{0, 0, 1, 1, 1, 1, 1, 0, 1, 1}, steps, items)
	places := fixed([]float32{0, 1, 1, 1, 0, -1, -1, -1, -1, -1}, steps, items)
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		blank      int
		lengths    [items]int
		labels     [items][]int
	}{
		{"CTCLoss", "", []layertest.Bottom{marks, places}, 2, [items]int{5, 3}, [items][]int{{0, 1, 0}, {1, 1}}},
		{"CTCLoss", "preprocess_collapse_repeated: true", []layertest.Bottom{marks, places}, 2, [items]int{5, 3}, [items][]int{{0, 1, 0}, {1}}},
		{"CTCLoss", "", []layertest.Bottom{marks, fixed([]float32{0, 1, 1, 2, 0, 2, 2, -1, -1, -1}, steps, items)}, 2, [items]int{5, 3}, [items][]int{{0, 1, 0}, {1}}},
		{"WarpCTCLoss", "", []layertest.Bottom{marks, places}, 0, [items]int{5, 3}, [items][]int{{1, 2, 1}, {2, 2}}},
		{"WarpCTCLoss", "blank_index: 2", []layertest.Bottom{marks, places}, 2, [items]int{5, 3}, [items][]int{{0, 1, 0}, {1, 1}}},
		{"WarpCTCLoss", "", []layertest.Bottom{fixed([]float32{1, 2, 0, 0, 2, 2}, items, 3)}, 0, [items]int{5, 5}, [items][]int{{1, 2}, {2, 2}}},
		{"WarpCTCLoss", "blank_index: 2", []layertest.Bottom{fixed([]float32{4, 3}, items), fixed([]float32{3, 2}, items), fixed([]float32{0, 1, 1, 1, 0, 2}, 3, items)},
			2, [items]int{4, 3}, [items][]int{{0, 1, 0}, {1, 1}}},
	} {
		x := between(steps*items*classes, -2, 2)
		var loss float64
		want := make([]float64, len(x))
		for n := range items {
			var own []float64
			for s := range tt.lengths[n] {
				for c := range classes {
					own = append(own, float64(x[(s*items+n)*classes+c]))
				}
			}
			value := func() float64 { return ctcByPaths(own, tt.lengths[n], classes, tt.blank, tt.labels[n]) }
			loss += value() / items
			for i := range own {
				const h = 1e-5
				own[i] += h
				above := value()
				own[i] -= 2 * h
				want[(i/classes*items+n)*classes+i%classes] = (above - value()) / (2 * h)
				own[i] += h
			}
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: "ctc_loss_param { " + tt.param + " }",
				Bottoms: append([]layertest.Bottom{layertest.Given(x, steps, items, classes)}, tt.bottoms...)})
			layertest.Equal(t, tt.typ+" "+tt.param, f.Forward(t)[0], floats([]float64{loss}), 1e-6)
			dx, _ := f.Backward(t, []float32{1})
			layertest.Equal(t, tt.typ+" "+tt.param+", gradient of the sum over items", dx[0], floats(want), 1e-5)
		}
	}
}

// TestErrorsOfCTCForms: what Forward finds in the values of sequences and labels.
func TestErrorsOfCTCForms(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       string
	}{
		{"CTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 0}, 2, 1), fixed([]float32{1, 1}, 2, 1)}, "item 0 has 2 labels, but only 1 time steps"},
		{"CTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 1}, 2, 1), fixed([]float32{-1, 1}, 2, 1)}, "item 0 has no labels"},
		{"CTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 1}, 2, 1), fixed([]float32{2, 1}, 2, 1)}, "label 1 of item 0 follows a label of the last class, 2, which ends the labels"},
		{"CTCLoss", "blank_index: 1", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 1}, 2, 1), fixed([]float32{0, 1}, 2, 1)}, "label 1 of item 0 is the blank"},
		{"WarpCTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 1}, 2, 1), fixed([]float32{0, 2}, 2, 1)}, "label 2 of item 0 is out of range: there are 3 classes, of which 0 is the blank"},
		{"WarpCTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{1, 3}, 1, 2)}, "label 3 of item 0 is out of range: there are 3 classes (0 to 2)"},
		{"WarpCTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{3}, 1), fixed([]float32{1}, 1), fixed([]float32{1}, 1, 1)}, "item 0 has 3 time steps and 1 labels: the bottoms have 2 and 1"},
		// These leave the range of integers.
		{"WarpCTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{1, 1e30}, 1, 2)}, "label 1e+30 of item 0 is out of range: there are 3 classes (0 to 2)"},
		{"WarpCTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 1}, 2, 1), fixed([]float32{0, 1e30}, 2, 1)}, "label 1e+30 of item 0 is out of range: there are 3 classes, of which 0 is the blank"},
		{"CTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 1}, 2, 1), fixed([]float32{-1e30, 1}, 2, 1)}, "item 0 has no labels"},
		{"CTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{0, 1}, 2, 1), fixed([]float32{float32(math.NaN()), 1}, 2, 1)}, "label NaN of item 0 is out of range: there are 3 classes, of which 2 is the blank"},
		{"WarpCTCLoss", "", []layertest.Bottom{in(2, 1, 3), fixed([]float32{1e30}, 1), fixed([]float32{1}, 1), fixed([]float32{1}, 1, 1)}, "item 0 has 1e+30 time steps and 1 labels: the bottoms have 2 and 1"},
	} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: "ctc_loss_param { " + tt.param + " }", Bottoms: tt.bottoms})
			if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != tt.want {
				t.Errorf("%s: error %v, want %s", tt.typ, err, tt.want)
			}
		}
	}
	three := []layertest.Bottom{in(2, 1, 3), in(2, 1), in(2, 1)}
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"CtcLoss", "blank_index: 1", []layertest.Bottom{in(2, 1, 3), in(1, 2)}, []string{"blank_index", "blank_label"}},
		{"CTCLoss", "alphabet_size: 3", three, []string{"alphabet_size", "CTCLoss has blank_index"}},
		{"CTCLoss", "output_delay: 2", three, []string{"output_delay 2"}},
		{"CTCLoss", "ctc_merge_repeated: false", three, []string{"ctc_merge_repeated: false"}},
		{"CTCLoss", "blank_index: 3", three, []string{"3 classes", "it is 3"}},
		{"CTCLoss", "", []layertest.Bottom{in(2, 1, 3), in(3, 1), in(2, 1)}, []string{"bottom[1]", "2 time steps", "3 1 (3)"}},
		{"CTCLoss", "", []layertest.Bottom{in(2, 1, 3), in(2, 1), in(2, 2)}, []string{"bottom[2]", "1 items", "2 2 (4)"}},
		{"WarpCTCLoss", "", []layertest.Bottom{in(2, 1, 3), in(2), in(1), in(2, 1)}, []string{"bottom[1]", "1 items", "2 (2)"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: "ctc_loss_param { " + tt.param + " }", Bottoms: tt.bottoms}, tt.want...)
	}
}
