package imageio

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"golang.org/x/image/tiff"
)

// TestTIFF: what OpenCV 4.5 and libtiff gave Caffe's convert_imageset of these files, in colour and in grey.
func TestTIFF(t *testing.T) {
	r := image.Rect(0, 0, 3, 2)
	v := func(x, y int) uint8 { return uint8(37*x + 90*y + 11) }
	wide := func(high, low uint8) uint16 { return uint16(high)<<8 | uint16(low) }
	table := color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{40, 50, 60, 255}, color.NRGBA{200, 10, 90, 255}}
	colours := func(b, g, r string) (pixels []byte) {
		for i := range len(b) {
			pixels = append(pixels, b[i], g[i], r[i])
		}
		return pixels
	}
	const greys = "\x0b\x30\x55\x65\x8a\xaf"
	for _, c := range []struct {
		name        string
		im          image.Image
		colour      []byte
		grey        string
		inUnchanged int // channels; 0: refused
	}{
		{"grey", fill(image.NewGray(r), func(x, y int) color.Color { return color.Gray{v(x, y)} }), colours(greys, greys, greys), greys, 1},
		{"16-bit grey", fill(image.NewGray16(r), func(x, y int) color.Color { return color.Gray16{wide(v(x, y), 200)} }), colours(greys, greys, greys), greys, 0},
		{"colour", fill(image.NewRGBA(r), func(x, y int) color.Color { return color.RGBA{v(x, y), v(y, x), 255 - v(x, y), 255} }),
			colours("\xf4\xcf\xaa\x9a\x75\x50", "\x0be\xbf0\x8a\xe4", greys), "&a\x9dL\x88\xc3", 4}, // with an alpha of 255
		{"alpha", fill(image.NewNRGBA(r), func(x, y int) color.Color { return color.NRGBA{v(x, y), v(y, x), 255 - v(x, y), 128} }),
			colours("zhUM;(", "\x063`\x18Er", "\x06\x18+3EX"), "\x131O&Db", 4},
		{"16-bit colour", fill(image.NewRGBA64(r), func(x, y int) color.Color {
			return color.RGBA64{wide(v(x, y), 200), wide(v(y, x), 30), wide(255-v(x, y), 130), 65535}
		}), colours("\xf4\xcf\xaa\x9a\x75\x50", "\x0be\xbe0\x8a\xe3", "\x0c1Ue\x8a\xaf"), "&b\x9cL\x88\xc3", 0},
		{"16-bit alpha", fill(image.NewNRGBA64(r), func(x, y int) color.Color {
			return color.NRGBA64{wide(v(x, y), 200), wide(v(y, x), 30), wide(255-v(x, y), 130), 0x8000}
		}), colours("zhUM;(", "\x063_\x18Er", "\x06\x19+3EX"), "\x131N&Db", 0},
		{"palette", fill(image.NewPaletted(r, table), func(x, y int) color.Color { return table[(x+y)%3] }),
			colours("\x03<Z<Z\x03", "\x022\n2\n\x02", "\x01(\xc8(\xc8\x01"), "\x020L0L\x02", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var file bytes.Buffer
			if err := tiff.Encode(&file, c.im, &tiff.Options{Compression: tiff.Deflate}); err != nil {
				t.Fatal(err)
			}
			for mode, want := range map[Mode][]byte{Color: c.colour, Gray: []byte(c.grey)} {
				got, err := Decode(file.Bytes(), mode)
				if err != nil {
					t.Fatal(err)
				}
				if got.Height != 2 || got.Width != 3 || !bytes.Equal(got.Pix, want) {
					t.Errorf("mode %d: %d x %d: % x, want % x", mode, got.Height, got.Width, got.Pix, want)
				}
			}
			got, err := Decode(file.Bytes(), Unchanged)
			switch {
			case c.inUnchanged == 0 && err == nil:
				t.Errorf("unchanged: %v, want an error", got)
			case c.inUnchanged > 0 && (err != nil || got.Channels != c.inUnchanged):
				t.Errorf("unchanged: %v, error %v, want %d channels", got, err, c.inUnchanged)
			}
		})
	}
}
