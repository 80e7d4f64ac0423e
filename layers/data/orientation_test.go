package data

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// uprightPixel returns where the stored image of height h and width w has the pixel that is to be seen at y, x, for each orientation of the Exif standard.
func uprightPixel(orientation, y, x, h, w int) (int, int) {
	switch orientation {
	case 2:
		return y, w - 1 - x
	case 3:
		return h - 1 - y, w - 1 - x
	case 4:
		return h - 1 - y, x
	case 5:
		return x, y
	case 6:
		return h - 1 - x, y
	case 7:
		return h - 1 - x, w - 1 - y
	case 8:
		return x, w - 1 - y
	}
	return y, x
}

// orientedPair writes a JPEG with an orientation, and a PNG of the pixels that are to be seen. It returns the size of the latter.
func orientedPair(t *testing.T, dir string, orientation int) (height, width int) {
	t.Helper()
	const h, w = 24, 32
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.RGBA{byte(7 * x), byte(9 * y), byte(255 - 3*x - 3*y), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(orientation)) + "\x00\x00\x00\x00\x00\x00"
	file := append([]byte("\xff\xd8"+exif), b.Bytes()[2:]...)
	if err := os.WriteFile(filepath.Join(dir, "picture.jpg"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	stored, err := imageio.Decode(file, imageio.Unchanged)
	if err != nil {
		t.Fatal(err)
	}
	if height, width = h, w; orientation >= 5 {
		height, width = w, h
	}
	upright, grey := image.NewRGBA(image.Rect(0, 0, width, height)), image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			sy, sx := uprightPixel(orientation, y, x, h, w)
			p := stored.Pix[3*(sy*w+sx):]
			upright.Set(x, y, color.RGBA{p[2], p[1], p[0], 255})
			grey.SetGray(x, y, color.Gray{byte(y*width+x) % 20})
		}
	}
	writePNG(t, filepath.Join(dir, "picture.png"), upright)
	writePNG(t, filepath.Join(dir, "mask.png"), grey)
	return height, width
}

// TestOrientations: layers read JPEGs of all orientations as they are to be seen, so that masks, windows and labels of that frame fit: the tops are those
// of a PNG of the upright pixels.
func TestOrientations(t *testing.T) {
	for orientation := 1; orientation <= 8; orientation++ {
		dir := t.TempDir()
		height, width := orientedPair(t, dir, orientation)
		for name, text := range map[string]string{
			"list":    "%[1]s 0\n",
			"pairs":   "%[1]s mask.png\n",
			"dense":   "DIR/%[1]s DIR/mask.png\n",
			"windows": fmt.Sprintf("# 0\nDIR/%%[1]s\n3\n%d\n%d\n2\n1 0.9 2 3 %d %d\n0 0 0 0 %d %d\n", height, width, width-2, height-5, width-1, height-1),
		} {
			for _, end := range []string{"jpg", "png"} {
				text := bytes.ReplaceAll(fmt.Appendf(nil, text, "picture."+end), []byte("DIR"), []byte(dir))
				if err := os.WriteFile(filepath.Join(dir, name+"."+end), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, end := range []string{"jpg", "png"} {
			encodedDB(t, filepath.Join(dir, "db."+end), filepath.Join(dir, "picture."+end))
		}
		for what, text := range map[string]string{
			"ImageData":                   `image_data_param { source: "DIR/list.END" root_folder: "DIR/" batch_size: 1 }`,
			"ImageData, resized and grey": `type: "ImageData" image_data_param { source: "DIR/list.END" root_folder: "DIR/" batch_size: 1 new_height: 15 new_width: 17 is_color: false }`,
			"ImageSegData":                `image_data_param { source: "DIR/pairs.END" root_folder: "DIR/" batch_size: 1 label_type: PIXEL } transform_param { crop_size: 40 }`,
			"DenseImageData":              `dense_image_data_param { source: "DIR/dense.END" batch_size: 1 }`,
			"WindowData":                  `window_data_param { source: "DIR/windows.END" batch_size: 4 } transform_param { crop_size: 8 }`,
			"Data":                        `data_param { source: "DIR/db.END" backend: LMDB batch_size: 1 } transform_param { force_color: true }`,
		} {
			tops := map[string][][]float32{}
			for _, end := range []string{"jpg", "png"} {
				tops[end] = firstBatch(t, what, dir, end, text)
			}
			for i := range tops["png"] {
				if what == "ImageData, resized and grey" && i == 0 {
					continue // the luma that the JPEG stores is not that of its colours: only the shapes are compared
				}
				if !slices.Equal(tops["jpg"][i], tops["png"][i]) {
					t.Errorf("orientation %d, %s: top %d of the JPEG differs from that of the upright PNG", orientation, what, i)
				}
			}
		}
	}
}

// encodedDB writes a database of one encoded image.
func encodedDB(t *testing.T, path, picture string) {
	t.Helper()
	file, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	value, err := proto.Marshal(&caffepb.Datum{Data: file, Encoded: proto.Bool(true), Label: proto.Int32(3)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := lmdb.Create(path)
	if err == nil {
		err = w.Put([]byte("0"), value)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// firstBatch returns the first batch of a layer, values and shapes.
func firstBatch(t *testing.T, what, dir, end, text string) (tops [][]float32) {
	t.Helper()
	p := &caffepb.LayerParameter{Phase: caffepb.Phase_TEST.Enum(), Type: proto.String(what)}
	full := bytes.ReplaceAll(bytes.ReplaceAll([]byte(text), []byte("DIR"), []byte(dir)), []byte("END"), []byte(end))
	if err := (prototext.UnmarshalOptions{}).Unmarshal(full, p); err != nil {
		t.Fatal(err)
	}
	if p.Type == nil {
		p.Type = proto.String(what)
	}
	entry, err := layers.Find(p.GetType())
	if err != nil {
		t.Fatal(err)
	}
	d := dataDevices(t)["cpe host"]
	d.Random = layers.NewRandom(1)
	l := entry.New(p, d)
	defer l.(layers.Closer).Close()
	top := []*blob.Blob{{}, {}}
	if p.GetType() == "ImageSegData" {
		top = append(top, &blob.Blob{})
	}
	if err = l.SetUp(nil, top); err == nil {
		err = l.Forward(nil, top)
	}
	if err != nil {
		t.Fatalf("%s of %s: %v", what, end, err)
	}
	for _, b := range top {
		values := slices.Clone(b.Data())
		for _, extent := range b.Shape() {
			values = append(values, float32(extent))
		}
		tops = append(tops, values)
	}
	return tops
}
