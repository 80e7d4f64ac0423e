package predict

import (
	"context"
	"image"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/imageio"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// detection is a net with a map of two cells, each of which finds an object with a score of 0.75 around its prior box of 8 x 8 pixels.
const detection = `layer { name: "x" type: "Input" top: "data" input_param { shape { dim: [2, 3, 20, 40] } } transform_param { mean_value: 10 scale: 0.1 } }
layer { name: "codes" type: "InnerProduct" bottom: "data" top: "codes" inner_product_param { num_output: 8 } }
layer { name: "scores" type: "InnerProduct" bottom: "data" top: "scores" inner_product_param { num_output: 4 bias_filler { value: 0.75 } } }
layer { name: "map" type: "Pooling" bottom: "data" top: "map" pooling_param { kernel_size: 20 stride: 20 } }
layer { name: "prior" type: "PriorBox" bottom: "map" bottom: "data" top: "prior" prior_box_param { min_size: 8 } }
layer { name: "out" type: "DetectionOutput" bottom: "codes" bottom: "scores" bottom: "prior" top: "out" detection_output_param { num_classes: 2 confidence_threshold: 0.1 } }`

// TestDetect: boxes are in pixels of their images, whatever way these came, also where a batch is not full; classes have their names.
func TestDetect(t *testing.T) {
	labels := write(t, "map.prototxt", `item { name: "none" label: 0 } item { name: "n2" label: 1 display_name: "cat" }`)
	m := load(t, Options{Net: write(t, "d.prototxt", detection), Labels: labels})
	s := session(t, m, 2)
	file, im := picture(t, 40, 20, 1)
	decoded, err := imageio.Decode(file, m.Mode())
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "p.png", string(file))
	var items []*Item
	for _, make := range []func() (*Item, error){
		func() (*Item, error) { return m.Read(path) },
		func() (*Item, error) { return m.Decode(file) },
		func() (*Item, error) { return m.Pixels(decoded) },
		func() (*Item, error) { return m.Image(im) },
		func() (*Item, error) { return m.Read(path) },
	} {
		it, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if it.Height != 40 || it.Width != 20 || len(items) > 0 && !slices.Equal(it.Values, items[0].Values) {
			t.Errorf("way %d makes another item, of an image of %d x %d", len(items), it.Height, it.Width)
		}
		items = append(items, it)
	}
	found, err := s.Detect(context.Background(), 0.5, items...)
	if err != nil || len(found) != len(items) {
		t.Fatalf("%d results, %v", len(found), err)
	}
	want := []Object{{1, "cat", 0.75, 3, 12, 7, 28}, {1, "cat", 0.75, 13, 12, 17, 28}}
	for i, objects := range found {
		if !slices.Equal(objects, want) {
			t.Errorf("image %d: %v, want %v", i, objects, want)
		}
	}
	if found, err := s.Detect(context.Background(), 0.8, items...); err != nil || len(found[0])+len(found[4]) > 0 {
		t.Errorf("above all scores: %v, %v", found, err)
	}
}

// TestLabelsOfDetectors: a list names each class, a map only classes that there are, each once.
func TestLabelsOfDetectors(t *testing.T) {
	ssd := write(t, "d.prototxt", detection)
	yolo := write(t, "y.prototxt", `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [1, 3, 1, 1] } } }
layer { name: "heads" type: "Convolution" bottom: "x" top: "heads" convolution_param { num_output: 6 kernel_size: 1 } }
layer { name: "out" type: "Yolov3DetectionOutput" bottom: "heads" top: "out" yolov3_detection_output_param { num_classes: 1 num_box: 1 mask_group_num: 1 mask: 0 anchors_scale: 30 biases: 2 biases: 2 } }`)
	for _, net := range []string{ssd, yolo} {
		for labels, want := range map[string]string{
			"none\ncat\n":                    "",
			"cat\n":                          `number of labels (1) is different from the number of classes of "out" (2)`,
			"none\ncat\ndog\n":               `number of labels (3) is different from the number of classes of "out" (2)`,
			`item { name: "cat" label: 1 }`:  "",
			`item { name: "none" label: 0 }`: "",
			`item { name: "none" label: 0 } item { name: "c" label: 16 }`: `the label 16 is not one of the 2 classes of "out", which are 0 to 1`,
			`item { name: "cat" label: 1 } item { name: "dog" label: 1 }`: `two classes, "cat" and "dog", have the label 1`,
		} {
			path := write(t, "labels", labels)
			_, err := Load(Options{Net: net, Labels: path})
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), path+": "+want) {
				t.Errorf("%s, labels %q: error %v, want %q", filepath.Base(net), labels, err, want)
			}
		}
	}
}

