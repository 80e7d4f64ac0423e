package all_test

import (
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("CtcLoss",
		layertest.Case{Param: "ctc_loss_param { alphabet_size: 5 time_step: 6 }", Bottoms: []layertest.Bottom{layertest.In(6, 1, 5), layertest.Labels(5, 1, 3)},
			Again: [][]int{{6, 30, 5}, {30, 4}}},
		layertest.Case{Name: "blank 2", Param: "ctc_loss_param { alphabet_size: 4 time_step: 7 blank_label: 2 }", Bottoms: []layertest.Bottom{layertest.In(7, 1, 4), fixed([]float32{1, 1, 2, 3}, 1, 4)}},
		layertest.Case{Name: "many", Param: "ctc_loss_param { alphabet_size: 37 time_step: 30 }", NoGradient: "the slopes are of the sum over items, not of the mean",
			Bottoms: []layertest.Bottom{layertest.In(30, 9, 37), layertest.Labels(37, 9, 8)}})
	addCases("ContinuationIndicator",
		layertest.Case{Param: "continuation_indicator_param { time_step: 3 batch_size: 4 }", Still: "the top is constant"})
}

// collapsed returns the labels that a path stands for: repetitions are one, then blanks go.
func collapsed(path []int, blank int) []int {
	return slices.DeleteFunc(slices.Compact(slices.Clone(path)), func(c int) bool { return c == blank })
}

// ctcByPaths is -log of the probability of labels, added up over all paths.
func ctcByPaths(x []float64, steps, classes, blank int, labels []int) float64 {
	var total float64
	path := make([]int, steps)
	var visit func(t int, p float64)
	visit = func(t int, p float64) {
		if t == steps {
			if slices.Equal(collapsed(path, blank), labels) {
				total += p
			}
			return
		}
		var sum float64
		for c := range classes {
			sum += math.Exp(x[t*classes+c])
		}
		for c := range classes {
			path[t] = c
			visit(t+1, p*math.Exp(x[t*classes+c])/sum)
		}
	}
	visit(0, 1)
	return -math.Log(total)
}

func TestCTCOverAllPaths(t *testing.T) {
	const steps, classes = 5, 3
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		blank  int
		labels []float32 // of two items
	}{{0, []float32{1, 2, 1, 1, 1, 0}}, {2, []float32{0, 2, 2, 1, 1, 0}}, {1, []float32{1, 1, 1, 2, 0, 1}}} {
		x := between(steps*2*classes, -2, 2)
		var loss float64
		want := make([]float64, len(x))
		for n := range 2 {
			var own []float64
			for s := range steps {
				for c := range classes {
					own = append(own, float64(x[(s*2+n)*classes+c]))
				}
			}
			labels := []int{}
			for _, v := range tt.labels[3*n : 3*n+3] {
				if int(v) != tt.blank {
					labels = append(labels, int(v))
				}
			}
			loss += ctcByPaths(own, steps, classes, tt.blank, labels) / 2
			for i := range own {
				const h = 1e-5
				own[i] += h
				above := ctcByPaths(own, steps, classes, tt.blank, labels)
				own[i] -= 2 * h
				want[(i/classes*2+n)*classes+i%classes] = (above - ctcByPaths(own, steps, classes, tt.blank, labels)) / (2 * h)
				own[i] += h
			}
		}
		param := map[int]string{0: "", 1: "blank_label: 1", 2: "blank_label: 2"}[tt.blank]
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "CtcLoss", Param: "ctc_loss_param { alphabet_size: 3 time_step: 5 " + param + " }",
				Bottoms: []layertest.Bottom{layertest.Given(x, steps, 2, classes), fixed(tt.labels, 2, 3)}})
			layertest.Equal(t, "loss", f.Forward(t)[0], floats([]float64{loss}), 1e-6)
			dx, _ := f.Backward(t, []float32{1})
			layertest.Equal(t, "gradient of the sum over items", dx[0], floats(want), 1e-5)
		}
	}
}

// TestCTCWithoutRoom: two equal labels need a blank between them, so that two time steps have no room for them.
func TestCTCWithoutRoom(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "CtcLoss", Param: "ctc_loss_param { alphabet_size: 3 time_step: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 1, 3), fixed([]float32{1, 1}, 1, 2)}})
		layertest.Equal(t, "loss", f.Forward(t)[0], []float32{0}, 0)
		dx, _ := f.Backward(t, []float32{1})
		layertest.Equal(t, "gradient", dx[0], make([]float32, 6), 0)
		copy(f.Bottom[1].Data(), []float32{1, 3})
		if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != "label 3 of item 0 is out of range: there are 3 classes (0 to 2)" {
			t.Errorf("%v: error %v", engine, err)
		}
	}
}

