package data

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/data/shapes"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// recordsDB writes values into a database and returns its path.
func recordsDB(t testing.TB, values ...[]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "boxes_lmdb")
	w, err := lmdb.Create(dir)
	for i, v := range values {
		err = errors.Join(err, w.Put(fmt.Appendf(nil, "%05d", i), v))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// boxRecord is an image of 3 x 2 x 4 values of i with objects objects.
func boxRecord(i, objects int) *caffepb.AnnotatedDatum {
	a := &caffepb.AnnotatedDatum{Type: caffepb.AnnotatedDatum_BBOX.Enum(), Datum: &caffepb.Datum{
		Channels: proto.Int32(3), Height: proto.Int32(2), Width: proto.Int32(4), Label: proto.Int32(int32(10 + i)), Data: bytes.Repeat([]byte{byte(i)}, 24),
	}}
	for k := range objects {
		a.AnnotationGroup = append(a.AnnotationGroup, &caffepb.AnnotationGroup{GroupLabel: proto.Int32(int32(5 + k)), Annotation: []*caffepb.Annotation{{
			InstanceId: proto.Int32(int32(3 * k)), Bbox: &caffepb.NormalizedBBox{
				Xmin: proto.Float32(0.25), Ymin: proto.Float32(0.5), Xmax: proto.Float32(0.75), Ymax: proto.Float32(1), Difficult: proto.Bool(k == 1),
			}}}})
	}
	return a
}

func boxRecords(t testing.TB, edit func(i int, a *caffepb.AnnotatedDatum), objects ...int) (values [][]byte) {
	for i, n := range objects {
		a := boxRecord(i, n)
		edit(i, a)
		b, err := proto.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, b)
	}
	return values
}

func unedited(int, *caffepb.AnnotatedDatum) {}

// newAnnotated makes a layer. The error is SetUp's.
func newAnnotated(t testing.TB, text string, d *layers.Device, top []*blob.Blob) (*annotatedDataLayer, error) {
	t.Helper()
	var p caffepb.LayerParameter
	if err := prototext.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	l := &annotatedDataLayer{batchLayer: batchLayer{Base: layers.Base{Param: &p, Device: d}}}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.SetUp(nil, top); err != nil {
		return l, err
	}
	return l, l.Reshape(nil, top)
}

// TestAnnotatedLabels: a row for each object of the batch, in the order of items; a row of -1 for a batch without objects.
func TestAnnotatedLabels(t *testing.T) {
	path := recordsDB(t, boxRecords(t, unedited, 2, 1, 0, 0, 0, 1)...)
	for name, d := range dataDevices(t) {
		t.Run(name, func(t *testing.T) {
			top := []*blob.Blob{{}, {}}
			l, err := newAnnotated(t, fmt.Sprintf("data_param { source: %q batch_size: 2 backend: LMDB }", path), d, top)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(top[0].Shape(), []int{2, 3, 2, 4}) || !slices.Equal(top[1].Shape(), []int{1, 1, 2, 8}) {
				t.Fatalf("tops %v and %v", top[0].Shape(), top[1].Shape())
			}
			for round := range 2 {
				for k, want := range [][]float32{
					{0, 5, 0, 0.25, 0.5, 0.75, 1, 0, 0, 6, 3, 0.25, 0.5, 0.75, 1, 1, 1, 5, 0, 0.25, 0.5, 0.75, 1, 0},
					{-1, -1, -1, -1, -1, -1, -1, -1}, {1, 5, 0, 0.25, 0.5, 0.75, 1, 0},
				} {
					if err := l.Forward(nil, top); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(top[1].Shape(), []int{1, 1, len(want) / 8, 8}) || !slices.Equal(top[1].Data(), want) {
						t.Fatalf("round %d, batch %d: label %v %v, want %v", round, k, top[1].Shape(), top[1].Data(), want)
					}
					if v := top[0].Data()[24]; v != float32(2*k+1) {
						t.Errorf("batch %d: the second image is of %v", k, v)
					}
				}
			}
		})
	}
}

