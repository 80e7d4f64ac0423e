package imageio

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// TestRecycle: images in the memory of others have the pixels of images in new memory, and a row of images needs little memory.
func TestRecycle(t *testing.T) {
	files := make([][]byte, 3)
	for i := range files {
		im := image.NewRGBA(image.Rect(0, 0, 200+40*i, 300-50*i))
		for y := range 300 {
			for x := range 300 {
				im.SetRGBA(x, y, color.RGBA{byte(x*i + y), byte(x * y), byte(y - x), 255})
			}
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, im, nil); err != nil {
			t.Fatal(err)
		}
		files[i] = b.Bytes()
	}
	read := func(i int) *Image {
		im, err := Decode(files[i%3], []Mode{Color, Gray, Unchanged}[i%4%3])
		if err != nil {
			t.Fatal(err)
		}
		return im
	}
	var kept []*Image
	for i := range 12 {
		kept = append(kept, read(i))
	}
	for i := range 1000 {
		im := read(i % 12)
		if want := kept[i%12]; !bytes.Equal(im.Pix, want.Pix) || im.Width != want.Width || im.Channels != want.Channels {
			t.Fatalf("image %d: other pixels", i)
		}
		for k := range im.Pix {
			im.Pix[k] = byte(i)
		}
		im.Recycle()
	}
	shared, _ := kept[0].rows().image()
	shared.Recycle()
	if im := read(0); &im.Pix[0] == &kept[0].Pix[0] {
		t.Error("memory that another image has was handed on")
	}
}
