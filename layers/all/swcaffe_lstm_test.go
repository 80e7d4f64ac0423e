package all_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	const param = "lstm_param { num_output: 3 batch_size: 2 "
	// Any value other than 0 continues the sequence.
	clips := layertest.Bottom{Shape: []int{8, 1}, NoGradient: true, Fill: func(r *rand.Rand, v []float32) {
		for i := range v {
			if v[i] = 0; i >= 2 && r.IntN(3) > 0 {
				v[i] = r.Float32() - 0.5
			}
		}
	}}
	addCases("Lstm",
		layertest.Case{Param: param + "}", Bottoms: []layertest.Bottom{layertest.In(8, 5)}, Again: [][]int{{6, 5}}},
		layertest.Case{Name: "sequences", Param: param + "}", Bottoms: []layertest.Bottom{layertest.In(8, 5), clips}, Again: [][]int{{4, 5}, {4, 1}}},
		layertest.Case{Name: "clipped", Param: param + "clipping_threshold: 0.01 }", NoGradient: "clipping changes it", Bottoms: []layertest.Bottom{layertest.In(8, 5), clips}},
		layertest.Case{Name: "three axes", Param: "lstm_param { num_output: 3 }", Bottoms: []layertest.Bottom{layertest.In(4, 2, 5)}, Again: [][]int{{4, 3, 5}}},
		layertest.Case{Name: "wide", Param: "lstm_param { num_output: 70 batch_size: 20 }", NoGradient: "others check it", Paths: 1e-4,
			Bottoms: []layertest.Bottom{layertest.In(60, 40)}})
}

// TestLstmIsLSTM: with the same weights, in its own order, the layer equals Caffe's LSTM, also over two passes that carry state.
func TestLstmIsLSTM(t *testing.T) {
	b := layertest.NewBench(t)
	cont := layertest.Given([]float32{1, 0, 1, 1, 0, 1}, 3, 2)
	cont.NoGradient = true
	for _, engine := range layertest.Engines() {
		packed := layertest.Build(t, b, engine, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 3 batch_size: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(6, 5), {Shape: []int{6}, NoGradient: true, Fill: cont.Fill}}})
		caffe := layertest.Build(t, b, engine, layertest.Case{Type: "LSTM", Param: "recurrent_param { num_output: 3 }",
			Bottoms: []layertest.Bottom{layertest.In(3, 2, 5), cont}})
		for i, to := range []int{0, 2, 1} {
			caffe.SetWeight(to, packed.Weight(i)...)
		}
		for pass := range 2 {
			layertest.Equal(t, fmt.Sprint("top of pass ", pass), packed.Forward(t)[0], caffe.Forward(t)[0], 0)
		}
		diff := make([]float32, 18)
		for i := range diff {
			diff[i] = float32(i%5) - 1.7
		}
		gotIn, gotW := packed.Backward(t, diff)
		wantIn, wantW := caffe.Backward(t, diff)
		layertest.Equal(t, "gradient of x", gotIn[0], wantIn[0], 0)
		for i, from := range []int{0, 2, 1} {
			layertest.Equal(t, fmt.Sprint("gradient of weight ", i), gotW[i], wantW[from], 1e-6)
		}
	}
}

// TestLstmOfThreeAxes: steps, sequences and values as three axes, without batch_size, are the same as rows with it; also after another
// number of sequences. With batch_size the axes behind the first are values.
func TestLstmOfThreeAxes(t *testing.T) {
	b := layertest.NewBench(t)
	x := between(3*2*5, -1, 1)
	for _, engine := range layertest.Engines() {
		rows := layertest.Build(t, b, engine, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 3 batch_size: 2 }", Bottoms: []layertest.Bottom{layertest.Given(x, 6, 5)}})
		axes := layertest.Build(t, b, engine, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 3 }", Bottoms: []layertest.Bottom{layertest.Given(x, 3, 2, 5)}})
		for i := range 3 {
			axes.SetWeight(i, rows.Weight(i)...)
		}
		if got := fmt.Sprint(axes.Top[0].Shape()); got != "[3 2 3]" {
			t.Errorf("the top has shape %s", got)
		}
		layertest.Equal(t, "top", axes.Forward(t)[0], rows.Forward(t)[0], 0)
		packed := layertest.Build(t, b, engine, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 3 batch_size: 1 }", Bottoms: []layertest.Bottom{layertest.Given(x, 3, 2, 5)}})
		if got := fmt.Sprint(packed.Top[0].Shape(), len(packed.Weight(0))); got != "[3 3] 120" {
			t.Errorf("with batch_size 1 the top's shape and the number of weights are %s", got)
		}
	}
}

// TestLstmBeginsAnew: without sequence indicators every pass starts from state 0; with them only where they are 0.
func TestLstmBeginsAnew(t *testing.T) {
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		name    string
		bottoms []layertest.Bottom
		same    bool
	}{
		{"no indicators", []layertest.Bottom{layertest.In(4, 2)}, true},
		{"0 at first", []layertest.Bottom{layertest.In(4, 2), layertest.Given([]float32{0, 1, 1, 1}, 4)}, true},
		{"never 0", []layertest.Bottom{layertest.In(4, 2), layertest.Given([]float32{1, 1, 1, 1}, 4)}, false},
	} {
		f := layertest.Build(t, b, layers.MPE, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 1 }", Bottoms: tt.bottoms})
		first, second := f.Forward(t)[0], f.Forward(t)[0]
		if same := first[0] == second[0]; same != tt.same {
			t.Errorf("%s: first value %v, then %v", tt.name, first[0], second[0])
		}
	}
}

// TestLstmClips: the bias gradient is the sum over four steps of gradients within the threshold.
func TestLstmClips(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 2 clipping_threshold: 0.001 }",
			Bottoms: []layertest.Bottom{layertest.In(4, 2)}})
		f.Forward(t)
		_, weights := f.Backward(t, []float32{9, 9, 9, 9, 9, 9, 9, 9})
		atBound := 0
		for i, g := range weights[2] {
			if g > 0.004+1e-7 || g < -0.004-1e-7 {
				t.Errorf("%v: gradient %d of the bias is %v, more than four times the threshold", engine, i, g)
			}
			if g > 0.0039 || g < -0.0039 {
				atBound++
			}
		}
		if atBound == 0 {
			t.Errorf("%v: nothing was clipped: %v", engine, weights[2])
		}
	}
}

func TestLstmErrors(t *testing.T) {
	b := layertest.NewBench(t)
	x := layertest.In(6, 5)
	wantError(t, b, layertest.Case{Type: "Lstm", Bottoms: []layertest.Bottom{x}}, "num_output", "0 and 1")
	wantError(t, b, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 2 batch_size: 4 }", Bottoms: []layertest.Bottom{x}}, "6 rows", "batch_size 4")
	wantError(t, b, layertest.Case{Type: "Lstm", Param: "lstm_param { num_output: 2 }", Bottoms: []layertest.Bottom{x, layertest.In(5)}}, "6", "5 (5)")
}