// TestAnnotatedTypes: records without a type give labels, unless anno_type makes them records of boxes.
func TestAnnotatedTypes(t *testing.T) {
	untyped := func(_ int, a *caffepb.AnnotatedDatum) { a.Type = nil }
	path := recordsDB(t, boxRecords(t, untyped, 1, 2)...)
	d := dataDevices(t)["mpe"]
	for text, want := range map[string][]float32{
		"": {10, 11}, "annotated_data_param { anno_type: BBOX }": {
			0, 5, 0, 0.25, 0.5, 0.75, 1, 0, 1, 5, 0, 0.25, 0.5, 0.75, 1, 0, 1, 6, 3, 0.25, 0.5, 0.75, 1, 1,
		},
	} {
		top := []*blob.Blob{{}, {}}
		l, err := newAnnotated(t, fmt.Sprintf("data_param { source: %q batch_size: 2 backend: LMDB } %s", path, text), d, top)
		if err == nil {
			err = l.Forward(nil, top)
		}
		if err != nil || !slices.Equal(top[1].Data(), want) {
			t.Errorf("%q: label %v, %v, want %v", text, top[1].Data(), err, want)
		}
	}
}

const augmented = `data_param { source: %q batch_size: 5 backend: LMDB }
transform_param { mirror: true mean_value: 104 mean_value: 117 mean_value: 123 crop_h: 60 crop_w: 50 emit_constraint { }
  resize_param { height: 64 width: 72 interp_mode: LINEAR interp_mode: AREA interp_mode: NEAREST interp_mode: CUBIC interp_mode: LANCZOS4 }
  distort_param { brightness_prob: 0.5 brightness_delta: 32 contrast_prob: 0.5 contrast_lower: 0.5 contrast_upper: 1.5 hue_prob: 0.5 hue_delta: 18
    saturation_prob: 0.5 saturation_lower: 0.5 saturation_upper: 1.5 random_order_prob: 0.1 }
  expand_param { prob: 0.5 max_expand_ratio: 3 } noise_param { saltpepper: true saltpepper_param { fraction: 0.01 value: 0 } } }
annotated_data_param { batch_sampler { max_sample: 1 max_trials: 1 }
  batch_sampler { sampler { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 } sample_constraint { min_jaccard_overlap: 0.3 } max_sample: 1 max_trials: 50 } }`

// picturesDB holds rendered images with their boxes.
func picturesDB(t testing.TB, n int) string {
	var values [][]byte
	for i := range n {
		p := shapes.RenderPicture(4, uint64(i), 0)
		im := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
		for k := range p.Mask {
			im.Set(k%p.Width, k/p.Width, color.RGBA{p.Pixels[3*k+2], p.Pixels[3*k+1], p.Pixels[3*k], 255})
		}
		var file bytes.Buffer
		if err := png.Encode(&file, im); err != nil {
			t.Fatal(err)
		}
		a := &caffepb.AnnotatedDatum{Type: caffepb.AnnotatedDatum_BBOX.Enum(), Datum: &caffepb.Datum{Encoded: proto.Bool(true), Data: file.Bytes()}}
		for _, o := range p.Objects {
			w, h := float32(p.Width), float32(p.Height)
			a.AnnotationGroup = append(a.AnnotationGroup, &caffepb.AnnotationGroup{GroupLabel: proto.Int32(int32(o.Label)), Annotation: []*caffepb.Annotation{{
				Bbox: &caffepb.NormalizedBBox{Xmin: proto.Float32(float32(o.X0) / w), Ymin: proto.Float32(float32(o.Y0) / h),
					Xmax: proto.Float32(float32(o.X1) / w), Ymax: proto.Float32(float32(o.Y1) / h)}}}})
		}
		b, err := proto.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, b)
	}
	return recordsDB(t, values...)
}

