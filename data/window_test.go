package data

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// pictureFile writes a PNG of the given size and returns its path.
func pictureFile(t *testing.T, width, height int, at func(x, y int) color.RGBA) string {
	t.Helper()
	im := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			im.SetRGBA(x, y, at(x, y))
		}
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "image.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, im); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func windowParam(t *testing.T, file, text string) *caffepb.WindowDataParameter {
	t.Helper()
	var p caffepb.WindowDataParameter
	if err := prototext.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	p.Source = proto.String(writeList(t, file))
	return &p
}

// decodeWindow warps one window.
func decodeWindow(t *testing.T, path string, w Window, param, transform string) (Pixels, error) {
	t.Helper()
	var tp caffepb.TransformationParameter
	if err := prototext.Unmarshal([]byte(transform), &tp); err != nil {
		t.Fatal(err)
	}
	tr, err := NewTransformer(&tp, caffepb.Phase_TRAIN)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewWindowDecoder(windowParam(t, "", param), tr)
	if err != nil {
		return Pixels{}, err
	}
	p, _, err := d.Decode(&Record{Name: path, Window: w}, &Scratch{})
	return p, err
}

func ramp(x, y int) color.RGBA {
	return color.RGBA{R: byte(10*y + x), G: byte(100 + x), B: byte(200 + y), A: 255}
}

