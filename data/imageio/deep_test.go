package imageio

import (
	"bytes"
	"encoding/binary"
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

// TestDeepOrientations: a TIFF of 16 bits is made upright like one of 8.
func TestDeepOrientations(t *testing.T) {
	for orientation := 1; orientation <= 8; orientation++ {
		file := binary.LittleEndian.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), 10)
		for _, tag := range [][2]uint32{{256, 4}, {257, 3}, {258, 16}, {259, 1}, {262, 2}, {273, 8 + 2 + 120 + 4}, {274, uint32(orientation)}, {277, 3}, {278, 3}, {279, 72}} {
			file = binary.LittleEndian.AppendUint16(file, uint16(tag[0]))
			file = binary.LittleEndian.AppendUint16(file, 4)
			file = binary.LittleEndian.AppendUint32(file, 1)
			file = binary.LittleEndian.AppendUint32(file, tag[1])
		}
		file = append(file, 0, 0, 0, 0)
		for i := range 36 {
			file = binary.LittleEndian.AppendUint16(file, uint16(257*7*i))
		}
		d, err := DecodeDeep(file)
		if err != nil {
			t.Fatal(err)
		}
		im, err := Decode(file, Color)
		if err != nil {
			t.Fatal(err)
		}
		if d.Height != im.Height || d.Width != im.Width {
			t.Fatalf("orientation %d: %d x %d of 16 bits, %d x %d of 8", orientation, d.Height, d.Width, im.Height, im.Width)
		}
		for i, v := range d.Values {
			if b := im.Pix[i/3*3+2-i%3]; v != 257*uint16(b) {
				t.Errorf("orientation %d, value %d: %d of 16 bits, %d of 8", orientation, i, v, b)
			}
		}
	}
}
