package imageio

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestOpenCV compares resizing and colours with testdata/opencv.txt, what OpenCV 4.6 printed. Everything agrees exactly but two cases:
// cubic interpolation may differ by 1 in less than one value of a thousand (OpenCV sums in float32), and so may colours from HSV (OpenCV fuses
// multiplications and additions there; in rows of 32 pixels and more it also cuts values off, which the images avoid).
func TestOpenCV(t *testing.T) {
	text, err := os.ReadFile("testdata/opencv.txt")
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]Interpolation{"linear": Linear, "area": Area, "nearest": Nearest, "cubic": Cubic, "lanczos4": Lanczos4}
	type count struct{ lines, values, differ int }
	counts := map[string]count{}
	for line := range strings.Lines(string(text)) {
		var name, in, out string
		var h, w, c, height, width int
		if n, err := fmt.Sscan(line, &name, &h, &w, &c, &height, &width, &in, &out); n != 8 {
			t.Fatal(err)
		}
		from, want := unhex(t, in), unhex(t, out)
		im := &Image{Height: h, Width: w, Channels: c, Pix: bytes.Clone(from)}
		got := im
		switch name {
		case "hsv":
			got = im.ToHSV()
		case "bgr":
			got = im.FromHSV()
		case "luma":
			got = im.Luma()
		case "contrast":
			got = im.Scaled(-1, 1.5, 0)
		case "brightness":
			got = im.Scaled(-1, 1, -20.75)
		case "erode":
			got = im.Erode()
		case "by:0.5", "by:0.37", "by:1.3", "by:2":
			factor, _ := strconv.ParseFloat(name[3:], 32)
			if got, err = im.ResizeBy(factor); err != nil {
				t.Fatal(err)
			}
		default:
			if got, err = im.ResizeWith(modes[name], height, width); err != nil {
				t.Fatal(err)
			}
		}
		if got.Height != height || got.Width != width || got.Channels != c || len(got.Pix) != len(want) {
			t.Fatalf("%s: %d x %d x %d, want %d x %d x %d", name, got.Height, got.Width, got.Channels, height, width, c)
		}
		differ, worst := 0, 0
		for i, v := range want {
			if d := max(int(v)-int(got.Pix[i]), int(got.Pix[i])-int(v)); d > 0 {
				differ, worst = differ+1, max(worst, d)
			}
		}
		n := counts[name]
		counts[name] = count{n.lines + 1, n.values + len(want), n.differ + differ}
		if rounds := name == "cubic" || name == "bgr"; differ > 0 && !(rounds && worst == 1) {
			t.Errorf("%s %d x %d x %d to %d x %d: %d of %d values differ, by up to %d", name, h, w, c, height, width, differ, len(want), worst)
		}
		if !bytes.Equal(im.Pix, from) {
			t.Errorf("%s changes its image", name)
		}
	}
	for name, n := range counts {
		if 1000*n.differ >= n.values {
			t.Errorf("%s: %d of %d values differ", name, n.differ, n.values)
		}
	}
	if len(counts) != 15 || counts["area"].lines != 16 {
		t.Errorf("operations %v", counts)
	}
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestHSVRoundTrip: all colours survive the round trip to HSV and back within the rounding of hue and saturation.
func TestHSVRoundTrip(t *testing.T) {
	im := New(52, 52*52, 3)
	for i := range im.Pix {
		im.Pix[i] = byte(5 * (i / 3 / [3]int{1, 52, 52 * 52}[i%3] % 52))
	}
	hsv := im.ToHSV()
	back := hsv.FromHSV()
	for i, v := range im.Pix {
		if i%3 == 0 && hsv.Pix[i] >= 180 {
			t.Fatalf("hue %d", hsv.Pix[i])
		}
		if d := int(v) - int(back.Pix[i]); d < -5 || d > 5 {
			t.Fatalf("pixel %v becomes %v, through HSV %v", im.Pix[i/3*3:][:3], back.Pix[i/3*3:][:3], hsv.Pix[i/3*3:][:3])
		}
	}
}
