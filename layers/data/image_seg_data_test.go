package data

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
)

const pairCount, pairHeight, pairWidth = 3, 5, 6

// class is that of a pixel in the masks of writePairs; no two pixels have the same.
func class(item, y, x int) int { return 1 + item*40 + y*pairWidth + x }

// writePairs writes images, whose blue is twice the class of their mask, and a list of them.
func writePairs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := ""
	for i := range pairCount {
		picture, mask := image.NewRGBA(image.Rect(0, 0, pairWidth, pairHeight)), image.NewGray(image.Rect(0, 0, pairWidth, pairHeight))
		for y := range pairHeight {
			for x := range pairWidth {
				picture.Set(x, y, color.RGBA{7, 9, byte(2 * class(i, y, x)), 255})
				mask.SetGray(x, y, color.Gray{byte(class(i, y, x))})
			}
		}
		writePNG(t, filepath.Join(dir, fmt.Sprintf("%d.png", i)), picture)
		writePNG(t, filepath.Join(dir, fmt.Sprintf("mask%d.png", i)), mask)
		list += fmt.Sprintf("%d.png\tmask%d.png \r\n\n", i, i)
	}
	writePNG(t, filepath.Join(dir, "small.png"), image.NewGray(image.Rect(0, 0, 2, 2)))
	for name, text := range map[string]string{"list": list, "unequal": "0.png small.png\n", "three": "0.png mask0.png 1\n", "empty": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir + "/"
}

// segmentation makes an ImageSegData layer with three tops.
func segmentation(t *testing.T, d *layers.Device, typ, dir, list, param, rest string) (layers.Layer, []*blob.Blob, error) {
	t.Helper()
	p := &caffepb.LayerParameter{Phase: caffepb.Phase_TRAIN.Enum()}
	text := fmt.Sprintf("type: %q image_data_param { source: %q root_folder: %q %s } %s", typ, dir+list, dir, param, rest)
	if err := prototext.Unmarshal([]byte(text), p); err != nil {
		t.Fatal(err)
	}
	entry, err := layers.Find(typ)
	if err != nil {
		t.Fatal(err)
	}
	l, top := entry.New(p, d), []*blob.Blob{{}, {}, {}}
	t.Cleanup(func() { l.(layers.Closer).Close() })
	return l, top, l.SetUp(nil, top)
}

// TestImageSegData: crops of 8 x 4 of images of 5 x 6 end with 3 rows of zeros, and of 200 in the masks. Each pixel above has its mask's class.
func TestImageSegData(t *testing.T) {
	dir := writePairs(t)
	for name, d := range dataDevices(t) {
		l, top, err := segmentation(t, d, "ImageSegData", dir, "list", "batch_size: 2 shuffle: true label_type: PIXEL ignore_label: 200",
			"transform_param { crop_h: 8 crop_w: 4 mirror: true mean_value: [1, 2, 3] scale: 0.5 }")
		if err != nil {
			t.Fatal(err)
		}
		if got := top[2].ShapeString(); got != "2 1 1 2 (4)" {
			t.Errorf("data_dim has shape %s", got)
		}
		corners := map[string]bool{}
		for range 20 {
			if err := l.Forward(nil, top); err != nil {
				t.Fatal(err)
			}
			if a, b, dims := top[0].ShapeString(), top[1].ShapeString(), top[2].Data(); a != "2 3 8 4 (192)" || b != "2 1 8 4 (64)" || fmt.Sprint(dims) != "[5 4 5 4]" {
				t.Fatalf("%s: shapes %s, %s, sizes %v", name, a, b, dims)
			}
			for item := range 2 {
				mask := top[1].Data()[item*32:][:32]
				for k, c := range mask {
					blue, want := top[0].Data()[item*96+k], (2*c-1)*0.5
					if k >= 20 {
						want = 0
					}
					if blue != want || (c == 200) != (k >= 20) {
						t.Fatalf("%s: pixel %d is %g, its class %g: want %g", name, k, blue, c, want)
					}
				}
				corners[fmt.Sprint(mask[0], mask[1] < mask[0])] = true
			}
		}
		if len(corners) < 10 {
			t.Errorf("%s: %d different images, crops and mirrors in 40 items", name, len(corners))
		}
	}
}

// TestImageSegDataTest: phase TEST takes the middle, here columns 1 to 4 of 6, and rows 0 to 4 with 2 of padding. Without masks all is ignored, and
// a line of the list is an image's name.
func TestImageSegDataTest(t *testing.T) {
	dir, d := writePairs(t), dataDevices(t)["mpe"]
	if err := os.WriteFile(dir+"names", []byte("1.png\n0.png\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const rest = "transform_param { crop_h: 7 crop_w: 4 mean_value: 1 } phase: TEST"
	for list, param := range map[string]string{"list": "batch_size: 2 label_type: PIXEL", "names": "batch_size: 2 label_type: NONE"} {
		l, top, err := segmentation(t, d, "ImageSegData", dir, list, param, rest)
		if err == nil {
			err = l.Forward(nil, top)
		}
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range top[1].Data() {
			item, y, x := k/28, k%28/4, k%4
			want, blue := float32(255), float32(0)
			if y < 5 {
				v := float32(class(item, y, x+1))
				if blue = 2*v - 1; list == "list" {
					want = v
				} else {
					blue = float32(2*class(1-item, y, x+1) - 1)
				}
			}
			if got := top[0].Data()[item*84+k%28]; c != want || got != blue {
				t.Fatalf("%s: row %d, column %d of item %d: class %g and value %g, want %g and %g", list, y, x, item, c, got, want, blue)
			}
		}
		if got := fmt.Sprint(top[2].Data()); got != "[5 4 5 4]" {
			t.Errorf("%s: sizes %s", list, got)
		}
	}
}

func TestImageSegDataErrors(t *testing.T) {
	dir, d := writePairs(t), dataDevices(t)["mpe"]
	for _, tt := range []struct{ typ, list, param, rest, want string }{
		{"ImageSegData", "list", "", "", "label_type must be set"},
		{"ImageSegData", "list", "label_type: IMAGE", "", "label_type IMAGE"},
		{"ImageSegData", "list", "label_type: PIXEL", "transform_param { mean_file: 'm' }", "mean_file is not for ImageSegData"},
		{"ImageSegData", "unequal", "label_type: PIXEL", "", "height 5 and width 6 differ from those of the labels"},
		{"ImageSegData", "three", "label_type: PIXEL", "", "3 paths, not pairs"},
		{"ImageData", "list", "label_type: PIXEL", "", "for layers of type ImageSegData"},
	} {
		if _, _, err := segmentation(t, d, tt.typ, dir, tt.list, tt.param, tt.rest); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: error %v, want %q", tt.typ, tt.param, err, tt.want)
		}
	}
}
