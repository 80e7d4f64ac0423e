package imageio

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// pngOf encodes an image.
func pngOf(t *testing.T, im image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, im); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMemory: decoding allocates no more than the image, since rows come from the file one by one. An image that is resized, or whose planes are
// written to memory of the caller, needs nothing.
func TestMemory(t *testing.T) {
	const side = 1500
	r := image.Rect(0, 0, side, side)
	var colours, greys, bits bytes.Buffer
	if err := errors.Join(jpeg.Encode(&colours, opaque(image.NewNRGBA(r)), nil), jpeg.Encode(&greys, image.NewGray(r), nil)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&bits, "P6 %d %d 255\n%s", side, side, make([]byte, 3*side*side))
	for _, c := range []struct {
		name  string
		file  []byte
		mode  Mode
		whole float64 // bytes a pixel
	}{
		{"grey as colour", pngOf(t, image.NewGray(r)), Color, 3},
		{"grey", pngOf(t, image.NewGray(r)), Gray, 1},
		{"16-bit grey", pngOf(t, image.NewGray16(r)), Gray, 1},
		{"16-bit grey as colour", pngOf(t, image.NewGray16(r)), Color, 3},
		{"palette", pngOf(t, image.NewPaletted(r, color.Palette{color.Black, color.White})), Color, 3},
		{"colour", pngOf(t, opaque(image.NewNRGBA(r))), Color, 3},
		{"colour as grey", pngOf(t, opaque(image.NewNRGBA(r))), Gray, 1},
		{"colour and alpha", pngOf(t, image.NewNRGBA(r)), Color, 3},
		{"16-bit colour", pngOf(t, image.NewNRGBA64(r)), Color, 3},
		{"JPEG", colours.Bytes(), Color, 3},
		{"JPEG as grey", colours.Bytes(), Gray, 1},
		{"grey JPEG", greys.Bytes(), Color, 3},
		{"PPM", bits.Bytes(), Color, 3},
	} {
		var whole, scaled *Image
		check := func(what string, want float64, f func() error) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := f()
			runtime.ReadMemStats(&after)
			if got := float64(after.TotalAlloc-before.TotalAlloc) / (side * side); err != nil || got > want+0.25 {
				t.Errorf("%s, %s: %.2f bytes a pixel, want %.0f (error %v)", c.name, what, got, want, err)
			}
		}
		check("whole", c.whole, func() (err error) { whole, err = Decode(c.file, c.mode); return err })
		check("scaled", 0, func() (err error) { scaled, _, err = DecodeResized(c.file, c.mode, 20, 30); return err })
		if want := resized(t, whole, 20, 30); !slices.Equal(scaled.Pix, want.Pix) || scaled.Height != 20 || scaled.Width != 30 {
			t.Errorf("%s: another image", c.name)
		}
		planes := make([]byte, len(whole.Pix))
		check("planes", 0, func() error {
			p, err := Open(c.file, c.mode)
			if err == nil {
				_, err = p.Planes(planes)
			}
			return err
		})
		if !slices.Equal(planes, whole.Planes()) {
			t.Errorf("%s: other planes", c.name)
		}
	}
}

func opaque(im *image.NRGBA) *image.NRGBA {
	for i := 3; i < len(im.Pix); i += 4 {
		im.Pix[i] = 255
	}
	return im
}

// TestDecodeResizedIsBoth: scaling while decoding is decoding and then scaling, for each kind of image that has colours and alpha.
func TestDecodeResizedIsBoth(t *testing.T) {
	r := image.Rect(0, 0, 37, 23)
	fill := func(set func(x, y int)) {
		for y := range 23 {
			for x := range 37 {
				set(x, y)
			}
		}
	}
	c := func(x, y int) color.NRGBA64 {
		return color.NRGBA64{uint16(x*1700 + y), uint16(y * 2800), uint16(x*y*70 + 3), uint16(65535 - x*900)}
	}
	a, b := image.NewNRGBA(r), image.NewNRGBA64(r)
	g, w := image.NewGray(r), image.NewGray16(r)
	p := image.NewPaletted(r, color.Palette{color.Black, color.NRGBA{255, 3, 99, 255}, color.NRGBA{1, 200, 3, 100}})
	fill(func(x, y int) {
		a.Set(x, y, c(x, y))
		b.Set(x, y, c(x, y))
		g.Set(x, y, c(x, y))
		w.Set(x, y, c(x, y))
		p.SetColorIndex(x, y, uint8((x+y)%3))
	})
	for _, im := range []image.Image{a, b, g, w, p} {
		file := pngOf(t, im)
		for _, mode := range []Mode{Unchanged, Color, Gray} {
			whole, err := Decode(file, mode)
			if err != nil {
				if mode != Unchanged || !strings.Contains(err.Error(), "16-bit") {
					t.Errorf("%T, %v: %v", im, mode, err)
				}
				continue
			}
			for _, size := range [][2]int{{23, 37}, {50, 20}, {1, 1}, {10, 100}} {
				got, other, err := DecodeResized(file, mode, size[0], size[1])
				if err != nil || other != (size != [2]int{23, 37}) || !slices.Equal(got.Pix, resized(t, whole, size[0], size[1]).Pix) {
					t.Errorf("%T, %v, %v: another image, or error %v", im, mode, size, err)
				}
			}
		}
	}
}

// TestTooLarge: sizes for which there is no memory are errors with the sizes, whatever the numbers.
func TestTooLarge(t *testing.T) {
	file := pngOf(t, image.NewGray(image.Rect(0, 0, 4, 4)))
	for _, size := range [][2]int{{2000000000, 2000000000}, {1<<(bits.UintSize/2) - 1, 1<<(bits.UintSize/2) - 1}, {math.MaxInt, 1}, {1, math.MaxInt}} {
		_, _, err := DecodeResized(file, Color, size[0], size[1])
		if err == nil || !strings.Contains(err.Error(), "of memory would be needed") {
			t.Errorf("%v: %v", size, err)
		}
		if _, err := New(4, 4, 3).Resize(size[0], size[1]); err == nil || !strings.Contains(err.Error(), "of memory would be needed") {
			t.Errorf("%v: %v", size, err)
		}
	}
	if err := checkSize(maxSide+1, 1); err == nil {
		t.Error("a side of more than OpenCV's limit")
	}
}
