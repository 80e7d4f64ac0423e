package data

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

func transformer(t testing.TB, text string, phase caffepb.Phase) (*Transformer, error) {
	t.Helper()
	var p caffepb.TransformationParameter
	if err := prototext.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return NewTransformer(&p, phase)
}

// planar and interleaved hold the same values, pixel(item, c, y, x), in the two layouts.
func planar(item, c, h, w int) Pixels {
	b := make([]byte, 0, c*h*w)
	for i := range c * h * w {
		b = append(b, pixel(item, i/(h*w), i/w%h, i%w))
	}
	return Pixels{Channels: c, Height: h, Width: w, StrideC: h * w, StrideY: w, StrideX: 1, Bytes: b}
}

func interleaved(item, c, h, w int) Pixels {
	im := imageio.New(h, w, c)
	for i := range im.Pix {
		im.Pix[i] = pixel(item, i%c, i/c/w, i/c%w)
	}
	return imagePixels(im)
}

func floats(p Pixels) Pixels {
	for _, v := range p.Bytes {
		p.Floats = append(p.Floats, float32(v))
	}
	p.Bytes = nil
	return p
}

func writeMean(t *testing.T, dims []int64, values func(i int) float32) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	p := &caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: dims}}
	for i := range int(n) {
		p.Data = append(p.Data, values(i))
	}
	path := filepath.Join(t.TempDir(), "mean.binaryproto")
	if err := os.WriteFile(path, marshal(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The whole transform against its formula, value by value, for every layout; the item's crop and mirror are found by
// trying all of them, and must be ones that the phase allows.
func TestTransform(t *testing.T) {
	const c, h, w = 3, 7, 6
	mean := func(i int) float32 { return float32(i%17) / 4 }
	file := writeMean(t, []int64{1, c, h, w}, mean)
	for _, text := range []string{
		"", "scale: 0.5", "mean_value: 100", "mean_value: 1 mean_value: 2 mean_value: 4 scale: 0.25",
		fmt.Sprintf("mean_file: %q scale: 2", file), "mirror: true", "crop_size: 4", "crop_size: 6 mirror: true mean_value: 9",
		fmt.Sprintf("mean_file: %q mirror: true crop_size: 3", file),
	} {
		for _, phase := range []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST} {
			t.Run(fmt.Sprint(text, phase), func(t *testing.T) {
				tr, err := transformer(t, text, phase)
				if err != nil {
					t.Fatal(err)
				}
				seen := map[[3]int]bool{}
				for item := range 200 {
					for i, p := range []Pixels{planar(item, c, h, w), interleaved(item, c, h, w), floats(planar(item, c, h, w))} {
						at := findTransform(t, tr, p, mean, item)
						if i == 0 {
							seen[at] = true
						} else if !seen[at] {
							t.Fatalf("item %d: the layouts differ", item)
						}
					}
				}
				if want := places(tr, h, w); len(seen) != want {
					t.Errorf("%d different crops and mirrors in 200 items, want %d: %v", len(seen), want, seen)
				}
			})
		}
	}
}

// places is the number of different transforms that tr may draw.
func places(tr *Transformer, h, w int) int {
	n := 1
	if tr.cropHeight > 0 && tr.train {
		n = (h - tr.cropHeight + 1) * (w - tr.cropWidth + 1)
	}
	if tr.mirror {
		n *= 2
	}
	return n
}

// findTransform transforms p and returns the top, left and mirror that explain the result.
func findTransform(t *testing.T, tr *Transformer, p Pixels, mean func(int) float32, item int) [3]int {
	t.Helper()
	shape, err := tr.Shape(p)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, shape[0]*shape[1]*shape[2])
	if err := tr.Transform(got, shape, p, 77, uint64(item)); err != nil {
		t.Fatal(err)
	}
	for top := range p.Height - shape[1] + 1 {
		for left := range p.Width - shape[2] + 1 {
			for mirror := range 2 {
				if slices.Equal(got, naive(tr, shape, p, mean, item, top, left, mirror)) {
					if centre := top == (p.Height-shape[1])/2 && left == (p.Width-shape[2])/2; !tr.train && !centre {
						t.Fatalf("TEST crop at %d, %d", top, left)
					}
					if mirror == 1 && !tr.mirror {
						t.Fatal("mirrored without being asked")
					}
					return [3]int{top, left, mirror}
				}
			}
		}
	}
	t.Fatalf("item %d: no crop and mirror explain %v", item, got)
	return [3]int{}
}

func naive(tr *Transformer, shape [3]int, p Pixels, mean func(int) float32, item, top, left, mirror int) []float32 {
	var out []float32
	for c := range shape[0] {
		for y := range shape[1] {
			for x := range shape[2] {
				sx := x + left
				if mirror == 1 {
					sx = shape[2] - 1 - x + left
				}
				m := float32(0)
				switch {
				case tr.meanFile != "":
					m = mean((c*p.Height+y+top)*p.Width + sx)
				case len(tr.meanValue) > 0:
					m = tr.meanValue[c%len(tr.meanValue)]
				}
				out = append(out, (float32(pixel(item, c, y+top, sx))-m)*tr.scale)
			}
		}
	}
	return out
}

