package imageio

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"testing"

	"golang.org/x/image/tiff"
)

// TestDecodeDeep: 16-bit values arrive whole from PNG and TIFF, grey and coloured, with and without alpha. 8-bit images and other files are
// left to Decode; a cut file is an error.
func TestDecodeDeep(t *testing.T) {
	at := func(x, y, c int) uint16 { return uint16(1000*y + 300*x + 77*c + 5) }
	bounds := image.Rect(0, 0, 4, 3)
	fill := func(im draw.Image, alpha uint16) draw.Image {
		for y := range 3 {
			for x := range 4 {
				im.Set(x, y, color.NRGBA64{at(x, y, 0), at(x, y, 1), at(x, y, 2), alpha})
			}
		}
		return im
	}
	grey := image.NewGray16(bounds)
	for y := range 3 {
		for x := range 4 {
			grey.SetGray16(x, y, color.Gray16{Y: at(x, y, 0)})
		}
	}
	for name, im := range map[string]image.Image{
		"colours": fill(image.NewNRGBA64(bounds), 0xffff), "alpha": fill(image.NewNRGBA64(bounds), 0x1234), "grey": grey, "bytes": fill(image.NewNRGBA(bounds), 0xffff),
	} {
		var files [2]bytes.Buffer
		if err := png.Encode(&files[0], im); err != nil {
			t.Fatal(err)
		}
		if err := tiff.Encode(&files[1], im, nil); err != nil {
			t.Fatal(err)
		}
		for i, file := range files {
			d, err := DecodeDeep(file.Bytes())
			if err != nil || (d == nil) != (name == "bytes") {
				t.Fatalf("%s, file %d: %v, %v", name, i, d, err)
			}
			if d == nil {
				continue
			}
			var want []uint16
			for y := range 3 {
				for x := range 4 {
					for c := range 3 {
						if name == "grey" {
							c = 0
						}
						want = append(want, at(x, y, c))
					}
				}
			}
			if d.Height != 3 || d.Width != 4 || !slices.Equal(d.Values, want) {
				t.Errorf("%s, file %d: %+v, want %v", name, i, d, want)
			}
			if d, err := DecodeDeep(file.Bytes()[:file.Len()/2]); err == nil {
				t.Errorf("%s, half of file %d: %+v", name, i, d)
			}
		}
	}
	for _, other := range []string{"", "P6 1 1 65535 abcdef", "\xff\xd8"} {
		if d, err := DecodeDeep([]byte(other)); d != nil || err != nil {
			t.Errorf("%q: %v, %v", other, d, err)
		}
	}
}
