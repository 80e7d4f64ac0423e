package imageio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
)

func encodePNG(t *testing.T, im image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// fill sets each pixel of im from a function of its place, so that swapped axes or channels show.
func fill(im interface {
	image.Image
	Set(x, y int, c color.Color)
}, f func(x, y int) color.Color) image.Image {
	for y := range im.Bounds().Dy() {
		for x := range im.Bounds().Dx() {
			im.Set(x, y, f(x, y))
		}
	}
	return im
}

func TestPNG(t *testing.T) {
	r := image.Rect(0, 0, 3, 2)
	colour := func(x, y int) color.Color { return color.NRGBA{byte(10 + x), byte(100 + y), byte(200 + x), 255} }
	clear := func(x, y int) color.Color {
		return color.NRGBA{byte(10 + x), byte(100 + y), byte(200 + x), byte(128 * y)}
	}
	deep := func(x, y int) color.Color {
		return color.NRGBA64{uint16(10+x)<<8 | 255, uint16(100+y)<<8 | 255, uint16(200+x) << 8, 65535}
	}
	table := color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{40, 50, 60, 255}}
	grey := func(x, y int) color.Color { return color.Gray{byte(50 + 10*x + y)} }
	bgr := []byte{200, 100, 10, 201, 100, 11, 202, 100, 12, 200, 101, 10, 201, 101, 11, 202, 101, 12}
	bgra := []byte{200, 100, 10, 0, 201, 100, 11, 0, 202, 100, 12, 0, 200, 101, 10, 128, 201, 101, 11, 128, 202, 101, 12, 128}
	greys := []byte{50, 60, 70, 51, 61, 71}
	// libpng: (9797 R + 19234 G + 3737 B) >> 15
	dark := []byte{84, 84, 85, 85, 85, 85}
	for i := range dark {
		p := bgr[3*i:]
		dark[i] = byte((9797*int(p[2]) + 19234*int(p[1]) + 3737*int(p[0])) / 32768)
	}
	tripled := func(v []byte) (out []byte) {
		for _, v := range v {
			out = append(out, v, v, v)
		}
		return out
	}
	for _, c := range []struct {
		name string
		im   image.Image
		mode Mode
		want []byte
		err  string
	}{
		{"colour", fill(image.NewNRGBA(r), colour), Color, bgr, ""},
		{"colour unchanged", fill(image.NewNRGBA(r), colour), Unchanged, bgr, ""},
		{"colour to grey", fill(image.NewNRGBA(r), colour), Gray, dark, ""},
		{"alpha dropped, not multiplied", fill(image.NewNRGBA(r), clear), Color, bgr, ""},
		{"alpha kept", fill(image.NewNRGBA(r), clear), Unchanged, bgra, ""},
		{"16 bits", fill(image.NewNRGBA64(r), deep), Color, bgr, ""},
		{"16 bits unchanged", fill(image.NewNRGBA64(r), deep), Unchanged, nil, "16-bit PNG"},
		{"palette", fill(image.NewPaletted(r, table), func(x, y int) color.Color { return table[(x+y)%2] }), Color,
			[]byte{3, 2, 1, 60, 50, 40, 3, 2, 1, 60, 50, 40, 3, 2, 1, 60, 50, 40}, ""},
		{"grey", fill(image.NewGray(r), grey), Gray, greys, ""},
		{"grey unchanged", fill(image.NewGray(r), grey), Unchanged, greys, ""},
		{"grey to colour", fill(image.NewGray(r), grey), Color, tripled(greys), ""},
		{"16-bit grey", fill(image.NewGray16(r), func(x, y int) color.Color { return color.Gray16{uint16(50+10*x+y)<<8 | 200} }), Gray, greys, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decode(encodePNG(t, c.im), c.mode)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Height != 2 || got.Width != 3 || !bytes.Equal(got.Pix, c.want) {
				t.Errorf("%d x %d: %v\nwant %v", got.Height, got.Width, got.Pix, c.want)
			}
		})
	}
}