func TestTransformErrors(t *testing.T) {
	wrong := writeMean(t, []int64{1, 3, 4, 4}, func(int) float32 { return 0 })
	deep := writeMean(t, []int64{2, 3, 4, 4}, func(int) float32 { return 0 })
	none := writeMean(t, []int64{1, 1, 28, 0}, nil)
	nan := writeMean(t, []int64{1, 3, 7, 6}, func(i int) float32 { return float32(math.Log(float64(7*6+6*5+3-i)) - 1) }) // -Inf at the end
	junk := filepath.Join(t.TempDir(), "junk.binaryproto")
	if err := os.WriteFile(junk, []byte("\xff\xff\xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"crop_size: 8", "crop_size 8 is larger than the data: height 7, width 6"},
		{"crop_size: 7", "crop_size 7 is larger than the data: height 7, width 6"},
		{"mean_value: nan", "mean value 0 is NaN, not a finite number"},
		{"mean_value: 1 mean_value: 2", "2 times mean_value for data of 3 channels"},
		{fmt.Sprintf("mean_file: %q", wrong), "channels 3, height 4, width 4, the data has channels 3, height 7, width 6"},
		{fmt.Sprintf("mean_file: %q", deep), "is not 1 x channels x height x width"},
		{fmt.Sprintf("mean_file: %q", nan), "mean_file " + nan + ": the mean of channel 1, row 5, column 3 is -Inf, not a finite number"},
		{fmt.Sprintf("mean_file: %q", junk), junk},
		{fmt.Sprintf("mean_file: %q", none), none + ": it has no values for shape [1 1 28 0]: the file ends early or is damaged"},
		{fmt.Sprintf("mean_file: %q mean_value: 3", wrong), "mean_file and mean_value cannot both be set"},
		{`mean_file: "/no/such/mean"`, "/no/such/mean"},
		{"force_color: true force_gray: true", "force_color and force_gray cannot both be set"},
	} {
		tr, err := transformer(t, c.text, caffepb.Phase_TEST)
		if err == nil {
			_, err = tr.Shape(planar(0, 3, 7, 6))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
	tr, err := transformer(t, "", caffepb.Phase_TEST)
	if err != nil {
		t.Fatal(err)
	}
	err = tr.Transform(make([]float32, 12), [3]int{3, 2, 2}, planar(0, 3, 7, 6), 0, 0)
	if err == nil || !strings.Contains(err.Error(), "height 7, width 6, but the batch has channels 3, height 2, width 2") {
		t.Errorf("other shape than the batch: %v", err)
	}
	if !strings.Contains(err.Error(), "(crop_size or new_height") {
		t.Errorf("another height and width: %v", err)
	}
	err = tr.Transform(make([]float32, 42), [3]int{1, 7, 6}, planar(0, 3, 7, 6), 0, 0)
	if err == nil || !strings.Contains(err.Error(), "channels 3, height 7, width 6, but the batch has channels 1") || !strings.Contains(err.Error(), "(force_color: true or") {
		t.Errorf("other channels: %v", err)
	}
}

// Old mean files state their shape in num, channels, height and width, and may hold doubles.
func TestOldMeanFile(t *testing.T) {
	p := &caffepb.BlobProto{
		Num: proto.Int32(1), Channels: proto.Int32(1), Height: proto.Int32(1), Width: proto.Int32(2), DoubleData: []float64{3, 5},
	}
	path := filepath.Join(t.TempDir(), "mean")
	if err := os.WriteFile(path, marshal(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	tr, err := transformer(t, fmt.Sprintf("mean_file: %q", path), caffepb.Phase_TEST)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 2)
	if err := tr.Transform(got, [3]int{1, 1, 2}, planar(10, 1, 1, 2), 0, 0); err != nil || !slices.Equal(got, []float32{7, 6}) {
		t.Errorf("%v, %v, want [7 6]", got, err)
	}
}

// A mean file may leave out axes of extent 1 in front.
func TestMeanFileOfFewerAxes(t *testing.T) {
	file := writeMean(t, []int64{2}, func(i int) float32 { return float32(3 + 2*i) })
	tr, err := transformer(t, fmt.Sprintf("mean_file: %q", file), caffepb.Phase_TEST)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 2)
	if err := tr.Transform(got, [3]int{1, 1, 2}, planar(10, 1, 1, 2), 0, 0); err != nil || !slices.Equal(got, []float32{7, 6}) {
		t.Errorf("%v, %v, want [7 6]", got, err)
	}
}

// A crop may be a pixel.
func TestSmallestCrop(t *testing.T) {
	tr, err := transformer(t, "crop_size: 1", caffepb.Phase_TEST)
	if err != nil {
		t.Fatal(err)
	}
	if shape, err := tr.Shape(planar(0, 3, 7, 6)); err != nil || shape != [3]int{3, 1, 1} {
		t.Errorf("shape %v, error %v", shape, err)
	}
}

// Half of all items are mirrored.
func TestHalfIsMirrored(t *testing.T) {
	tr, err := transformer(t, "mirror: true", caffepb.Phase_TRAIN)
	if err != nil {
		t.Fatal(err)
	}
	const items = 10000
	mirrored := 0
	for item := range uint64(items) {
		var got [2]float32
		if err := tr.Transform(got[:], [3]int{1, 1, 2}, Pixels{Channels: 1, Height: 1, Width: 2, StrideC: 2, StrideY: 2, StrideX: 1, Bytes: []byte{0, 1}}, 3, item); err != nil {
			t.Fatal(err)
		}
		mirrored += int(got[0])
	}
	if d := mirrored - items/2; d*d > 16*items/4 { // four standard deviations
		t.Errorf("%d of %d are mirrored", mirrored, items)
	}
}

// Draws for one purpose must be even, and draws for two purposes independent of each other.
func TestDrawIsEven(t *testing.T) {
	const n, items = 5, 20000
	var counts [n][n]int
	for item := range uint64(items) {
		counts[draw(3, item, drawCropY, n)][draw(3, item, drawCropX, n)]++
	}
	for y := range n {
		for x := range n {
			if d := counts[y][x] - items/n/n; d*d > 16*items/n/n { // four standard deviations
				t.Errorf("(%d, %d) drawn %d times of %d", y, x, counts[y][x], items)
			}
		}
	}
}
