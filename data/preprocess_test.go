package data

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/lmdb"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// writePicture writes a PNG of random pixels.
func writePicture(t *testing.T, path string, height, width int, r *rand.Rand) {
	t.Helper()
	im := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			im.SetNRGBA(x, y, color.NRGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255})
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, im); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPreprocessor compares each item with the batch of the layer that states the preprocessing, at every bit. Mirrors and damage of the
// layer must not be in it.
func TestPreprocessor(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	const pictures = 5
	var files []string
	for i := range pictures {
		files = append(files, filepath.Join(dir, fmt.Sprint(i, ".png")))
		writePicture(t, files[i], 20+r.IntN(30), 20+r.IntN(30), r)
	}
	named := map[string]string{"db": filepath.Join(dir, "db"), "missing": filepath.Join(dir, "missing")}
	for name, channels := range map[string]int64{"mean1": 1, "mean3": 3} {
		named[name] = writeMean(t, []int64{1, channels, 18, 16}, func(int) float32 { return 255 * r.Float32() })
	}
	for _, c := range []struct {
		layer  string
		resize [2]int // height and width of the images in the database
		shape  [3]int
	}{
		{`type: "ImageData" image_data_param { new_height: 18 new_width: 16 } transform_param { mirror: true }`, [2]int{18, 16}, [3]int{3, 18, 16}},
		{`type: "ImageData" image_data_param { new_height: 18 new_width: 16 is_color: false } transform_param { scale: 0.5 mean_file: "mean1" crop_size: 9 }`, [2]int{18, 16}, [3]int{1, 9, 9}},
		{`type: "Data" transform_param { mean_file: "mean3" scale: 0.0078125 }`, [2]int{18, 16}, [3]int{3, 18, 16}},
		{`type: "Data" transform_param { mean_file: "mean3" crop_size: 15 mirror: true }`, [2]int{18, 16}, [3]int{3, 15, 15}},
		{`type: "Data" transform_param { mean_value: 104 mean_value: 117 mean_value: 123 crop_size: 15 } data_param { source: "db" backend: LMDB }`, [2]int{31, 27}, [3]int{3, 15, 15}},
		{`type: "Data" transform_param { mean_value: 104 } data_param { source: "missing" backend: LMDB }`, [2]int{31, 27}, [3]int{3, 31, 27}},
		{`type: "Input" transform_param { mean_value: 104 scale: 0.017 }`, [2]int{11, 12}, [3]int{3, 11, 12}},
		{`type: "AnnotatedData" transform_param { mean_value: 104 resize_param { height: 24 width: 23 } noise_param { prob: 1 saltpepper: true } }`, [2]int{24, 23}, [3]int{3, 24, 23}},
	} {
		text := c.layer
		for name, path := range named {
			text = strings.ReplaceAll(text, `"`+name+`"`, swproto.Quote(path))
		}
		l := &caffepb.LayerParameter{}
		if err := prototext.Unmarshal([]byte(text), l); err != nil {
			t.Fatal(err)
		}
		mode := imageio.Color
		if c.shape[0] == 1 {
			mode = imageio.Gray
		}
		writeDatums(t, filepath.Join(dir, "db"), files, c.resize, mode)
		p, err := NewPreprocessor(l, c.shape)
		if err != nil {
			t.Errorf("%s: %v", c.layer, err)
			continue
		}
		param := proto.CloneOf(l.TransformParam)
		param.Mirror, param.NoiseParam, param.ResizeParam = nil, nil, nil
		tr, err := NewTransformer(param, caffepb.Phase_TEST)
		if err != nil {
			t.Fatal(err)
		}
		db, err := OpenDB(&caffepb.DataParameter{Source: proto.String(filepath.Join(dir, "db")), Backend: caffepb.DataParameter_LMDB.Enum()})
		if err != nil {
			t.Fatal(err)
		}
		batches, err := NewPrefetcher(Config{Source: db, Decoder: DatumDecoder{Transformer: tr}, Transformer: tr, BatchSize: pictures})
		if err != nil {
			t.Fatal(err)
		}
		want, err := batches.Next()
		if err != nil {
			t.Fatal(err)
		}
		n := c.shape[0] * c.shape[1] * c.shape[2]
		got := make([]float32, n)
		for i, file := range files {
			for way, read := range map[string]func() error{
				"Read": func() error { _, err := p.Read(got, file); return err },
				"Put": func() error {
					im, err := imageio.Read(file, p.Mode())
					if err != nil {
						return err
					}
					return p.Put(got, im)
				},
			} {
				clear(got)
				if err := read(); err != nil {
					t.Errorf("%s: %s: %v", c.layer, way, err)
				} else if k := slices.IndexFunc(got, func(v float32) bool { return math.IsNaN(float64(v)) }); k >= 0 || !slices.Equal(got, want.Data[i*n:][:n]) {
					t.Errorf("%s: %s of image %d differs from the layer's item", c.layer, way, i)
				}
			}
		}
		if err := batches.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writeDatums writes images, resized, into a new database.
func writeDatums(t *testing.T, path string, files []string, size [2]int, mode imageio.Mode) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	db, err := lmdb.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		im, err := imageio.Read(file, mode)
		if err == nil {
			im, err = im.Resize(size[0], size[1])
		}
		if err != nil {
			t.Fatal(err)
		}
		value, err := proto.Marshal(&caffepb.Datum{Channels: proto.Int32(int32(im.Channels)), Height: proto.Int32(int32(size[0])), Width: proto.Int32(int32(size[1])), Data: im.Planes()})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Put(fmt.Appendf(nil, "%08d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPreprocessorCrops: boxes in the input are boxes in the image only without a crop or a border.
func TestPreprocessorCrops(t *testing.T) {
	for text, want := range map[string]bool{
		``:                                    false,
		`crop_size: 8`:                        true,
		`resize_param { height: 8 width: 8 }`: false,
		`resize_param { height: 8 width: 8 resize_mode: FIT_LARGE_SIZE_AND_PAD }`: true,
		`resize_param { height: 8 width: 8 resize_mode: FIT_SMALL_SIZE }`:         true,
	} {
		l := &caffepb.LayerParameter{Type: proto.String("Input"), TransformParam: &caffepb.TransformationParameter{}}
		if err := prototext.Unmarshal([]byte(text), l.TransformParam); err != nil {
			t.Fatal(err)
		}
		p, err := NewPreprocessor(l, [3]int{3, 8, 8})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if p.Crops() != want {
			t.Errorf("%s: Crops is %t", text, p.Crops())
		}
	}
}

func TestPreprocessorErrors(t *testing.T) {
	mean := swproto.Quote(writeMean(t, []int64{1, 3, 18, 16}, func(i int) float32 { return float32(i) }))
	for text, want := range map[string]string{
		`type: "HDF5Data"`: `a layer of type HDF5Data does not say how images become input`,
		`type: "Data" transform_param { mean_file: "mean" }`:                                     `it makes images of height 18 and width 16, the net's input has height 8 and width 8`,
		`type: "Input" transform_param { crop_size: 9 }`:                                         `it makes images of height 9 and width 9`,
		`type: "Data" transform_param { crop_size: 8 } data_param { source: "x" backend: LMDB }`: `images are cropped, but their size before that is unknown`,
		`type: "Input" transform_param { mean_value: 1 mean_file: "mean" }`:                      `mean_file and mean_value cannot both be set`,
		`type: "ImageData" image_data_param { new_height: 5 new_width: 8 }`:                      `it makes images of height 5 and width 8`,
	} {
		l := &caffepb.LayerParameter{}
		if err := prototext.Unmarshal([]byte(strings.ReplaceAll(text, `"mean"`, mean)), l); err != nil {
			t.Fatal(err)
		}
		if _, err := NewPreprocessor(l, [3]int{3, 8, 8}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	if _, err := NewPreprocessor(&caffepb.LayerParameter{Type: proto.String("Input")}, [3]int{2, 8, 8}); err == nil || !strings.Contains(err.Error(), "2 channels") {
		t.Errorf("2 channels: %v", err)
	}
}
