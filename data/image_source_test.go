package data

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/imageio"
)

func writeList(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(t *testing.T, s Source, n int) (list []string) {
	t.Helper()
	var r Record
	for range n {
		if err := s.Next(&r); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(r.Name, ":", r.Label))
	}
	return list
}

func TestImageList(t *testing.T) {
	s, err := OpenImageList(writeList(t, "a.png 3\r\n\nwith blank.jpg -1\nc 0"), "/root/", false, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/root/a.png:3", "/root/with blank.jpg:-1", "/root/c:0", "/root/a.png:3"}
	if got := names(t, s, 4); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if s, err = OpenImageList(writeList(t, "a.png\n7\n"), "r/", false, 0); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, s, 2), []string{"r/a.png:0", "r/7:0"}; !slices.Equal(got, want) {
		t.Errorf("without labels: %q, want %q", got, want)
	}
	for text, message := range map[string]string{
		"": "is empty", "\n\n": "is empty", "a.png 1\nb.png\n": `list.txt:2: "b.png" has no label, "a.png 1" has one`, "b.png\na.png 1\n": `list.txt:2: "b.png" has no label`,
		"a.png x": `list.txt:1: "a.png x" is not`, "a.png 0.5": `list.txt:1: "a.png 0.5" is not`,
	} {
		if _, err := OpenImageList(writeList(t, text), "", false, 0); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: error %v, want %q", text, err, message)
		}
	}
}

// Every epoch has every image once, in an order of its own that seeking does not change.
func TestImageListShuffles(t *testing.T) {
	const n = 12
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d.png %d\n", i, i)
	}
	file := writeList(t, text.String())
	s, err := OpenImageList(file, "", true, 5)
	if err != nil {
		t.Fatal(err)
	}
	all := names(t, s, 4*n)
	for e := range 4 {
		epoch := slices.Clone(all[e*n:][:n])
		slices.Sort(epoch)
		if len(slices.Compact(epoch)) != n {
			t.Fatalf("epoch %d: %q", e, all[e*n:][:n])
		}
		if e > 0 && slices.Equal(all[:n], all[e*n:][:n]) {
			t.Errorf("epochs 0 and %d have the same order", e)
		}
	}
	for _, at := range []int{30, 0, 13, 11} {
		if err := s.Seek(uint64(at)); err != nil {
			t.Fatal(err)
		}
		if got := names(t, s, n); !slices.Equal(got, all[at:][:n]) {
			t.Errorf("after Seek(%d): %q, want %q", at, got, all[at:][:n])
		}
	}
	other, err := OpenImageList(file, "", true, 6)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(names(t, other, n), all[:n]) {
		t.Error("two seeds give one order")
	}
}

func TestImageDecoder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.png")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, c := range []struct {
		d    ImageDecoder
		want [3]int
	}{
		{ImageDecoder{Mode: imageio.Color}, [3]int{3, 6, 8}},
		{ImageDecoder{Mode: imageio.Gray, Height: 5, Width: 9}, [3]int{1, 5, 9}},
	} {
		p, label, err := c.d.Decode(&Record{Name: path, Label: 4}, new(Scratch))
		if got := [3]int{p.Channels, p.Height, p.Width}; err != nil || got != c.want || label != 4 {
			t.Errorf("%v, label %d, %v, want %v", got, label, err, c.want)
		}
	}
	if _, _, err := (ImageDecoder{}).Decode(&Record{Name: "/no/such.png"}, new(Scratch)); err == nil || !strings.Contains(err.Error(), "/no/such.png") {
		t.Errorf("missing file: %v", err)
	}
}

// TestListsOfOddPaths: a byte order mark is no part of the first path; the paths of pairs may have blanks.
func TestListsOfOddPaths(t *testing.T) {
	root := t.TempDir() + "/"
	for _, name := range []string{"my dog.png", "my labels.png"} {
		if err := os.WriteFile(root+name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := OpenImageList(writeList(t, "\xef\xbb\xbfmy dog.png 3\r\nb.png 4\r\n"), root, false, 1)
	if err != nil || list.items[0] != (imageItem{path: root + "my dog.png", label: 3, line: 1}) || list.items[1].path != root+"b.png" {
		t.Errorf("a list with a byte order mark: %v, error %v", list, err)
	}
	pairs, err := OpenImagePairs(writeList(t, "\xef\xbb\xbfmy dog.png my labels.png\na b c d\n"), root, false, 1)
	if err != nil || len(pairs.items) != 3 || pairs.items[0] != (imageItem{path: root + "my dog.png", labels: root + "my labels.png", line: 1}) || pairs.items[2].line != 2 || pairs.items[2].labels != root+"d" {
		t.Errorf("pairs: %v, error %v", pairs, err)
	}
	names, err := OpenImageNames(writeList(t, "my dog.png\nb.png rest\n"), root, false, 1)
	if err != nil || names.items[0].path != root+"my dog.png" || names.items[1].path != root+"b.png" {
		t.Errorf("names: %v, error %v", names, err)
	}
}
