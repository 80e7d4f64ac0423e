package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/data"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("MemoryData", layertest.Case{
		Tops: 2, Param: "memory_data_param { batch_size: 2 channels: 1 height: 1 width: 3 }",
		Feed: func(l layers.Layer) error {
			return l.(*data.MemoryData).Feed([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, []float32{3, 2, 1, 0})
		},
	})
}

func TestMemoryDataHandsOutInRounds(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{
			Type: "MemoryData", Tops: 2, Param: "memory_data_param { batch_size: 2 channels: 3 height: 1 width: 1 }",
		})
		l := f.Layer.(*data.MemoryData)
		if err := l.Forward(nil, f.Top); err == nil {
			t.Error("a layer that was not fed handed out a batch")
		}
		data := []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
		if err := l.Feed(data[:9], []float32{0, 1, 2}); err == nil {
			t.Error("3 items were taken in batches of 2")
		}
		if err := l.Feed(data[:9], []float32{0, 1, 2, 3}); err == nil {
			t.Error("9 values were taken for 4 items of 3")
		}
		if err := l.Feed(data, []float32{10, 11, 12, 13}); err != nil {
			t.Fatal(err)
		}
		for _, lo := range []int{0, 2, 0} {
			if err := l.Forward(nil, f.Top); err != nil {
				t.Fatal(err)
			}
			layertest.Equal(t, "data", f.Top[0].Data(), data[3*lo:3*lo+6], 0)
			layertest.Equal(t, "labels", f.Top[1].Data(), []float32{float32(10 + lo), float32(11 + lo)}, 0)
		}
		if l.Position() != 6 {
			t.Errorf("position %d, want 6", l.Position())
		}
	}
}

// TestMemoryDataGoesOn: after SetPosition, as in a solver's Restore, the layer continues after the items already handed out, whether Feed
// comes before or after. A later Feed starts anew.
func TestMemoryDataGoesOn(t *testing.T) {
	b := layertest.NewBench(t)
	values, labels := []float32{0, 1, 2, 3, 4, 5}, []float32{10, 11, 12, 13, 14, 15}
	for _, fedFirst := range []bool{true, false} {
		f := layertest.Build(t, b, layers.CPE, layertest.Case{
			Type: "MemoryData", Tops: 2, Param: "memory_data_param { batch_size: 2 channels: 1 height: 1 width: 1 }",
		})
		l := f.Layer.(*data.MemoryData)
		feed := func() {
			t.Helper()
			if err := l.Feed(values, labels); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(what string, first float32) {
			t.Helper()
			if err := l.Forward(nil, f.Top); err != nil {
				t.Fatal(err)
			}
			layertest.Equal(t, what, f.Top[0].Data(), []float32{first, first + 1}, 0)
		}
		if fedFirst {
			feed()
		}
		if err := l.SetPosition(8); err != nil {
			t.Fatal(err)
		}
		if !fedFirst {
			feed()
		}
		expect("resumed at item 8 of 6", 2)
		expect("and on", 4)
		if l.Position() != 12 {
			t.Errorf("position %d, want 12", l.Position())
		}
		feed()
		expect("fed anew", 0)
	}
}
