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
