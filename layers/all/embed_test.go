package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("Embed",
		layertest.Case{Name: "with bias", Param: "embed_param { num_output: 3 input_dim: 5 }", Bottoms: []layertest.Bottom{layertest.Labels(5, 4, 2)},
			Again: [][]int{{7}}},
		layertest.Case{Name: "no bias", Param: "embed_param { num_output: 2 input_dim: 4 bias_term: false }", Bottoms: []layertest.Bottom{layertest.Labels(4, 6)}},
	)
}

func TestEmbedByHand(t *testing.T) {
	b := layertest.NewBench(t)
	index := layertest.Labels(3, 3)
	index.Fill = layertest.Given([]float32{2, 0, 2}).Fill
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Embed", Param: "embed_param { num_output: 2 input_dim: 3 }", Bottoms: []layertest.Bottom{index}})
		f.SetWeight(0, 1, 2, 3, 4, 5, 6)
		f.SetWeight(1, 10, 20)
		if got := f.Top[0].ShapeString(); got != "3 2 (6)" {
			t.Fatalf("top has shape %s", got)
		}
		layertest.Equal(t, "rows", f.Forward(t)[0], []float32{15, 26, 11, 22, 15, 26}, 0)
		_, dw := f.Backward(t, []float32{1, 2, 3, 4, 5, 6})
		layertest.Equal(t, "gradient of the table", dw[0], []float32{3, 4, 0, 0, 6, 8}, 0)
		layertest.Equal(t, "gradient of the bias", dw[1], []float32{9, 12}, 0)
	}
}

func TestEmbedIndicesAreChecked(t *testing.T) {
	b := layertest.NewBench(t)
	for _, bad := range []float32{-1, 3, 0.5} {
		for _, engine := range layertest.Engines() {
			index := layertest.Labels(3, 2)
			index.Fill = layertest.Given([]float32{1, bad}).Fill
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Embed", Param: "embed_param { num_output: 2 input_dim: 3 }", Bottoms: []layertest.Bottom{index}})
			if err := f.Layer.Forward(f.Bottom, f.Top); err == nil {
				t.Errorf("%v: index %g into a table of 3 rows was accepted", engine, bad)
			}
		}
	}
}

func TestEmbedErrors(t *testing.T) {
	b := layertest.NewBench(t)
	in := []layertest.Bottom{layertest.Labels(2, 3)}
	wantError(t, b, layertest.Case{Type: "Embed", Param: "embed_param { input_dim: 3 }", Bottoms: in}, "num_output")
	wantError(t, b, layertest.Case{Type: "Embed", Param: "embed_param { num_output: 3 }", Bottoms: in}, "input_dim")
}
