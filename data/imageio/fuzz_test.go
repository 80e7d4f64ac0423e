package imageio

import (
	"archive/zip"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/testkit/costtest"
)

func FuzzJPEG(f *testing.F) { fuzzFormat(f, "JPEG") }
func FuzzPNG(f *testing.F)  { fuzzFormat(f, "PNG") }
func FuzzBMP(f *testing.F)  { fuzzFormat(f, "BMP") }
func FuzzTIFF(f *testing.F) { fuzzFormat(f, "TIFF") }
func FuzzWebP(f *testing.F) { fuzzFormat(f, "WebP") }
func FuzzPNM(f *testing.F) {
	fuzzFormat(f, "PNM", "P1 5 2\n10110 0 0 # c\n0 1 1\n", "P2\n2 2 100\n1 2\n3 100\n", "P3 1 2 255 1 2 3 4 5 6 ", "P4 9 2\n1234", "P5 1 1 65535\n12", "P6\n1 1\n255\n123")
}

// fuzzFormat: damaged files of a format are errors or images, in every mode, and neither takes long. The seeds are the small files of TestPictures.
func fuzzFormat(f *testing.F, name string, seed ...string) {
	z, err := zip.OpenReader("testdata/pictures.zip")
	if err != nil {
		f.Fatal(err)
	}
	defer z.Close()
	for _, s := range seed {
		f.Add([]byte(s))
	}
	seeds := len(seed)
	for _, file := range z.File {
		if file.UncompressedSize64 > 2000 || file.Name == "values.txt" {
			continue
		}
		r, err := file.Open()
		if err != nil {
			f.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			f.Fatal(err)
		}
		if kind, err := formatOf(b); err == nil && kind.name == name {
			f.Add(b)
			seeds++
		}
	}
	if seeds < 5 {
		f.Fatalf("%d seeds of %s", seeds, name)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if kind, err := formatOf(file); err != nil || kind.name != name || len(file) > 1<<20 {
			return
		}
		for _, mode := range []Mode{Unchanged, Color, Gray} {
			var im *Image
			var err error
			took, allocated := costtest.Of(func() { im, err = Decode(file, mode) })
			size := 0
			if err == nil {
				if size = im.Height * im.Width * im.Channels; len(im.Pix) != size {
					t.Errorf("%d x %d x %d: %d values", im.Height, im.Width, im.Channels, len(im.Pix))
				}
			}
			if over := tooCostly(file, size, took, allocated); over != "" {
				t.Errorf("mode %d: %s (error %v)", mode, over, err)
			}
			if took > time.Second/10 {
				return // other files find more in this time
			}
		}
		if d, err := DecodeDeep(file); err == nil && d != nil && len(d.Values) != 3*d.Height*d.Width {
			t.Errorf("%d x %d: %d values of 16 bits", d.Height, d.Width, len(d.Values))
		}
		if _, err := Describe(file); err != nil {
			return
		}
		if _, _, err := DecodeResized(file, Color, 3, 5); err != nil {
			t.Errorf("Describe and Decode read it, DecodeResized does not: %v", err)
		}
	})
}

// tooCostly says what was too much about reading a file of up to 1 MB: more than some seconds, for code that counts what it covers (TestDense holds the second);
// or more memory than 20 times the picture and a window of zstd or LZMA. A refused file may have cost what the largest picture of its size needs.
func tooCostly(file []byte, size int, took time.Duration, allocated float64) string {
	const seconds, fixed = 3, 160 << 20
	if size == 0 {
		size = mostPixels(len(file)) / 4
	}
	if took > seconds*time.Second || allocated > 20*float64(size)+fixed {
		return fmt.Sprintf("%v and %.0f bytes allocated for %d values from %d bytes", took, allocated, size, len(file))
	}
	return ""
}