func TestContinuationIndicator(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "ContinuationIndicator", Param: "continuation_indicator_param { time_step: 3 batch_size: 2 }"})
		layertest.Equal(t, "top", f.Forward(t)[0], []float32{0, 0, 1, 1, 1, 1}, 0)
	}
}

// TestCTCGreedyByHand: the best classes of item 0 are 0 0 blank 0 1, those of item 1 are 1 1 1 and then another sequence's.
func TestCTCGreedyByHand(t *testing.T) {
	b := layertest.NewBench(t)
	best := [][2]int{{0, 1}, {0, 1}, {2, 1}, {0, 0}, {1, 0}}
	x := make([]float32, 5*2*3)
	for s, classes := range best {
		for n, c := range classes {
			x[(s*2+n)*3+c] = 0.5 + float32(s)/16
		}
	}
	marks := fixed([]float32{0, 0, 1, 1, 1, 1, 1, 0, 1, 1}, 5, 2)
	right := fixed([]float32{0, 0, 1, -1, -1, -1, -1, -1, -1, -1}, 5, 2) // 0 1 and 0
	scores := []float32{-(0.5*5 + 10./16), -(0.5*3 + 3./16)}
	for param, want := range map[string]struct {
		labels   []float32
		accuracy float32
	}{
		"":                           {[]float32{0, 1, 0, -1, 1, -1, -1, -1, -1, -1}, 1 - (1./3+1)/2},
		"ctc_merge_repeated: false ": {[]float32{0, 1, 0, 1, 0, 1, 1, -1, -1, -1}, 1 - (2./4+1)/2},
	} {
		param = "ctc_decoder_param { " + param + "}"
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "CTCGreedyDecoder", Param: param, Tops: 3, Bottoms: []layertest.Bottom{layertest.Given(x, 5, 2, 3), marks, right}})
			y := f.Forward(t)
			layertest.Equal(t, param+" labels", y[0], want.labels, 0)
			layertest.Equal(t, param+" scores", y[1], scores, 1e-6)
			layertest.Equal(t, param+" accuracy", y[2], []float32{want.accuracy}, 1e-6)
			f = layertest.Build(t, b, engine, layertest.Case{Type: "CTCGreedyDecoder", Param: param, Tops: 2, Bottoms: []layertest.Bottom{layertest.Given(x, 5, 2, 3), marks}})
			layertest.Equal(t, param+" scores", f.Forward(t)[1], scores, 1e-6)
		}
	}
}

func TestErrorsOfCTC(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"CtcLoss", "", []layertest.Bottom{in(2, 1, 3), in(1, 2)}, []string{"alphabet_size and time_step", "0 and 0"}},
		{"CtcLoss", "ctc_loss_param { alphabet_size: 3 time_step: 2 blank_label: 3 }", []layertest.Bottom{in(2, 1, 3), in(1, 2)}, []string{"3 classes", "it is 3"}},
		{"CtcLoss", "ctc_loss_param { alphabet_size: 3 time_step: 4 }", []layertest.Bottom{in(2, 1, 3), in(1, 2)}, []string{"time_step 4", "2 1 3 (6)"}},
		{"CtcLoss", "ctc_loss_param { alphabet_size: 3 time_step: 2 }", []layertest.Bottom{in(2, 1, 3), in(2, 2)}, []string{"1 items", "2 2 (4)"}},
		{"CTCGreedyDecoder", "", []layertest.Bottom{in(2, 3), in(2, 3)}, []string{"time steps x items x classes", "2 3 (6)"}},
		{"CTCGreedyDecoder", "", []layertest.Bottom{in(2, 3, 4), in(2, 4)}, []string{"2 time steps and 3 items", "2 4 (8)"}},
		{"CTCGreedyDecoder", "ctc_decoder_param { blank_index: 4 }", []layertest.Bottom{in(2, 3, 4), in(2, 3)}, []string{"4 classes", "it is 4"}},
		{"ContinuationIndicator", "continuation_indicator_param { time_step: 3 }", nil, []string{"time_step and batch_size", "3 and 0"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}