// TestUntrained: a model names the layers that its files have no weights for; files with none for all are an error.
func TestUntrained(t *testing.T) {
	const text = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [1, 3, 1, 1] } } }
layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 1 bias_term: false } }
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: 1 bias_term: false } }`
	weights := filepath.Join(t.TempDir(), "w.caffemodel")
	layer := func(name string) *caffepb.LayerParameter {
		return &caffepb.LayerParameter{Name: &name, Blobs: []*caffepb.BlobProto{{Shape: &caffepb.BlobShape{Dim: []int64{1, 3}}, Data: make([]float32, 3)}}}
	}
	if err := swproto.WriteBinary(weights, &caffepb.NetParameter{Layer: []*caffepb.LayerParameter{layer("a"), layer("other")}}); err != nil {
		t.Fatal(err)
	}
	m := load(t, Options{Net: write(t, "n.prototxt", text), Weights: weights})
	if want := weights + " has no weights for b: untrained ones are used"; m.Untrained() != want {
		t.Errorf("%q, want %q", m.Untrained(), want)
	}
	stated := strings.Replace(text, `top: "b"`, `top: "b" blobs { shape { dim: [1, 1] } data: 2 }`, 1)
	if m := load(t, Options{Net: write(t, "n.prototxt", stated), Weights: weights}); m.Untrained() != "" {
		t.Errorf("a layer with blobs in the prototxt: %q", m.Untrained())
	}
	_, err := Load(Options{Net: write(t, "n.prototxt", strings.NewReplacer(`name: "a"`, `name: "c"`).Replace(text)), Weights: weights})
	if err == nil || !strings.HasPrefix(err.Error(), weights+" has no weights for any layer of the net, whose first layers with weights are c, b:") {
		t.Errorf("no layer's weights: %v", err)
	}
}

// TestGrey: an image of Go's becomes the grey input that its file does.
func TestGrey(t *testing.T) {
	m := load(t, Options{Net: models[0], Preprocessing: Preprocessing{Mean: []float32{5}, Scale: 0.5}})
	file, im := picture(t, 30, 31, 2)
	a, err := m.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Image(im)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Values {
		if d := v - b.Values[i]; d > 1 || d < -1 { // libpng's weights for grey are not cvtColor's
			t.Fatalf("value %d is %g of a file and %g of an image", i, v, b.Values[i])
		}
	}
}

const small = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [1, 3, 4, 5] } } }`

