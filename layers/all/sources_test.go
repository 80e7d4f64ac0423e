package all_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	addCases("Data", layertest.Case{Files: digitsLMDB, Tops: 2, NoGradient: "a source", Allocates: "a prefetcher works beside it"})
	addCases("AnnotatedData", layertest.Case{Files: boxesLMDB, Tops: 2, NoGradient: "a source", Allocates: "images are transformed"},
		layertest.Case{Name: "YOLO", Param: "annotated_data_param { yolo_data_type: 1 }", Files: boxesLMDB, Tops: 2, NoGradient: "a source", Allocates: "images are transformed"})
	addCases("ImageData", layertest.Case{Files: pictures, Tops: 2, NoGradient: "a source", Allocates: "images are decoded"})
	addCases("DenseImageData", layertest.Case{Files: pairs, Tops: 2, NoGradient: "a source", Allocates: "images are decoded"})
	addCases("ImageSegData", layertest.Case{Files: segmented, Tops: 3, NoGradient: "a source", Allocates: "images are decoded"})
	addCases("WindowData", layertest.Case{Files: windows, Tops: 2, NoGradient: "a source", Allocates: "images are decoded"})
	addCases("HDF5Data", layertest.Case{Files: rows, Tops: 2, Allocates: "files are read again in every round", Param: `top: "data" top: "label" `})
}

func digitsLMDB(t testing.TB) string {
	return recordsLMDB(t, 5, func(i int) proto.Message { return digit(i) })
}

// boxesLMDB has a batch of images of which the first has all objects: the label top never changes its size, and a machine without values, which
// knows the first image's objects only, charges for the right number.
func boxesLMDB(t testing.TB) string {
	return recordsLMDB(t, 3, func(i int) proto.Message {
		a := &caffepb.AnnotatedDatum{Datum: digit(i), Type: caffepb.AnnotatedDatum_BBOX.Enum()}
		for k := range [3]int{2, 0, 0}[i] {
			a.AnnotationGroup = append(a.AnnotationGroup, &caffepb.AnnotationGroup{GroupLabel: proto.Int32(int32(k)), Annotation: []*caffepb.Annotation{{
				Bbox: &caffepb.NormalizedBBox{Xmin: proto.Float32(0.1), Ymin: proto.Float32(0.2), Xmax: proto.Float32(0.5 + float32(k)/4), Ymax: proto.Float32(0.9)},
			}}})
		}
		return a
	})
}

// TestYoloLabels: objects of the first of three images are rows of class, centre and sides; classes begin with 0.
func TestYoloLabels(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "AnnotatedData", Tops: 2, Param: "annotated_data_param { yolo_data_type: 1 } " + boxesLMDB(t)})
		if err := f.Layer.Forward(nil, f.Top); err != nil {
			t.Fatal(err)
		}
		if got := f.Top[1].ShapeString(); got != "3 300 5 (4500)" {
			t.Fatalf("labels have shape %s", got)
		}
		want := make([]float32, 4500)
		copy(want, []float32{-1, 0.3, 0.55, 0.4, 0.7, 0, 0.425, 0.55, 0.65, 0.7})
		layertest.Equal(t, "labels", f.Top[1].Data(), want, 1e-6)
	}
}

func digit(i int) *caffepb.Datum {
	return &caffepb.Datum{
		Channels: proto.Int32(1), Height: proto.Int32(2), Width: proto.Int32(3), Label: proto.Int32(int32(i)),
		Data: []byte{byte(i), 10, 20, 30, 40, byte(50 + i)},
	}
}

