package imageio

import (
	"archive/zip"
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// TestPictures reads two pictures of each kind of scripts/pictures/make.py and compares with what the real Caffe 1.0 of Debian 11 read, in colour and in
// grey. scripts/pictures.sh makes the archive with -values, and compares with Caffe itself.
func TestPictures(t *testing.T) {
	z, err := zip.OpenReader("testdata/pictures.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	content := func(name string) []byte {
		f, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	kinds := map[string]int{}
	for lines := bufio.NewScanner(strings.NewReader(string(content("values.txt")))); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		way, want, _ := strings.Cut(rest, " ")
		mode := map[string]Mode{"colour": Color, "grey": Gray}[way]
		got := "refused"
		im, err := Decode(content(name), mode)
		if err == nil {
			got = fmt.Sprintf("%dx%dx%d %08x", im.Height, im.Width, im.Channels, crc32.ChecksumIEEE(im.Planes()))
		}
		if got != want {
			t.Errorf("%s %s: %s (error %v), Caffe: %s", name, way, got, err, want)
		}
		kinds[name[:strings.LastIndexByte(name, '-')]]++
	}
	if len(kinds) < 100 {
		t.Errorf("pictures of %d kinds only", len(kinds))
	}
}

// FuzzPictures: damaged files of all formats are errors or images, in every mode.
func FuzzPictures(f *testing.F) {
	z, err := zip.OpenReader("testdata/pictures.zip")
	if err != nil {
		f.Fatal(err)
	}
	defer z.Close()
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
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if strings.HasPrefix(string(file), "\xff\xd8") {
			return // package jpeg has a target of its own
		}
		for _, mode := range []Mode{Unchanged, Color, Gray} {
			im, err := Decode(file, mode)
			if err == nil && len(im.Pix) != im.Height*im.Width*im.Channels {
				t.Errorf("%d x %d x %d: %d values", im.Height, im.Width, im.Channels, len(im.Pix))
			}
		}
		if d, err := DecodeDeep(file); err == nil && d != nil && len(d.Values) != 3*d.Height*d.Width {
			t.Errorf("%d x %d: %d values of 16 bits", d.Height, d.Width, len(d.Values))
		}
	})
}
