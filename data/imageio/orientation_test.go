package imageio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// TestOrientation: a letter F of 2x3 pixels as the eight orientations store it, from the table of the Exif standard: 0 is its row and column
// at the top and on the left.
func TestOrientation(t *testing.T) {
	upright := "ab\nac\nad\n"
	for i, stored := range []string{
		"ab\nac\nad\n", "ba\nca\nda\n", "da\nca\nba\n", "ad\nac\nab\n", "aaa\nbcd\n", "bcd\naaa\n", "dcb\naaa\n", "aaa\ndcb\n",
	} {
		lines := bytes.Fields([]byte(stored))
		im := New(len(lines), len(lines[0]), 1)
		copy(im.Pix, bytes.Join(lines, nil))
		im.Repaired = "damage"
		got := im.turned(i + 1)
		text := ""
		for y := range got.Height {
			text += string(got.Pix[y*got.Width:][:got.Width]) + "\n"
		}
		if text != upright || got.Repaired == "" {
			t.Errorf("orientation %d: %q", i+1, text)
		}
	}
}

// TestSpread: every pixel of an image, stored in an orientation, is at its place in the upright image and in its planes.
func TestSpread(t *testing.T) {
	const height, width = 37, 21
	for _, channels := range []int{1, 3, 4} {
		im := New(height, width, channels)
		for i := range im.Pix {
			im.Pix[i] = byte(i*7 + i/256)
		}
		for orientation := 1; orientation <= 8; orientation++ {
			r := im.rows()
			r.orientation = orientation
			h, w := r.upright()
			planes := make([]byte, len(im.Pix))
			if _, err := r.planes(planes); err != nil {
				t.Fatal(err)
			}
			got := im.turned(orientation)
			for y := range height {
				for x := range width {
					row, column := y, x
					switch orientation {
					case 2, 3, 6, 7:
						column = width - 1 - x
						if orientation >= 5 {
							column, row = height-1-y, x
						}
					case 5, 8:
						column, row = y, x
					}
					switch orientation {
					case 3, 4:
						row = height - 1 - y
					case 7, 8:
						row = width - 1 - x
					}
					for c := range channels {
						want := im.Pix[(y*width+x)*channels+c]
						if got.Pix[(row*w+column)*channels+c] != want || planes[(c*h+row)*w+column] != want {
							t.Fatalf("%d channels, orientation %d: row %d, column %d is not at %d, %d", channels, orientation, y, x, row, column)
						}
					}
				}
			}
		}
	}
}

// TestOrientedJPEG: Color and Gray turn an image upright, Unchanged does not, also when it is resized.
func TestOrientedJPEG(t *testing.T) {
	im := image.NewRGBA(image.Rect(0, 0, 48, 16)) // left third white
	for y := range 16 {
		for x := range 16 {
			im.Set(x, y, color.White)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, im, nil); err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	file := append([]byte("\xff\xd8"+exif), b.Bytes()[2:]...)
	for mode, want := range map[Mode]string{Unchanged: "16x48 255 0", Color: "48x16 255 0", Gray: "48x16 255 0"} {
		got, err := Decode(file, mode)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%dx%d %d %d", got.Height, got.Width, got.Pix[0], got.Pix[len(got.Pix)-1]); text != want {
			t.Errorf("mode %d: %s, want %s", mode, text, want)
		}
		small, _, err := DecodeResized(file, mode, 6, 3)
		if err != nil || small.Height != 6 || small.Width != 3 {
			t.Errorf("mode %d, resized: %+v, %v", mode, small, err)
		} else if whole, err := got.Resize(6, 3); err != nil || !bytes.Equal(small.Pix, whole.Pix) {
			t.Errorf("mode %d: resizing while decoding gives another image", mode)
		}
	}
}
