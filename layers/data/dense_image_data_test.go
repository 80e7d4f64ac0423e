package data

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
)

const denseHeight, denseWidth = 9, 12

// classOf is the label of a pixel of image id.
func classOf(id, y, x int) int { return (7*id + 3*y + 5*x) % 11 }

// densePairs writes three images whose pixels tell the image, row and column (B, G, R), and their labels, and lists them.
func densePairs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var list strings.Builder
	for id := range 3 {
		im := image.NewRGBA(image.Rect(0, 0, denseWidth, denseHeight))
		labels := image.NewGray(im.Rect)
		for y := range denseHeight {
			for x := range denseWidth {
				im.Set(x, y, color.RGBA{byte(10 * x), byte(10 * y), byte(10 * id), 255})
				labels.SetGray(x, y, color.Gray{byte(classOf(id, y, x))})
			}
		}
		for name, m := range map[string]image.Image{"image": im, "labels": labels} {
			writePNG(t, filepath.Join(dir, fmt.Sprint(name, id, ".png")), m)
		}
		fmt.Fprintf(&list, "image%d.png \t labels%d.png%c", id, id, " \n\n"[id]) // two pairs in the first line
	}
	if err := os.WriteFile(filepath.Join(dir, "list.txt"), []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writePNG(t *testing.T, path string, m image.Image) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, m); err != nil {
		t.Fatal(err)
	}
}

// denseLayer returns a layer and its tops after SetUp.
func denseLayer(t *testing.T, d *layers.Device, phase caffepb.Phase, text string) (*denseImageDataLayer, []*blob.Blob, error) {
	t.Helper()
	var p caffepb.LayerParameter
	if err := prototext.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	p.Phase = phase.Enum()
	l := &denseImageDataLayer{labelledImages{batchLayer: batchLayer{Base: layers.Base{Param: &p, Device: d}}}}
	t.Cleanup(func() { l.Close() })
	top := []*blob.Blob{{}, {}}
	return l, top, l.SetUp(nil, top)
}

// TestDenseImageDataFollowsImages: each pixel tells which image, row and column it comes from, and the label beside it must be the one of that
// place, for crops and mirrors of both phases. All crops and both directions occur.
func TestDenseImageDataFollowsImages(t *testing.T) {
	dir := densePairs(t)
	const batch, crop = 4, 5
	text := fmt.Sprintf(`dense_image_data_param { source: %q root_folder: %q batch_size: %d shuffle: true }
		transform_param { crop_size: %d mirror: true scale: 0.5 mean_value: 4 }`, dir+"/list.txt", dir+"/", batch, crop)
	for name, d := range dataDevices(t) {
		for _, phase := range []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST} {
			l, top, err := denseLayer(t, d, phase, text)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(top[0].Shape(), top[1].Shape()), fmt.Sprint([]int{batch, 3, crop, crop}, []int{batch, 1, crop, crop}); got != want {
				t.Fatalf("%s: shapes %s, want %s", name, got, want)
			}
			corners, mirrored := map[[2]int]bool{}, map[bool]bool{}
			for range 12 {
				if err := l.Forward(nil, top); err != nil {
					t.Fatal(err)
				}
				for i, got := range top[1].Data() {
					item, at := i/(crop*crop), i%(crop*crop)
					value := func(c, at int) int { return int(2*top[0].Data()[(item*3+c)*crop*crop+at]+4.5) / 10 }
					id, y, x := value(0, at), value(1, at), value(2, at)
					if want := classOf(id, y, x); got != float32(want) {
						t.Fatalf("%s, %v: label %v of item %d's pixel %d, which is row %d, column %d of image %d, want %d", name, phase, got, item, at, y, x, id, want)
					}
					if at == 0 {
						corners[[2]int{y, min(x, value(2, crop-1))}], mirrored[x > value(2, 1)] = true, true
					}
				}
			}
			if phase == caffepb.Phase_TEST && (len(corners) != 1 || !corners[[2]int{2, 3}]) {
				t.Errorf("%s, TEST: crops at %v, want the centre", name, corners)
			}
			if phase == caffepb.Phase_TRAIN && len(corners) < 20 || len(mirrored) != 2 {
				t.Errorf("%s, %v: %d different crops, mirrored %v", name, phase, len(corners), mirrored)
			}
		}
	}
}

// TestDenseImageDataResizes: labels are those of the nearest pixel, without new values; without resizing, they are the file's.
func TestDenseImageDataResizes(t *testing.T) {
	dir := densePairs(t)
	for size, from := range map[[2]int]func(y, x int) (int, int){
		{2 * denseHeight, 2 * denseWidth}: func(y, x int) (int, int) { return y / 2, x / 2 },
		{denseHeight / 3, denseWidth / 3}: func(y, x int) (int, int) { return 3 * y, 3 * x },
		{0, 0}:                            func(y, x int) (int, int) { return y, x },
	} {
		l, top, err := denseLayer(t, dataDevices(t)["mpe"], caffepb.Phase_TRAIN, fmt.Sprintf(
			`dense_image_data_param { source: %q root_folder: %q batch_size: 3 new_height: %d new_width: %d is_color: false }`, dir+"/list.txt", dir+"/", size[0], size[1]))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Forward(nil, top); err != nil {
			t.Fatal(err)
		}
		shape := top[1].Shape()
		if top[0].Shape()[1] != 1 {
			t.Errorf("is_color: false gives %v", top[0].Shape())
		}
		for i, got := range top[1].Data() {
			n := shape[2] * shape[3]
			y, x := from(i%n/shape[3], i%shape[3])
			if want := classOf(i/n, y, x); got != float32(want) {
				t.Fatalf("%v: label %d of image %d is %v, want %d", size, i%n, i/n, got, want)
			}
		}
	}
}

func TestDenseImageDataErrors(t *testing.T) {
	dir := densePairs(t)
	writePNG(t, dir+"/small.png", image.NewGray(image.Rect(0, 0, 5, 4)))
	for name, list := range map[string]string{"one.txt": "image0.png\n", "size.txt": "image0.png small.png\n", "none.txt": "image0.png missing.png\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`batch_size: 1`, "source is not set"},
		{`source: "list.txt"`, "batch_size must be positive"},
		{`source: "list.txt" batch_size: 1 new_width: 7`, "new_height 0 and new_width 7"},
		{`source: "list.txt" batch_size: 1 mean_file: "m"`, "mean_file has no effect in SegNet's layer"},
		{`source: "list.txt" batch_size: 1 rand_skip: 4`, "rand_skip 4 is more than the 3 images"},
		{`source: "one.txt" batch_size: 1`, `one.txt:1: 1 paths, not pairs of an image and its labels: "image0.png"`},
		{`source: "size.txt" batch_size: 1`, "height 9 and width 12 differ from those of the labels small.png, 4 and 5"},
		{`source: "none.txt" batch_size: 1`, "missing.png"},
		{`source: "list.txt" batch_size: 1 } transform_param { crop_size: 10`, "crop_size 10 is larger than the data: height 9, width 12"},
		{`source: "list.txt" batch_size: 1 } transform_param { resize_param { height: 2 width: 2 }`, "resize_param is supported in AnnotatedData, Data and ImageData layers only"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Chdir(dir)
			if _, _, err := denseLayer(t, dataDevices(t)["mpe"], caffepb.Phase_TRAIN, "dense_image_data_param { "+c.text+" }"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.text, err, c.want)
			}
		})
	}
}