func TestBMP(t *testing.T) {
	var b bytes.Buffer
	im := fill(image.NewRGBA(image.Rect(0, 0, 2, 1)), func(x, _ int) color.Color { return color.RGBA{byte(x), 100, 200, 255} })
	if err := bmp.Encode(&b, im); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b.Bytes(), Unchanged)
	if err != nil || !bytes.Equal(got.Pix, []byte{200, 100, 0, 200, 100, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestGreyBMP: what OpenCV's reader, whose weights have 14 bits, gave Caffe for these colours; cvtColor's 15 bits give 72, 109 and 146.
func TestGreyBMP(t *testing.T) {
	reds, greens := []byte{33, 143, 253}, []byte{105, 112, 119}
	var b bytes.Buffer
	im := fill(image.NewRGBA(image.Rect(0, 0, 3, 1)), func(x, _ int) color.Color { return color.RGBA{reds[x], greens[x], 0, 255} })
	if err := bmp.Encode(&b, im); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b.Bytes(), Gray)
	if err != nil || !bytes.Equal(got.Pix, []byte{71, 108, 145}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBadImages(t *testing.T) {
	whole := encodePNG(t, image.NewGray(image.Rect(0, 0, 20, 20)))
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 20, 20)), nil); err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(whole) // 30000 x 30000, the header's checksum made good
	copy(huge[16:], "\x00\x00\x75\x30\x00\x00\x75\x30")
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	if _, err := Decode(huge, Color); err == nil || !strings.Contains(err.Error(), "30000 x 30000 pixels in") {
		t.Errorf("huge: %v", err)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("not an image"), "png cut": whole[:40], "png header": whole[:8],
		"jpeg cut": photo.Bytes()[:100], "jpeg start": []byte("\xff\xd8"), "bmp start": []byte("BM"),
	} {
		if im, err := Decode(b, Color); err == nil {
			t.Errorf("%s: decoded to %v", name, im)
		}
	}
	path := filepath.Join(t.TempDir(), "x.png")
	if err := os.WriteFile(path, whole[:40], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, Color); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name the file", err)
	}
}

// TestImagesThatEndEarly: a PNG that is cut off anywhere behind its signature is an error that says so. So is a JPEG cut off before its scan; one
// cut off behind it has a part of the image, and says that too.
func TestImagesThatEndEarly(t *testing.T) {
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, photo(40, 30), nil); err != nil {
		t.Fatal(err)
	}
	for kind, whole := range map[string][]byte{"JPEG": jpg.Bytes(), "PNG": encodePNG(t, photo(40, 30))} {
		scan := bytes.Index(whole, []byte("\xff\xda"))
		for n := 8; n < len(whole); n++ {
			im, err := Decode(whole[:n], Color)
			if header := 2 + 12; kind == "JPEG" && n > scan && n < scan+header {
				continue // what is behind the end makes a header of the scan, or none
			} else if kind == "JPEG" && n > scan {
				if err != nil || !strings.Contains(im.Repaired, "the file ends early") && !strings.Contains(im.Repaired, "image data is missing") {
					t.Fatalf("%s, %d of %d bytes: error %v, without a word about damage", kind, n, len(whole), err)
				}
			} else if err == nil || !strings.Contains(err.Error(), "ends early") {
				t.Fatalf("%s, %d of %d bytes: error %v", kind, n, len(whole), err)
			}
		}
		damaged := bytes.Clone(whole)
		damaged[len(whole)-20] ^= 0xff
		if _, err := Decode(damaged, Color); err != nil && strings.Contains(err.Error(), "ends early") {
			t.Errorf("%s: %v for a whole one", kind, err)
		}
	}
}

// photo is a smooth image with an edge of strong colour, where chroma interpolation shows.
func photo(w, h int) image.Image {
	return fill(image.NewRGBA(image.Rect(0, 0, w, h)), func(x, y int) color.Color {
		if (x-w/3)*(x-w/3)+(y-h/2)*(y-h/2) < w*h/9 {
			return color.RGBA{230, byte(20 + y), 30, 255}
		}
		return color.RGBA{byte(x * 200 / w), byte(90 + y*100/h), byte(255 - x*200/w), 255}
	})
}

// Decoding must agree with libjpeg-turbo, which OpenCV uses, for each way to subsample chroma; odd sizes have half-covered
// chroma samples at the edge.
func TestAgainstLibjpeg(t *testing.T) {
	cjpeg, err1 := exec.LookPath("cjpeg")
	djpeg, err2 := exec.LookPath("djpeg")
	if err1 != nil || err2 != nil {
		t.Skip("cjpeg or djpeg is not installed (Debian package libjpeg-turbo-progs): not compared with libjpeg")
	}
	for _, sampling := range []string{"1x1", "2x1", "2x2", "1x2", "4x1", "gray"} {
		for _, size := range [][2]int{{64, 48}, {37, 51}, {5, 3}, {4, 9}, {1, 1}} {
			t.Run(fmt.Sprintf("%s %dx%d", sampling, size[0], size[1]), func(t *testing.T) {
				im := pictured(photo(size[0], size[1]))
				args := []string{"-quality", "90", "-sample", sampling}
				if sampling == "gray" {
					args = []string{"-quality", "90", "-grayscale"}
				}
				file := pipe(t, ppm(im), cjpeg, args...)
				got, err := Decode(file, Color)
				if err != nil {
					t.Fatal(err)
				}
				compareTo(t, got, pipe(t, file, djpeg, "-dct", "int", "-rgb"))
				if got, err = Decode(file, Gray); err != nil {
					t.Fatal(err)
				}
				compareTo(t, got, pipe(t, file, djpeg, "-dct", "int", "-grayscale"))
			})
		}
	}
}