// TestAnnotatedDeterministic: with every augmentation, batches have the same bits on one processor and on five, and behind SetPosition. Items
// differ from one epoch to the next.
func TestAnnotatedDeterministic(t *testing.T) {
	text := fmt.Sprintf(augmented, picturesDB(t, 10))
	run := func(processors int, from uint64, batches int) (all [][]float32) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		d := dataDevices(t)["mpe"]
		top := []*blob.Blob{{}, {}}
		l, err := newAnnotated(t, text, d, top)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.SetPosition(from); err != nil {
			t.Fatal(err)
		}
		for range batches {
			if err := l.Forward(nil, top); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(top[0].Shape(), []int{5, 3, 60, 50}) {
				t.Fatalf("shape %v", top[0].Shape())
			}
			all = append(all, slices.Clone(top[0].Data()), slices.Clone(top[1].Data()))
		}
		return all
	}
	want := run(1, 0, 6)
	for i, other := range [][][]float32{run(5, 0, 6), append(slices.Clone(want[:6]), run(3, 15, 3)...)} {
		for k := range want {
			if !slices.Equal(other[k], want[k]) {
				t.Errorf("run %d: blob %d differs", i, k)
			}
		}
	}
	if slices.Equal(want[0], want[4]) {
		t.Error("the second epoch has the same images as the first")
	}
	for k := 1; k < len(want); k += 2 {
		for i := 0; i < len(want[k]); i += 8 {
			row := want[k][i : i+8]
			if row[0] >= 0 && !(row[3] >= 0 && row[3] < row[5] && row[5] <= 1 && row[4] >= 0 && row[4] < row[6] && row[6] <= 1) {
				t.Errorf("row %v", row)
			}
		}
	}
}

// TestAnnotatedSizes: with several resize_param ten batches have one size, also behind SetPosition in their middle, for the second of two workers,
// and on any number of processors.
func TestAnnotatedSizes(t *testing.T) {
	text := fmt.Sprintf(`data_param { source: %q batch_size: 2 backend: LMDB } annotated_data_param { yolo_data_type: 1 yolo_data_jitter: 0.3 }
		transform_param { mirror: true resize_param { prob: 0.5 height: 12 width: 8 interp_mode: AREA interp_mode: LINEAR } resize_param { prob: 0.5 height: 7 width: 9 } }`, recordsDB(t, boxRecords(t, unedited, 2, 1, 0, 1, 1, 3)...))
	run := func(processors int, share layers.Share, from uint64, batches int) (shapes [][]int, values [][]float32) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		d := dataDevices(t)["mpe"]
		d.Share = share
		top := []*blob.Blob{{}, {}}
		l, err := newAnnotated(t, text, d, top)
		if err == nil {
			err = l.SetPosition(from)
		}
		for range batches {
			if err := errors.Join(err, l.Forward(nil, top)); err != nil {
				t.Fatal(err)
			}
			shapes, values = append(shapes, slices.Clone(top[0].Shape())), append(values, slices.Clone(top[0].Data()), slices.Clone(top[1].Data()))
		}
		return shapes, values
	}
	shapes, values := run(1, layers.Share{}, 0, 60)
	sizes := map[string]bool{}
	for k, s := range shapes {
		if want := shapes[k/10*10]; !slices.Equal(s, want) {
			t.Errorf("batch %d has shape %v, batch %d %v", k, s, k/10*10, want)
		}
		sizes[fmt.Sprint(s)] = true
	}
	if len(sizes) != 2 || !sizes["[2 3 12 8]"] || !sizes["[2 3 7 9]"] {
		t.Errorf("the sizes are %v", sizes)
	}
	resumed, again := run(3, layers.Share{}, 2*17, 43)
	if !slices.EqualFunc(resumed, shapes[17:], slices.Equal) || !slices.EqualFunc(again, values[2*17:], slices.Equal) {
		t.Error("batches from number 17 on differ")
	}
	split, _ := run(2, layers.Share{Rank: 1, Ranks: 2, Split: true}, 0, 60)
	for k, s := range split {
		if !slices.Equal(s[1:], shapes[k][1:]) || s[0] != 1 {
			t.Errorf("batch %d of the second worker has shape %v, one worker's has %v", k, s, shapes[k])
		}
	}
}