func recordsLMDB(t testing.TB, n int, record func(i int) proto.Message) string {
	dir := filepath.Join(t.TempDir(), "db")
	w, err := lmdb.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		value, err := proto.Marshal(record(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Put(fmt.Appendf(nil, "%08d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("data_param { source: %q batch_size: 3 backend: LMDB }", dir)
}

func pictures(t testing.TB) string {
	dir := t.TempDir()
	var list string
	for i := range 3 {
		name := fmt.Sprintf("%d.png", i)
		picture(t, filepath.Join(dir, name), i)
		list += fmt.Sprintf("%s %d\n", name, i)
	}
	source := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(source, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("image_data_param { source: %q root_folder: %q batch_size: 2 }", source, dir+"/")
}

// pairs lists pictures with each other as labels.
func pairs(t testing.TB) string {
	dir := t.TempDir()
	var list string
	for i := range 3 {
		picture(t, filepath.Join(dir, fmt.Sprintf("%d.png", i)), i)
		list += fmt.Sprintf("%d.png %d.png\n", i, (i+1)%3)
	}
	source := filepath.Join(dir, "pairs.txt")
	if err := os.WriteFile(source, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("dense_image_data_param { source: %q root_folder: %q batch_size: 2 } transform_param { crop_size: 2 mirror: true }", source, dir+"/")
}

func segmented(t testing.TB) string {
	text, _, _ := strings.Cut(pairs(t), " transform_param")
	return strings.Replace(text, "dense_image_data_param {", "transform_param { crop_size: 5 } image_data_param { label_type: PIXEL", 1)
}

// windows writes a window file for three pictures, with context.
func windows(t testing.TB) string {
	dir := t.TempDir()
	var list string
	for i := range 3 {
		name := filepath.Join(dir, fmt.Sprintf("%d.png", i))
		picture(t, name, i)
		list += fmt.Sprintf("# %d\n%s\n3 3 4\n2\n%d 0.8 0 0 2 1\n0 0.1 1 1 3 2\n", i, name, i+1)
	}
	source := filepath.Join(dir, "windows.txt")
	if err := os.WriteFile(source, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("window_data_param { source: %q batch_size: 5 context_pad: 1 } transform_param { crop_size: 6 mirror: true }", source)
}

// picture writes a picture 4 wide and 3 high.
func picture(t testing.TB, path string, i int) {
	m := image.NewRGBA(image.Rect(0, 0, 4, 3))
	m.Set(i, 1, color.RGBA{200, 100, 50, 255})
	f, err := os.Create(path)
	if err == nil {
		err = png.Encode(f, m)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rows writes two files: 3 and 2 rows of data (2 values each) and labels.
func rows(t testing.TB) string {
	dir := t.TempDir()
	var list string
	at := float32(0)
	for i, n := range []int{3, 2} {
		path := filepath.Join(dir, fmt.Sprintf("%d.h5", i))
		data, labels := make([]float32, 2*n), make([]float32, n)
		for k := range labels {
			data[2*k], data[2*k+1], labels[k] = at, -at, at
			at++
		}
		sets := []hdf5.Dataset{{Path: "/data", Shape: []int{n, 2}, Data: data}, {Path: "/label", Shape: []int{n}, Data: labels}}
		if err := hdf5.Write(path, &hdf5.File{Floats: sets}); err != nil {
			t.Fatal(err)
		}
		list += path + "\n"
	}
	source := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(source, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("hdf5_data_param { batch_size: 4 source: %q }", source)
}

// TestHDF5BatchesRunAcrossFiles reads batches of four from five rows in two files, and resumes from a position.
func TestHDF5BatchesRunAcrossFiles(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "HDF5Data", Tops: 2, Param: `top: "data" top: "label" ` + rows(t)})
		want := [][]float32{{0, 1, 2, 3}, {4, 0, 1, 2}, {3, 4, 0, 1}}
		for i, w := range want {
			if err := f.Layer.Forward(nil, f.Top); err != nil {
				t.Fatal(err)
			}
			layertest.Equal(t, fmt.Sprintf("labels of batch %d", i), f.Top[1].Data(), w, 0)
			layertest.Equal(t, "data", f.Top[0].Data()[2:4], []float32{w[1], -w[1]}, 0)
		}
		p := f.Layer.(layers.Positioner)
		if p.Position() != 12 {
			t.Errorf("position %d, want 12", p.Position())
		}
		if err := p.SetPosition(8); err != nil {
			t.Fatal(err)
		}
		if err := f.Layer.Forward(nil, f.Top); err != nil {
			t.Fatal(err)
		}
		layertest.Equal(t, "labels after SetPosition", f.Top[1].Data(), want[2], 0)
	}
}

// TestNoSource: layers that read files say which parameter names none.
func TestNoSource(t *testing.T) {
	b := layertest.NewBench(t)
	for _, layer := range []string{
		"Data data_param", "AnnotatedData data_param", "HDF5Data hdf5_data_param", "ImageData image_data_param", "DenseImageData dense_image_data_param", "WindowData window_data_param",
	} {
		kind, param, _ := strings.Cut(layer, " ")
		p := &caffepb.NetParameter{}
		text := fmt.Sprintf("layer { name: 'd' type: %q top: 'x' top: 'y' %s { batch_size: 1 } transform_param { crop_size: 2 } }", kind, param)
		if kind == "HDF5Data" {
			text = strings.Replace(text, "transform_param { crop_size: 2 }", "", 1)
		}
		if _, err := swproto.UnmarshalText("net", []byte(text), p); err != nil {
			t.Fatal(err)
		}
		if _, err := swnet.New(p, swnet.Options{Device: b.Device(layertest.Engines()[0])}); err == nil || !strings.Contains(err.Error(), param+": source is not set") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