// A window of the crop's size is copied: B, G, R, flipped if so drawn, minus the centre of the mean, which does not flip.
func TestWindowOfTheCropsSizeIsCopied(t *testing.T) {
	path := pictureFile(t, 9, 7, ramp)
	mean := blob.New(1, 3, 6, 6)
	for i := range mean.Data() {
		mean.Data()[i] = float32(i)
	}
	raw, err := proto.Marshal(mean.ToProto(false))
	if err != nil {
		t.Fatal(err)
	}
	meanFile := filepath.Join(t.TempDir(), "mean.binaryproto")
	if err := os.WriteFile(meanFile, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mirror := range []bool{false, true} {
		p, err := decodeWindow(t, path, Window{3, 2, 6, 5, mirror}, "scale: 0.5", fmt.Sprintf("crop_size: 4 mean_file: %q", meanFile))
		if err != nil {
			t.Fatal(err)
		}
		for c := range 3 {
			for y := range 4 {
				for x := range 4 {
					from := 3 + x
					if mirror {
						from = 6 - x
					}
					at := ramp(from, 2+y)
					pixel := []byte{at.B, at.G, at.R}[c]
					want := (float32(pixel) - float32((c*6+y+1)*6+x+1)) / 2
					if got := p.Floats[(c*4+y)*4+x]; got != want {
						t.Fatalf("mirror %v: channel %d, row %d, column %d: %v, want %v", mirror, c, y, x, got, want)
					}
				}
			}
		}
	}
}

// Where a window with its context leaves the image there are zeros, also with a mean. The places are worked out by hand:
// a 4 x 4 window in the corner of an image 8 wide and 6 high, with 2 of 8 pixels of context a side, grows to x -2 to 6
// and y -2 to 6, 9 pixels each way; 2 are missing on the left and above, 1 below; at 8/9 that is 2 and 1, and 6 columns
// and 5 rows remain. A square of 8 around x 0 to 7, y 1 to 2 is x 0 to 8, y -2 to 6: at 8/9 2 rows above and 1 below are missing, and a column on the right.
func TestWindowsReachOutOfTheImage(t *testing.T) {
	path := pictureFile(t, 8, 6, func(_, _ int) color.RGBA { return color.RGBA{R: 30, G: 20, B: 10, A: 255} })
	for _, tt := range []struct {
		name, param              string
		window                   Window
		top, bottom, left, right int
	}{
		{"context", "context_pad: 2", Window{0, 0, 3, 3, false}, 2, 7, 2, 8},
		{"context, mirrored", "context_pad: 2", Window{0, 0, 3, 3, true}, 2, 7, 0, 6},
		{"square", `crop_mode: "square"`, Window{0, 1, 7, 2, false}, 2, 7, 0, 7},
		{"square, mirrored", `crop_mode: "square"`, Window{0, 1, 7, 2, true}, 2, 7, 1, 8},
		{"warp", "", Window{0, 1, 7, 2, false}, 0, 8, 0, 8},
		{"a pixel", "", Window{0, 0, 0, 0, false}, 0, 8, 0, 8},
	} {
		p, err := decodeWindow(t, path, tt.window, tt.param, "crop_size: 8 mean_value: 1 mean_value: 2 mean_value: 3")
		if err != nil {
			t.Fatal(err)
		}
		for c := range 3 {
			for y := range 8 {
				for x := range 8 {
					want := float32(0)
					if y >= tt.top && y < tt.bottom && x >= tt.left && x < tt.right {
						want = float32(9 * (c + 1))
					}
					if got := p.Floats[(c*8+y)*8+x]; got != want {
						t.Fatalf("%s: channel %d, row %d, column %d: %v, want %v", tt.name, c, y, x, got, want)
					}
				}
			}
		}
	}
}

const windowFile = `# 0
a.png
3 10 20
4
1 0.9 0 0 4 4
2 0.5 1 1 5 5
7 0.4 2 2 6 6
7 0.1 3 3 7 7
# 1
b.png
3 10 20
1
9 0 4 4 8 8
`

// Of a batch of 8, int(8*0.3) = 2 windows come from the foreground, behind those from the background; windows between
// the thresholds come never; classes and corners stay together.
func TestWindowsAreDrawnBySide(t *testing.T) {
	p := windowParam(t, windowFile, `batch_size: 8 fg_fraction: 0.3 bg_threshold: 0.2 root_folder: "r/"`)
	s, err := OpenWindowList(p, true, 5)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	var first []Record
	for i := range 80 {
		var r Record
		if err := s.Next(&r); err != nil {
			t.Fatal(err)
		}
		first = append(first, r)
		if fg := i%8 >= 6; fg != (r.Label > 0) {
			t.Errorf("item %d has label %d", i, r.Label)
		}
		seen[fmt.Sprint(r.Name, r.Label, r.Window.X1, r.Window.Y1, r.Window.X2, r.Window.Y2)]++
		seen[fmt.Sprint("mirrored ", r.Window.Mirror)]++
	}
	for _, want := range []string{"r/a.png1 0 0 4 4", "r/a.png2 1 1 5 5", "r/a.png0 3 3 7 7", "r/b.png0 4 4 8 8", "mirrored true", "mirrored false"} {
		if seen[want] < 3 {
			t.Errorf("%q was drawn %d times of 80: %v", want, seen[want], seen)
		}
	}
	if len(seen) != 6 {
		t.Errorf("drawn: %v", seen)
	}
	var r Record
	if err := s.Seek(17); err != nil {
		t.Fatal(err)
	}
	if err := s.Next(&r); err != nil || r.Window != first[17].Window || r.Name != first[17].Name {
		t.Errorf("item 17 is %v after Seek, was %v (%v)", r, first[17], err)
	}
}

func TestWindowErrors(t *testing.T) {
	for _, tt := range []struct{ file, param, want string }{
		{"", "", "is empty"},
		{"0\na.png", "", `list.txt:1: "0" stands where`},
		{"# 1\na.png", "", "list.txt:1: image index 1 where 0 should be"},
		{"# 0\n", "", "list.txt:2: the file ends where the path"},
		{"# 0\na.png\n1 5 5\n0", "", "list.txt:3: image a.png is said to have 1 channels"},
		{"# 0\na.png\n3 5 x", "", `list.txt:3: "x" is not an image's width`},
		{"# 0\na.png\n3 5 5\n2\n1 0.7 0 0 1 1\n", "", "list.txt:6: the file ends where a window's class"},
		{"# 0\na.png\n3 5 5\n1\n1 nought 0 0 1 1\n", "", `list.txt:5: "nought" is not a window's overlap`},
		{"# 0\na.png\n3 5 5\n1\n1 0.7 0 0 1 x\n", "", `list.txt:5: "x" is not a window's corner`},
		{"# 0\na.png\n3 5 5\n1\n0 0.7 0 0 1 1\n", "", "has class 0, which must be positive"},
		{"# 0\na.png\n3 5 5\n1\n1 0.7 0 0 1 1\n", "", "no background windows, of which a batch needs 3"},
		{"# 0\na.png\n3 5 5\n1\n1 0 0 0 1 1\n", "", "no foreground windows, of which a batch needs 1"},
		{"# 0\n/no/such.png\n3 5 5\n0", "cache_images: true", "/no/such.png"},
		{windowFile, "fg_fraction: 1.5", "fg_fraction 1.5 is not between 0 and 1"},
	} {
		p := windowParam(t, tt.file, "batch_size: 4 "+tt.param)
		if _, err := OpenWindowList(p, false, 0); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.file, err, tt.want)
		}
	}
	path := pictureFile(t, 8, 6, ramp)
	for _, tt := range []struct {
		window                 Window
		param, transform, want string
	}{
		{Window{0, 0, 8, 3, false}, "", "crop_size: 4", "window x 0 to 8, y 0 to 3 is not within the image of width 8 and height 6"},
		{Window{3, 0, 2, 3, false}, "", "crop_size: 4", "is not within"},
		{Window{20, 0, 24, 3, false}, "context_pad: 1", "crop_size: 4", "is not within"},
		{Window{}, "", "", "crop_size must be positive"},
		{Window{}, "context_pad: 4", "crop_size: 8", "context_pad 4 leaves nothing of crop_size 8"},
		{Window{}, "", "crop_size: 8 mean_value: 1 mean_value: 2", "2 times mean_value"},
	} {
		if _, err := decodeWindow(t, path, tt.window, tt.param, tt.transform); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v %s: error %v, want %q", tt.window, tt.param, err, tt.want)
		}
	}
}

