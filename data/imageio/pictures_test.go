package imageio

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// readings are the ways in which scripts/pictures/compare.py has Caffe read pictures: as files, and as items of a database without and with force_color and
// force_gray.
var readings = map[string]func(file []byte) (*Image, error){
	"colour":      func(file []byte) (*Image, error) { return Decode(file, Color) },
	"grey":        func(file []byte) (*Image, error) { return Decode(file, Gray) },
	"Data":        func(file []byte) (*Image, error) { return DecodeItem(file, Unchanged) },
	"Data colour": func(file []byte) (*Image, error) { return DecodeItem(file, Color) },
	"Data grey":   func(file []byte) (*Image, error) { return DecodeItem(file, Gray) },
}

// modes are those of the readings of files.
var modes = map[string]Mode{"colour": Color, "grey": Gray}

// TestPictures reads two pictures of each kind of scripts/pictures/make.py, and compares with what the real Caffe 1.0 of Debian 11 read, in colour and in
// grey. scripts/pictures.sh makes the archive with -values, and compares with Caffe itself. A few pictures that once differed stand there too, some as items.
func TestPictures(t *testing.T) {
	if kinds := comparePictures(t, "testdata/pictures.zip"); kinds["colour"] < 100 || kinds["grey"] < 100 {
		t.Errorf("pictures of too few kinds: %v", kinds)
	}
}

// TestItems reads JPEGs that end early, as files and as items of databases, where OpenCV reads them in another way. scripts/pictures.sh makes the
// archive with -only jpeg-cut -layers -values. What Caffe reads without any row of the image is what its memory held: black here.
func TestItems(t *testing.T) {
	if kinds := comparePictures(t, "testdata/items.zip"); kinds["Data"] < 14 || kinds["Data colour"] < 14 || kinds["Data grey"] < 14 {
		t.Errorf("pictures of too few kinds: %v", kinds)
	}
}

// TestWebPItems: WebPs in databases are read, as from files. Caffe ends at them.
func TestWebPItems(t *testing.T) {
	z, err := zip.OpenReader("testdata/pictures.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	read := 0
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".webp") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		file, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for way, mode := range modes {
			want, refused := Decode(file, mode)
			got, err := DecodeItem(file, mode)
			if (err == nil) != (refused == nil) || err == nil && !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%s in %s: as an item %v, as a file %v", f.Name, way, err, refused)
			}
			if err == nil {
				read++
			}
		}
	}
	if read < 20 {
		t.Errorf("%d WebPs are read", read)
	}
}

// comparePictures reads the pictures of an archive, and returns the number of kinds by the way of reading.
func comparePictures(t *testing.T, archive string) map[string]int {
	z, err := zip.OpenReader(archive)
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
	kinds, seen := map[string]int{}, map[string]bool{}
	for lines := bufio.NewScanner(strings.NewReader(string(content("values.txt")))); lines.Scan(); {
		words := strings.Fields(lines.Text())
		last := len(words) - 2 // size and checksum
		if w := words[len(words)-1]; w == "refused" || w == "unset" {
			last++
		}
		name, way, want := words[0], strings.Join(words[1:last], " "), strings.Join(words[last:], " ")
		got := "refused"
		im, err := readings[way](content(name))
		if err == nil {
			got = fmt.Sprintf("%dx%dx%d %08x", im.Height, im.Width, im.Channels, crc32.ChecksumIEEE(im.Planes()))
			if strings.HasPrefix(want, "0x0x0 ") { // a layer's values, without their shape
				got = "0x0x0 " + got[len(got)-8:]
			}
		}
		if err == nil && im.Repaired != "" && bytes.Count(im.Pix, []byte{0}) == len(im.Pix) {
			got = "unset"
		}
		if mode, ok := modes[way]; ok {
			sameWays(t, name, content(name), mode, im, err)
		}
		if got != want {
			t.Errorf("%s %s: %s (error %v), Caffe: %s", name, way, got, err, want)
		}
		if kind := way + " " + name[:strings.LastIndexByte(name, '-')]; !seen[kind] {
			seen[kind] = true
			kinds[way]++
		}
	}
	return kinds
}

// sameWays compares the other ways of decoding a file with what Decode returned: planes, none, and all three resized.
func sameWays(t *testing.T, name string, file []byte, mode Mode, im *Image, err error) {
	t.Helper()
	for _, size := range [][2]int{{}, {40, 30}} {
		open := func() (*Picture, error) {
			p, err := Open(file, mode)
			if err == nil && size[0] > 0 {
				err = p.Resize(size[0], size[1])
			}
			return p, err
		}
		var got, want []byte
		var names [3]string
		var errs [3]error
		p, failed := open()
		if errs[0] = failed; failed == nil {
			height, width := p.Size()
			got = make([]byte, p.Channels()*height*width)
			names[0], errs[0] = p.Planes(got)
		}
		if p, errs[1] = open(); errs[1] == nil {
			names[1], errs[1] = p.Pass()
		}
		resized := im
		if errs[2] = err; err == nil {
			if names[2] = im.Repaired; size[0] > 0 {
				resized, _ = im.Resize(size[0], size[1])
			}
			want = resized.Planes()
		}
		for i, e := range errs {
			if (e == nil) != (err == nil) || err == nil && names[i] != im.Repaired {
				t.Errorf("%s, size %v, way %d: damage %q, error %v, want %q, %v", name, size, i, names[i], e, names[2], err)
			}
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Errorf("%s, size %v: other planes", name, size)
		}
	}
}
