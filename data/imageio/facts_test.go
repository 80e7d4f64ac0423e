package imageio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"
)

// TestDescribe: channels and bits are those of the file, whatever Decode makes of them.
func TestDescribe(t *testing.T) {
	r := image.Rect(0, 0, 5, 3)
	encoded := func(m image.Image) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var grey bytes.Buffer
	if err := jpeg.Encode(&grey, image.NewGray(r), nil); err != nil {
		t.Fatal(err)
	}
	for want, file := range map[string][]byte{
		"PNG 3x5 1x8":  encoded(image.NewGray(r)),
		"PNG 3x5 1x16": encoded(image.NewGray16(r)),
		"PNG 3x5 4x8":  encoded(image.NewNRGBA(r)),
		"PNG 3x5 4x16": encoded(image.NewNRGBA64(r)),
		"PNG 3x5 3x1":  encoded(image.NewPaletted(r, color.Palette{color.Black, color.White})),
		"PNG 3x5 4x1":  encoded(image.NewPaletted(r, color.Palette{color.Transparent, color.White})),
		"JPEG 3x5 1x8": grey.Bytes(),
		"PNM 2x3 1x1":  []byte("P1 3 2 1 0 1 0 1 0"),
		"PNM 2x1 3x16": []byte("P3 1 2 700 1 2 3 4 5 6\n"),
		"PNM 1x2 1x8":  []byte("P5 2 1 255 ab"),
	} {
		f, err := Describe(file)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got := fmt.Sprintf("%s %dx%d %dx%d", f.Format, f.Height, f.Width, f.Channels, f.Bits); got != want || f.Orientation != 1 || f.Repaired != "" {
			t.Errorf("%s, orientation %d, repaired %q; want %s", got, f.Orientation, f.Repaired, want)
		}
	}
}