// TestAnnotatedErrors: errors name the file, the record and the field.
func TestAnnotatedErrors(t *testing.T) {
	good := boxRecords(t, unedited, 1, 1, 1)
	untyped := boxRecords(t, func(i int, a *caffepb.AnnotatedDatum) {
		if i == 2 {
			a.Type = nil
		}
	}, 1, 1, 1)
	infinite := boxRecords(t, func(_ int, a *caffepb.AnnotatedDatum) {
		a.AnnotationGroup[0].Annotation[0].Bbox.Xmax = proto.Float32(float32(math.Inf(1)))
	}, 1)
	datum, err := proto.Marshal(boxRecord(0, 0).GetDatum())
	if err != nil {
		t.Fatal(err)
	}
	floats := boxRecords(t, func(_ int, a *caffepb.AnnotatedDatum) { a.Datum.Data, a.Datum.FloatData = nil, make([]float32, 24) }, 1)
	d := dataDevices(t)["mpe"]
	for _, c := range []struct {
		values [][]byte
		text   string
		want   []string
	}{
		{[][]byte{good[0][:len(good[0])/2]}, "", []string{"boxes_lmdb: item 0 (key \"00000\")", "not an AnnotatedDatum"}},
		{[][]byte{good[0], good[1], good[2][:len(good[2])-3]}, "", []string{"boxes_lmdb: item 2 (key \"00002\")", "not an AnnotatedDatum"}},
		{[][]byte{{}}, "", []string{"item 0", "holds 0 images, not 1 (a database of Datum records belongs into a Data layer)"}},
		{[][]byte{datum}, "", []string{"boxes_lmdb: item 0"}},
		{untyped, "", []string{"item 2 (key \"00002\")", "has no type, unlike the first one"}},
		{infinite, "", []string{"item 0", "has the coordinate +Inf"}},
		{floats, "", []string{"item 0", "holds floats"}},
		{good, "transform_param { crop_size: 3 }", []string{"crop_size 3 is larger than the data: height 2, width 4"}},
		{good, "transform_param { crop_h: 3 crop_w: 1 }", []string{"crop_h 3, crop_w 1 are larger than the data: height 2, width 4"}},
		{good, "transform_param { crop_h: 3 }", []string{"crop_h 3 and crop_w 0 must both be set"}},
		{good, "annotated_data_param { batch_sampler { sampler { min_scale: 0.5 max_scale: 2 } } }", []string{"batch_sampler 0: min_scale 0.5 and max_scale 2"}},
		{good, "annotated_data_param { label_map_file: '/no/map' }", []string{"/no/map"}},
		{good, "transform_param { noise_param { clahe: true } }", []string{"noise_param: clahe is not supported"}},
	} {
		top := []*blob.Blob{{}, {}}
		l, err := newAnnotated(t, fmt.Sprintf("data_param { source: %q batch_size: 3 backend: LMDB } %s", recordsDB(t, c.values...), c.text), d, top)
		if err == nil {
			err = l.Forward(nil, top)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v, want %q", c.text, err, want)
			}
		}
	}
	if _, err := newAnnotated(t, "data_param { source: 'x' }", d, nil); err == nil || !strings.Contains(err.Error(), "batch_size must be positive") {
		t.Errorf("no batch_size: %v", err)
	}
}