// FuzzWindowFile: any text is a list of windows or an error that names the file.
func FuzzWindowFile(f *testing.F) {
	f.Add([]byte(windowFile))
	f.Add([]byte("# 0\na.png\n3 5 5\n1\n1 0.7 0 0 1 1\n"))
	path := filepath.Join(f.TempDir(), "windows.txt")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := OpenWindowList(&caffepb.WindowDataParameter{Source: &path, BatchSize: proto.Uint32(4)}, true, 1)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		var r Record
		for range 8 {
			if err := s.Next(&r); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestWindowPaths: paths may have blanks, alone on their line or with the numbers behind them. A number may be a path's last word.
func TestWindowPaths(t *testing.T) {
	root := t.TempDir() + "/"
	for _, name := range []string{"my dog.png", "dog 2", "a.png"} {
		if err := os.WriteFile(root+name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"# 0\nmy dog.png\n3\n4 4\n1\n1 1 0 0 1 1\n":                        "my dog.png",
		"# 0 my dog.png 3 4 4 1 1 1 0 0 1 1":                               "my dog.png",
		"\xef\xbb\xbf# 0\r\nmy dog.png\r\n3\r\n4\r\n4\r\n1\r\n1 1 0 0 1 1": "my dog.png",
		"# 0\ndog 2\n3 4 4\n1\n1 1 0 0 1 1\n":                              "dog 2",
		"# 0\ndog 2 3 4 4\n1\n1 1 0 0 1 1\n":                               "dog 2",
		"# 0\na.png 3 4 4 1 1 1 0 0 1 1\n":                                 "a.png",
		"# 0\na.png\n3 4 4\n1\n1 1 0 0 1 1\n":                              "a.png",
		"# 0\nnone.png 3 4 4\n1\n1 1 0 0 1 1\n":                            "none.png",
		"# 0\nno such.png 3 4 4\n1\n1 1 0 0 1 1\n":                         "no such.png",
	} {
		p := windowParam(t, text, fmt.Sprintf("root_folder: %q batch_size: 1 fg_fraction: 1", root))
		l, err := OpenWindowList(p, false, 1)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := strings.TrimPrefix(l.images[0].path, root); got != want {
			t.Errorf("%q: path %q, want %q", text, got, want)
		}
	}
}
