package imageio

import (
	"slices"
	"strings"
	"testing"
)

// TestPNM: what Caffe's ImageData layer made of these files with OpenCV 4.5, B, G, R and grey.
func TestPNM(t *testing.T) {
	tripled := func(v []byte) (out []byte) {
		for _, v := range v {
			out = append(out, v, v, v)
		}
		return out
	}
	grey := []byte{0, 1, 2, 100, 200, 255}
	bits := []byte{0, 255, 0, 0, 255, 255, 255, 255, 0, 0}
	packed := []byte{0, 255, 0, 0, 255, 255, 255, 0, 0, 255, 0, 255, 255, 255, 255, 255, 255, 255}
	for name, c := range map[string]struct {
		file         string
		width        int
		colour, grey []byte
	}{
		"P6":                      {"P6\n3 1\n255\n\x21\x69\x00\x8f\x70\x00\xfd\x77\x00", 3, []byte{0, 105, 33, 0, 112, 143, 0, 119, 253}, []byte{71, 108, 145}},
		"P5 with comments":        {"P5 # grey\n# two lines\n3 2 200\n" + string(grey), 3, tripled(grey), grey},
		"P5 of 16 bits":           {"P5 2 1 65535\n\x01\xff\xc8\x07", 2, tripled([]byte{1, 200}), []byte{1, 200}},
		"P4":                      {"P4 9 2\n\xb1\x80\x40\x7f", 9, tripled(packed), packed},
		"P3 up to 100":            {"P3 1 2 100 10 20 30\n40 50 99\n", 1, []byte{76, 51, 25, 252, 127, 102}, []byte{46, 134}},
		"P2 up to 15, beyond too": {"P2\n3 1\n15\n1 7 20\n", 3, tripled([]byte{17, 119, 255}), []byte{17, 119, 255}},
		"P1":                      {"P1 5 2\n10110 0 0 # c\n0 1 1\n", 5, tripled(bits), bits},
	} {
		for mode, want := range map[Mode][]byte{Color: c.colour, Gray: c.grey} {
			got, err := Decode([]byte(c.file), mode)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got.Width != c.width || got.Width*got.Height*got.Channels != len(want) || !slices.Equal(got.Pix, want) {
				t.Errorf("%s, mode %d: %d x %d: %v\nwant %v", name, mode, got.Height, got.Width, got.Pix, want)
			}
		}
	}
}

func TestBadPNM(t *testing.T) {
	for file, want := range map[string]string{
		"P6\n3 1\n255\n123":            "ends early",
		"P6\n3 1\n255":                 "ends early",
		"P2 2 2 255\n1 2 3":            "ends early",
		"P1 2 1 0":                     "ends early",
		"P1 2 1\n0 x":                  "'x' where a bit should be",
		"P5 x":                         `"x" where a number should be`,
		"P6 -5 4 255\n":                `"-" where a number should be`,
		"P5 0 4 255\n":                 "0 x 4 pixels",
		"P5 1000000 1000000 255\n1":    "1000000 x 1000000 pixels",
		"P5 1 1 70000\n1234":           "largest value of the PNM image is 70000",
		"P5 1 1 0\n1":                  "largest value of the PNM image is 0",
		"P5 99999999999999999999 1 1 ": "where a number should be",
	} {
		if im, err := Decode([]byte(file), Gray); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", file, im, err, want)
		}
	}
	if _, err := Decode([]byte("P5 1 1 256\n12"), Unchanged); err == nil || !strings.Contains(err.Error(), "16-bit PNM") {
		t.Errorf("16 bits unchanged: %v", err)
	}
}