// TestFieldsOfSSDAreRefused: WindowData layers refuse what they do not apply.
func TestFieldsOfSSDAreRefused(t *testing.T) {
	entry, err := layers.Find("WindowData")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"resize_param", "noise_param", "distort_param", "expand_param", "emit_constraint"} {
		var p caffepb.LayerParameter
		if err := prototext.Unmarshal(fmt.Appendf(nil, "window_data_param { source: 'x' batch_size: 1 crop_size: 3 } transform_param { %s { } }", field), &p); err != nil {
			t.Fatal(err)
		}
		l := entry.New(&p, dataDevices(t)["mpe"])
		if err := l.SetUp(nil, []*blob.Blob{{}, {}}); err == nil || !strings.Contains(err.Error(), field+" is supported in AnnotatedData, Data and ImageData layers only") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestFieldsOfSSDWithoutBoxes: Data and ImageData layers resize and damage images. They ignore the fields for boxes with a warning.
func TestFieldsOfSSDWithoutBoxes(t *testing.T) {
	const transform = ` transform_param { scale: 2 resize_param { height: 8 width: 3 interp_mode: NEAREST } noise_param { inverse: true }
		distort_param { brightness_prob: 1 brightness_delta: 99 } expand_param { prob: 1 max_expand_ratio: 3 } emit_constraint { } }`
	picture := image.NewRGBA(image.Rect(0, 0, 3, 4))
	for i := range picture.Pix {
		if picture.Pix[i] = byte(3 * i); i%4 == 3 {
			picture.Pix[i] = 255
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "a.png")
	if err := errors.Join(os.WriteFile(name, file.Bytes(), 0o644), os.WriteFile(filepath.Join(dir, "list"), []byte(name+" 7\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	encoded, err := proto.Marshal(&caffepb.Datum{Data: file.Bytes(), Encoded: proto.Bool(true), Label: proto.Int32(7)})
	if err != nil {
		t.Fatal(err)
	}
	var raw caffepb.Datum
	raw.Channels, raw.Height, raw.Width, raw.Label = proto.Int32(3), proto.Int32(4), proto.Int32(3), proto.Int32(7)
	var want []float32
	for c := range 3 {
		for y := range 8 {
			for x := range 3 {
				v := picture.Pix[y/2*picture.Stride+4*x+2-c] // blue, green, red
				if y%2 == 0 {
					raw.Data = append(raw.Data, v)
				}
				want = append(want, 2*float32(255-v))
			}
		}
	}
	plain, err := proto.Marshal(&raw)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"encoded datum": fmt.Sprintf("type: 'Data' data_param { source: %q batch_size: 1 backend: LMDB }", recordsDB(t, encoded)),
		"datum":         fmt.Sprintf("type: 'Data' data_param { source: %q batch_size: 1 backend: LMDB }", recordsDB(t, plain)),
		"image":         fmt.Sprintf("type: 'ImageData' image_data_param { source: %q batch_size: 1 }", filepath.Join(dir, "list")),
	} {
		var p caffepb.LayerParameter
		if err := prototext.Unmarshal([]byte("name: 'data' "+text+transform), &p); err != nil {
			t.Fatal(err)
		}
		entry, err := layers.Find(p.GetType())
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		d := *dataDevices(t)["mpe"]
		d.Log = &logrus.Logger{Out: &log, Formatter: &logrus.TextFormatter{DisableQuote: true}, Level: logrus.InfoLevel}
		l, top := entry.New(&p, &d), []*blob.Blob{{}, {}}
		t.Cleanup(func() { l.(layers.Closer).Close() })
		if err := errors.Join(l.SetUp(nil, top), l.Forward(nil, top)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !slices.Equal(top[0].Shape(), []int{1, 3, 8, 3}) || !slices.Equal(top[0].Data(), want) || top[1].Data()[0] != 7 {
			t.Errorf("%s: %s %v, want %v", what, top[0].ShapeString(), top[0].Data(), want)
		}
		for _, field := range []string{"distort_param", "expand_param", "emit_constraint"} {
			if !strings.Contains(log.String(), `layer "data": transform_param's `+field+" does nothing in a layer of type "+p.GetType()) {
				t.Errorf("%s: no warning of %s in %q", what, field, log.String())
			}
		}
	}
}
