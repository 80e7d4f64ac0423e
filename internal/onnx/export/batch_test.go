package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

// extents returns the shape of a value as text, with the names of open extents.
func extents(v *onnxpb.ValueInfoProto) string {
	var s []string
	for _, d := range v.GetType().GetTensorType().GetShape().GetDim() {
		if d.GetDimParam() != "" {
			s = append(s, d.GetDimParam())
		} else {
			s = append(s, fmt.Sprint(d.GetDimValue()))
		}
	}
	return fmt.Sprint(s)
}

// TestBatchOfInputs declares the inputs' and outputs' extents, where others than the first input's are a multiple of the batch size, or equal to
// it by chance.
func TestBatchOfInputs(t *testing.T) {
	in := func(name string, dims string) string {
		return fmt.Sprintf("layer { name: %q type: 'Input' top: %q input_param { shape { %s } } }\n", name, name, dims)
	}
	images := in("x", "dim: 2 dim: 3 dim: 4 dim: 5")
	for _, c := range []struct {
		name, net string
		want      []string // inputs, then outputs by name
	}{
		{"regions of 3N", images + in("r", "dim: 6 dim: 5") + "layer { name: 'l' type: 'ROIPooling' bottom: 'x' bottom: 'r' top: 'y' roi_pooling_param { pooled_h: 2 pooled_w: 2 } }",
			[]string{"[N 3 4 5]", "[6 5]", "[6 3 2 2]"}},
		{"a table of 3N", images + in("z", "dim: 6") + "layer { name: 'l' type: 'TanH' bottom: 'x' top: 'y' } layer { name: 'm' type: 'TanH' bottom: 'z' top: 'w' }",
			[]string{"[N 3 4 5]", "[6]", "[6]", "[N 3 4 5]"}},
		{"items of 2N", images + in("z", "dim: 4 dim: 60") + "layer { name: 'l' type: 'Tile' bottom: 'x' top: 't' tile_param { axis: 0 tiles: 2 } }" +
			"layer { name: 'f' type: 'Flatten' bottom: 't' top: 'f' } layer { name: 'e' type: 'Eltwise' bottom: 'f' bottom: 'z' top: 'y' }",
			[]string{"[N 3 4 5]", "[2N 60]", "[2N 60]"}},
		{"items of N, 2N, 3N", in("x", "dim: 2 dim: 3") + in("z", "dim: 4 dim: 3") + in("w", "dim: 6 dim: 3") +
			"layer { name: 'c' type: 'Concat' bottom: 'x' bottom: 'z' top: 'c' concat_param { axis: 0 } } layer { name: 'e' type: 'Eltwise' bottom: 'c' bottom: 'w' top: 'y' }",
			[]string{"[N 3]", "[2N 3]", "[3N 3]", "[3N 3]"}},
		{"channels as many as items", in("x", "dim: 3 dim: 3 dim: 4") + in("z", "dim: 3") + "layer { name: 's' type: 'Scale' bottom: 'x' bottom: 'z' top: 'y' }",
			[]string{"[N 3 4]", "[3]", "[N 3 4]"}},
		{"another batch of N", images + in("z", "dim: 2 dim: 7") + "layer { name: 'l' type: 'TanH' bottom: 'x' top: 'y' } layer { name: 'm' type: 'TanH' bottom: 'z' top: 'w' }",
			[]string{"[N 3 4 5]", "[N 7]", "[N 7]", "[N 3 4 5]"}},
		{"a constant", images + in("z", "dim: 3") + "layer { name: 's' type: 'Scale' bottom: 'x' bottom: 'z' top: 'y' }",
			[]string{"[N 3 4 5]", "[3]", "[N 3 4 5]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := onnxtest.Build(t, onnxtest.Parse(t, c.net))
			shapes := shapesOf(n)
			r, err := Net(n, Options{Opset: MinOpset})
			if err != nil || r.Fixed != "" {
				t.Fatal(err, r)
			}
			var got []string
			for _, v := range slices.Concat(r.Model.GetGraph().GetInput(), r.Model.GetGraph().GetOutput()) {
				got = append(got, extents(v))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the extents are %v, not %v", got, c.want)
			}
			written := onnxtest.Parse(t, c.net)
			if r, err = Net(n, Options{Opset: MinOpset, Batch: 5, Net: written}); err != nil {
				t.Fatal(err)
			}
			got = got[:0]
			for _, v := range slices.Concat(r.Model.GetGraph().GetInput(), r.Model.GetGraph().GetOutput()) {
				got = append(got, extents(v))
			}
			fixed := strings.NewReplacer("2N", "10", "3N", "15", "N", "5")
			for k, want := range c.want {
				if want = fixed.Replace(want); got[k] != want {
					t.Errorf("with a batch of 5, extents %d are %s, not %s", k, got[k], want)
				}
			}
			again := onnxtest.Build(t, onnxtest.Parse(t, r.Model.GetMetadataProps()[0].GetValue()))
			for k, v := range r.Model.GetGraph().GetInput() {
				if s := fmt.Sprint(again.Blob(v.GetName()).Shape()); s != got[k] {
					t.Errorf("the model's prototxt has %s of shape %s, the model %s", v.GetName(), s, got[k])
				}
			}
			if now := shapesOf(n); fmt.Sprint(now) != fmt.Sprint(shapes) {
				t.Errorf("the net's shapes are %v, before the export %v", now, shapes)
			}
		})
	}
}