// TestFaults: what a user gives wrong is an error with the file or the input, what it has and what it should have.
func TestFaults(t *testing.T) {
	two := small + `layer { name: "y" type: "Input" top: "y" input_param { shape { dim: [1, 3, 4, 5] } } } layer { name: "s" type: "Eltwise" bottom: "x" bottom: "y" top: "s" }`
	net := write(t, "net.prototxt", small+`layer { name: "r" type: "Reduction" bottom: "x" top: "r" reduction_param { axis: 2 } }`)
	m, pair := load(t, Options{Net: net}), load(t, Options{Net: write(t, "two.prototxt", two)})
	s, p := session(t, m, 1), session(t, pair, 1)
	ctx := context.Background()
	loads := func(opt Options) func() error {
		return func() error { _, err := Load(opt); return err }
	}
	runs := func(s *Session, inputs ...Array) func() error {
		return func() error { _, err := s.Run(ctx, inputs...); return err }
	}
	inPlace := `layer { name: "w" type: "Parameter" top: "w" parameter_param { shape { dim: 3 } } } layer { name: "act" type: "ReLU" bottom: "w" top: "w" }`
	gone := filepath.Join(t.TempDir(), "gone")
	mean := filepath.Join(t.TempDir(), "mean.binaryproto")
	values := &caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{1, 3, 1, 2}}, Data: []float32{1, 2, 3, float32(math.NaN()), 5, 6}}
	if err := swproto.WriteBinary(mean, values); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		do   func() error
		want []string
	}{
		"no net":         {loads(Options{}), []string{"no such file"}},
		"no such net":    {loads(Options{Net: gone}), []string{gone}},
		"no weights":     {loads(Options{Net: net, Weights: gone}), []string{gone}},
		"no training":    {loads(Options{Net: net, Preprocessing: Preprocessing{Training: gone}}), []string{gone}},
		"no mean":        {loads(Options{Net: net, Preprocessing: Preprocessing{MeanFile: gone}}), []string{gone}},
		"means":          {loads(Options{Net: net, Preprocessing: Preprocessing{Mean: []float32{1, 2}}}), []string{"2 mean values", "3 channels"}},
		"mean of NaN":    {loads(Options{Net: net, Preprocessing: Preprocessing{MeanFile: mean}}), []string{mean, "channel 1, row 0, column 1 is NaN"}},
		"means of NaN":   {loads(Options{Net: net, Preprocessing: Preprocessing{Mean: []float32{1, float32(math.NaN()), 2}}}), []string{"mean value 1 is NaN"}},
		"no labels":      {loads(Options{Net: net, Labels: gone}), []string{gone}},
		"few labels":     {loads(Options{Net: net, Labels: write(t, "l.txt", "a\nb\n")}), []string{"l.txt", "(2)", "(3)"}},
		"negative batch": {loads(Options{Net: net, Batch: -1}), []string{"batch -1"}},
		"no input":       {loads(Options{Net: write(t, "p.prototxt", inPlace)}), []string{"p.prototxt has no Input layer"}},
		"in place":       {loads(Options{Net: write(t, "p.prototxt", small+inPlace)}), []string{`layer "act" (ReLU) writes over weight 0 of layer "w"`}},
		"layer":          {loads(Options{Net: write(t, "p.prototxt", "\n"+small+`layer { name: "q" type: "Rellu" }`)}), []string{"p.prototxt:2", `layer "q"`}},
		"empty batch":    {runs(s, Array{}), []string{`input "x"`, "axis 0 has extent 0"}},
		"no values":      {runs(s, Array{Shape: []int{0, 3, 4, 5}}), []string{`input "x"`, "axis 0 has extent 0"}},
		"part of item":   {runs(s, Array{Values: make([]float32, 61)}), []string{"61 values", "[1 3 4 5] needs 60"}},
		"channels":       {runs(s, Array{Shape: []int{1, 1, 4, 5}, Values: make([]float32, 20)}), []string{"axis 1 has extent 1, the net takes 3"}},
		"axes":           {runs(s, Array{Shape: []int{60}, Values: make([]float32, 60)}), []string{"of 1 axes", "of 4"}},
		"negative":       {runs(s, Array{Shape: []int{-1, 3, 4, 5}, Values: make([]float32, 60)}), []string{"axis 0 has extent -1"}},
		"huge":           {runs(s, Array{Shape: []int{1 << (bits.UintSize - 3), 3, 4, 5}, Values: make([]float32, 60)}), []string{"has 60 values"}},
		"unknown":        {runs(s, Array{Name: "z", Values: make([]float32, 60)}), []string{`unknown input "z"`, "x"}},
		"too many":       {runs(s, Array{}, Array{}), []string{"2 inputs are given", "has 1"}},
		"twice":          {runs(p, Array{Name: "x", Values: make([]float32, 60)}, Array{Name: "x", Values: make([]float32, 60)}), []string{`input "x" is given twice`}},
		"no name":        {runs(p, Array{Values: make([]float32, 60)}, Array{Name: "x", Values: make([]float32, 60)}), []string{`unknown input ""`}},
		"batches": {runs(p, Array{Name: "x", Values: make([]float32, 60)}, Array{Name: "y", Values: make([]float32, 120)}),
			[]string{"two.prototxt:1", `layer "s"`}},
		"image of two":  {func() error { _, err := pair.Read(gone); return err }, []string{"two.prototxt has 2 inputs (x, y)"}},
		"no image":      {func() error { _, err := m.Read(gone); return err }, []string{gone}},
		"no image file": {func() error { _, err := m.Decode([]byte("hello")); return err }, []string{"not a JPEG"}},
		"empty file":    {func() error { _, err := m.Decode(nil); return err }, []string{"empty"}},
		"empty image":   {func() error { _, err := m.Image(image.NewGray(image.Rect(0, 0, 0, 3))); return err }, []string{"height 3 and width 0"}},
		"grey image":    {func() error { _, err := m.Pixels(imageio.New(2, 2, 1)); return err }, []string{"1 channels", `"x" has 3`}},
		"short image":   {func() error { _, err := m.Pixels(&imageio.Image{Height: 2, Width: 2, Channels: 3}); return err }, []string{"0 bytes, not 12"}},
		"no items":      {func() error { _, err := s.Classify(ctx, 1); return err }, []string{"no items"}},
		"nil item":      {func() error { _, err := s.Classify(ctx, 1, nil); return err }, []string{"item 0 has 0 values", "takes 60"}},
		"top":           {func() error { _, err := s.Classify(ctx, 0, &Item{}); return err }, []string{"top 0"}},
		"no detector":   {func() error { _, err := s.Detect(ctx, 0, &Item{}); return err }, []string{"no DetectionOutput layer"}},
		"cores":         {func() error { _, err := m.NewSession(-1); return err }, []string{"-1"}},
		"pool":          {func() error { _, err := m.NewPool(0, 1); return err }, []string{"a pool of 0 sessions"}},
		"prepare":       {func() error { return s.Prepare(0) }, []string{"0 items"}},
	} {
		err := tt.do()
		if err == nil {
			t.Errorf("%s: no error, want one with %q", name, tt.want)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q lacks %q", name, err, want)
			}
		}
	}
}