func ppm(im *Image) []byte {
	b := fmt.Appendf(nil, "P6\n%d %d\n255\n", im.Width, im.Height)
	for i := 0; i < len(im.Pix); i += 3 {
		b = append(b, im.Pix[i+2], im.Pix[i+1], im.Pix[i])
	}
	return b
}

// pictured converts a picture of Go's.
func pictured(picture image.Image) *Image {
	from := picture.(*image.RGBA)
	im := New(from.Rect.Dy(), from.Rect.Dx(), 3)
	for i := range im.Height * im.Width {
		for c := range 3 {
			im.Pix[3*i+c] = from.Pix[4*i+2-c]
		}
	}
	return im
}

func pipe(t *testing.T, in []byte, path string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return out
}

// compareTo compares with a PPM or PGM.
func compareTo(t *testing.T, got *Image, netpbm []byte) {
	t.Helper()
	n := got.Height * got.Width * got.Channels
	want := netpbm[len(netpbm)-n:]
	worst := 0
	for i, v := range got.Pix {
		j := i
		if got.Channels == 3 {
			j = i - i%3 + 2 - i%3
		}
		worst = max(worst, int(v)-int(want[j]), int(want[j])-int(v))
	}
	if worst > 0 {
		t.Errorf("%d channels differ from libjpeg by up to %d", got.Channels, worst)
	}
}

func resized(t *testing.T, im *Image, height, width int) *Image {
	t.Helper()
	to, err := im.Resize(height, width)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// The exact bilinear value is an oracle within the rounding of 11-bit weights: a level on either side.
func TestResizeAgainstFloat(t *testing.T) {
	src := pictured(photo(53, 41))
	for _, size := range [][2]int{{41, 53}, {20, 27}, {7, 9}, {100, 111}, {82, 106}, {1, 1}, {41, 20}, {300, 2}} {
		got := resized(t, src, size[0], size[1])
		if got.Height != size[0] || got.Width != size[1] {
			t.Fatalf("%d x %d, want %v", got.Height, got.Width, size)
		}
		for y := range got.Height {
			for x := range got.Width {
				for c := range 3 {
					want := bilinear(src, float64(size[0]), float64(size[1]), x, y, c)
					if v := float64(got.Pix[(y*got.Width+x)*3+c]); math.Abs(v-want) > 1 {
						t.Fatalf("%v: pixel (%d, %d) channel %d is %v, exactly %.2f", size, x, y, c, v, want)
					}
				}
			}
		}
	}
}

func bilinear(im *Image, h, w float64, x, y, c int) float64 {
	sx := min(max((float64(x)+0.5)*float64(im.Width)/w-0.5, 0), float64(im.Width-1))
	sy := min(max((float64(y)+0.5)*float64(im.Height)/h-0.5, 0), float64(im.Height-1))
	x0, y0 := int(sx), int(sy)
	x1, y1 := min(x0+1, im.Width-1), min(y0+1, im.Height-1)
	fx, fy := sx-float64(x0), sy-float64(y0)
	at := func(x, y int) float64 { return float64(im.Pix[(y*im.Width+x)*im.Channels+c]) }
	return (1-fy)*((1-fx)*at(x0, y0)+fx*at(x1, y0)) + fy*((1-fx)*at(x0, y1)+fx*at(x1, y1))
}

// Values worked out by hand from cv::resize's arithmetic: weights 1536/512 and 512/1536 of 2048.
func TestResizeFixedPoint(t *testing.T) {
	src := &Image{Height: 1, Width: 2, Channels: 1, Pix: []byte{0, 255}}
	if got := resized(t, src, 1, 4).Pix; !slices.Equal(got, []byte{0, 64, 191, 255}) {
		t.Errorf("0 255 doubled: %v", got)
	}
	if got := resized(t, src, 1, 2); got != src {
		t.Error("resizing to the same size is not the same image")
	}
}

// TestBehindTheLastRow: what is wrong behind the pixels of a JPEG of one scan is passed over, as OpenCV does, though djpeg ends with an error.
func TestBehindTheLastRow(t *testing.T) {
	var file bytes.Buffer
	if err := jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, 20, 10)), nil); err != nil {
		t.Fatal(err)
	}
	whole := bytes.TrimSuffix(file.Bytes(), []byte("\xff\xd9"))
	for name, tail := range map[string]string{"an unknown marker": "\xff\x6b", "a second image": "\xff\xd8", "a second scan": "\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00", "nothing": ""} {
		for _, mode := range []Mode{Unchanged, Color, Gray} {
			im, err := Decode(append(bytes.Clone(whole), tail...), mode)
			if err != nil || im.Repaired == "" || im.Pix[0] != 0 {
				t.Errorf("%s, mode %d: %+v, error %v", name, mode, im, err)
			}
		}
	}
}