// TestAnySize: inputs of other sizes than the prototxt's run if the model says so.
func TestAnySize(t *testing.T) {
	m := load(t, Options{Net: write(t, "n.prototxt", small+`layer { name: "r" type: "Reduction" bottom: "x" top: "r" reduction_param { axis: 2 } }`), AnySize: true})
	s := session(t, m, 1)
	outs, err := s.Run(context.Background(), Array{Shape: []int{2, 3, 1, 2}, Values: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}})
	if err != nil || !slices.Equal(outs[0].Values, []float32{3, 7, 11, 15, 19, 23}) || !slices.Equal(outs[0].Shape, []int{2, 3}) {
		t.Errorf("%v, %v", outs, err)
	}
}

// TestEffects: a net whose layers go on from the run before has one session at a time; one in which items meet says so.
func TestEffects(t *testing.T) {
	m := load(t, Options{Net: write(t, "n.prototxt", `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [2, 1, 3] } } }
layer { name: "c" type: "Input" top: "c" input_param { shape { dim: [2, 1] } } }
layer { name: "rnn" type: "RNN" bottom: "x" bottom: "c" top: "y" recurrent_param { num_output: 2 } }`)})
	if err := m.Continues(); err == nil || !strings.Contains(err.Error(), `layer "rnn" (RNN) continues`) {
		t.Errorf("a net that continues: %v", err)
	}
	if err := m.Mixes(); err == nil || !strings.Contains(err.Error(), `layer "rnn" (RNN) takes axis 0 for time`) {
		t.Errorf("a net over time: %v", err)
	}
	first, err := m.NewSession(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.NewSession(1); err == nil {
		t.Error("it has two sessions")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a closed session runs: %v", err)
	}
	session(t, m, 1)
	if m = load(t, Options{Net: models[0]}); m.Continues() != nil || m.Mixes() != nil {
		t.Errorf("LeNet: %v, %v", m.Continues(), m.Mixes())
	}
}

// TestTraining: without anything said, an Input layer's transform_param counts; a training's data layer in its place.
func TestTraining(t *testing.T) {
	file, _ := picture(t, 4, 5, 3)
	im, err := imageio.Decode(file, imageio.Color)
	if err != nil {
		t.Fatal(err)
	}
	training := write(t, "t.prototxt", `layer { name: "d" type: "ImageData" top: "x" image_data_param { source: "nowhere" new_height: 4 new_width: 5 } transform_param { mean_value: 7 } }`)
	for _, tt := range []struct {
		opt  Preprocessing
		want float32
	}{
		{Preprocessing{}, (float32(im.Pix[0]) - 10) * 0.5},
		{Preprocessing{NoMean: true}, float32(im.Pix[0]) * 0.5},
		{Preprocessing{Mean: []float32{1, 2, 3}, Scale: 2}, (float32(im.Pix[0]) - 1) * 2},
		{Preprocessing{Training: training}, float32(im.Pix[0]) - 7},
	} {
		net := write(t, "n.prototxt", strings.Replace(small, "} }", "} } transform_param { mean_value: 10 scale: 0.5 }", 1)+
			`layer { name: "r" type: "Reduction" bottom: "x" top: "r" reduction_param { axis: 1 } }`)
		it, err := load(t, Options{Net: net, Preprocessing: tt.opt}).Decode(file)
		if err != nil || it.Values[0] != tt.want {
			t.Errorf("%+v: %v, %v, want %g", tt.opt, it, err, tt.want)
		}
	}
	if _, err := os.Stat("nowhere"); err == nil {
		t.Error("a file was made")
	}
}
