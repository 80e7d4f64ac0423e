package testreport

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/layers"
	_ "github.com/swcaffe/swcaffe/layers/all"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// newNet returns a net in phase TEST that reads datasets of items from an HDF5 file, one item a batch row.
func newNet(t *testing.T, batch int, text string, sets ...hdf5.Dataset) *swnet.Net {
	t.Helper()
	dir := t.TempDir()
	err := hdf5.Write(filepath.Join(dir, "items.h5"), &hdf5.File{Floats: sets})
	tops := ""
	for _, s := range sets {
		tops += fmt.Sprintf("top: %q ", s.Path[1:])
	}
	text = fmt.Sprintf("layer { name: \"data\" type: \"HDF5Data\" %s hdf5_data_param { source: %q batch_size: %d } }\n%s", tops, filepath.Join(dir, "list"), batch, text)
	path := filepath.Join(dir, "net.prototxt")
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "list"), []byte(filepath.Join(dir, "items.h5")), 0o644), os.WriteFile(path, []byte(text), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	file, err := swproto.ReadNet(path)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(machine.Close)
	phase := caffepb.Phase_TEST
	n, err := swnet.New(file.Param, swnet.Options{
		State: &caffepb.NetState{Phase: &phase}, Economise: true, ForwardOnly: true,
		Device: &layers.Device{Engine: layers.CPE, Machine: machine, Random: layers.NewRandom(1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// reported runs batches and returns the report and its page.
func reported(t *testing.T, n *swnet.Net, batches int, opt Options) (*Report, string) {
	t.Helper()
	r, err := New(n, opt)
	if err != nil {
		t.Fatal(err)
	}
	for range batches {
		if _, err := n.Forward(); err != nil {
			t.Fatal(err)
		}
		r.Add()
	}
	var b bytes.Buffer
	if err := r.Write(&b, []Figure{{"loss", 0.25}}); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

// wellFormed checks that a page's tags are balanced, and that it refers to nothing outside.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			depth++
			for _, a := range e.Attr {
				if (a.Name.Local == "src" || a.Name.Local == "href") && !strings.HasPrefix(a.Value, "data:image/png;base64,") || strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("<%s> has %s=%.60q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
			if e.Name.Local == "script" {
				t.Error("the page has a script")
			}
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%d open elements", depth)
	}
}

// TestClassification: eight items of three classes whose scores are the data. Item 2 is ignored; item 5 ties, which is an error; item 7 is
// the worst.
func TestClassification(t *testing.T) {
	scores := []float32{
		3, 0, 0,
		0, 2, 1,
		9, 0, 0,
		0, 1, 2,
		1, 3, 0,
		0, 2, 2,
		0, 0, 1,
		0, 0, 8,
	}
	labels := []float32{0, 1, 255, 1, 1, 1, 2, 0}
	pixels := make([]float32, 8*6)
	for i := range pixels {
		pixels[i] = float32(i * 5)
	}
	sets := []hdf5.Dataset{{Path: "/image", Shape: []int{8, 1, 2, 3}, Data: pixels}, {Path: "/score", Shape: []int{8, 3}, Data: scores}, {Path: "/label", Shape: []int{8}, Data: labels}}
	n := newNet(t, 4, `
		layer { name: "first" type: "Accuracy" bottom: "score" bottom: "label" top: "aux" accuracy_param { ignore_label: 255 } }
		layer { name: "five" type: "Accuracy" bottom: "score" bottom: "label" top: "top2" accuracy_param { top_k: 2 ignore_label: 255 } }
		layer { name: "main" type: "Accuracy" bottom: "score" bottom: "label" top: "accuracy" accuracy_param { ignore_label: 255 } }`, sets...)
	r, page := reported(t, n, 2, Options{Model: "m<b>", Labels: []string{"cat", "<dog>"}, Worst: 2})
	wellFormed(t, page)
	if r.judge.name != "main" {
		t.Errorf("the report is on layer %q", r.judge.name)
	}
	for _, c := range []struct{ label, predicted, want int }{{0, 0, 1}, {0, 2, 1}, {1, 1, 2}, {1, 2, 2}, {2, 2, 1}, {2, 0, 0}} {
		if got := r.confusion.Count(c.label, c.predicted); got != c.want {
			t.Errorf("%d items of label %d are predicted as %d, want %d", got, c.label, c.predicted, c.want)
		}
	}
	if all, right := r.confusion.Items(); all != 7 || right != 4 {
		t.Errorf("%d of %d right, want 4 of 7", right, all)
	}
	if len(r.mistakes) != 2 || r.mistakes[0].item != 7 || r.mistakes[1].item != 3 {
		t.Fatalf("the worst items are %+v, want 7 and 3", r.mistakes)
	}
	if want := 1 / (2 + math.Exp(8)); math.Abs(r.mistakes[0].score-want) > 1e-12 {
		t.Errorf("item 7's label has probability %g, want %g", r.mistakes[0].score, want)
	}
	for _, want := range []string{"4 of 7 images", "57.14 %", "cat taken for 2", "&lt;dog&gt; taken for 2", "m&lt;b&gt;", "<dd>0.25</dd>", "2 of 3 misclassified images", "label cat</strong></th><td>0.0003"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got, want := greys(t, page)[0], pixels[7*6:]; !slices.Equal(got, want) {
		t.Errorf("item 7's picture is %v, want %v", got, want)
	}
}

// greys decodes the pictures of a page.
func greys(t *testing.T, page string) (pictures [][]float32) {
	t.Helper()
	for _, m := range regexp.MustCompile(`src="data:image/png;base64,([^"]*)"`).FindAllStringSubmatch(page, -1) {
		raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(m[1], "&#43;", "+"))
		if err != nil {
			t.Fatal(err)
		}
		im, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		var values []float32
		for p := range im.Bounds().Dx() * im.Bounds().Dy() {
			r, _, _, _ := im.At(p%im.Bounds().Dx(), p/im.Bounds().Dx()).RGBA()
			values = append(values, float32(r>>8))
		}
		pictures = append(pictures, values)
	}
	return pictures
}

// TestAccuracyAgrees: over many random items, some with equal scores, the page's accuracy is that of the Accuracy layer.
func TestAccuracyAgrees(t *testing.T) {
	const items, classes = 200, 50
	scores, labels := make([]float32, items*classes), make([]float32, items)
	random := layers.NewRandom(7)
	for i := range scores {
		scores[i] = float32(random.Uint64() % 60)
	}
	for i := range labels {
		labels[i] = float32(i * 7 % classes)
		scores[i*classes+i*7%classes] += float32(i % 3 * 30)
	}
	n := newNet(t, items, `layer { name: "a" type: "Accuracy" bottom: "score" bottom: "label" top: "accuracy" }`,
		hdf5.Dataset{Path: "/score", Shape: []int{items, classes}, Data: scores}, hdf5.Dataset{Path: "/label", Shape: []int{items}, Data: labels})
	r, page := reported(t, n, 1, Options{Worst: 3})
	wellFormed(t, page)
	all, right := r.confusion.Items()
	if got, want := float32(float64(right)/float64(all)), n.Blob("accuracy").Data()[0]; got != want || right == 0 || right == all {
		t.Errorf("the accuracy is %g, the layer's %g", got, want)
	}
	if len(greys(t, page)) != 1 { // 50 classes: the matrix is a picture
		t.Errorf("%d pictures, want that of the matrix", len(greys(t, page)))
	}
}

// TestSegmentation: pixel accuracy and mean IoU are those of the SegAccuracy layer; a pixel without a label counts nowhere and is white.
func TestSegmentation(t *testing.T) {
	const items, classes, side = 3, 4, 5
	scores, labels, images := make([]float32, items*classes*side*side), make([]float32, items*side*side), make([]float32, items*3*side*side)
	random := layers.NewRandom(3)
	for i := range scores {
		scores[i] = float32(random.Uint64()%1000) + float32(i)/1e4
	}
	for i := range labels {
		labels[i] = float32(random.Uint64() % classes)
	}
	for p := range side * side { // image 1 is right
		scores[(classes+int(labels[side*side+p]))*side*side+p] += 2000
	}
	labels[0] = 255
	n := newNet(t, items, `layer { name: "seg" type: "SegAccuracy" bottom: "score" bottom: "label" top: "seg" seg_accuracy_param { ignore_label: 255 } }`,
		hdf5.Dataset{Path: "/image", Shape: []int{items, 3, side, side}, Data: images},
		hdf5.Dataset{Path: "/score", Shape: []int{items, classes, side, side}, Data: scores}, hdf5.Dataset{Path: "/label", Shape: []int{items, 1, side, side}, Data: labels})
	r, page := reported(t, n, 1, Options{Worst: 9})
	wellFormed(t, page)
	all, right := r.confusion.Items()
	seg := n.Blob("seg").Data()
	if got := []float32{float32(float64(right) / float64(all)), float32(r.confusion.MeanIoU())}; all != items*side*side-1 || math.Abs(float64(got[0]-seg[0])) > 1e-6 || math.Abs(float64(got[1]-seg[2])) > 1e-6 {
		t.Errorf("accuracy and mean IoU of %d pixels are %v, the layer has %v", all, got, seg)
	}
	pictures := greys(t, page)
	if len(r.mistakes) != 2 || len(pictures) != 6 {
		t.Fatalf("%d images with %d pictures, want 2 with 3 each", len(r.mistakes), len(pictures))
	}
	at := 1
	if r.mistakes[1].item == 0 {
		at = 4
	}
	if pictures[at][0] != 255 || pictures[at][1] == 255 {
		t.Errorf("the labels' picture begins with %v, want a white pixel first", pictures[at][:2])
	}
}

// TestNothingToReport: a net without labels is refused.
func TestNothingToReport(t *testing.T) {
	n := newNet(t, 1, `layer { name: "s" type: "Softmax" bottom: "x" top: "y" }`, hdf5.Dataset{Path: "/x", Shape: []int{1, 2}, Data: []float32{1, 2}})
	if _, err := New(n, Options{}); err == nil || !strings.Contains(err.Error(), "Accuracy, SegAccuracy, SoftmaxWithLoss or DetectionEvaluate") {
		t.Errorf("got %v", err)
	}
}

// TestProbabilities: scores of a Softmax layer are probabilities already, also behind a Split.
func TestProbabilities(t *testing.T) {
	n := newNet(t, 1, `
		layer { name: "s" type: "Softmax" bottom: "x" top: "y" }
		layer { name: "a" type: "Accuracy" bottom: "y" bottom: "t" top: "a" }
		layer { name: "b" type: "Accuracy" bottom: "y" bottom: "t" top: "b" }`,
		hdf5.Dataset{Path: "/x", Shape: []int{1, 2}, Data: []float32{1, 2}}, hdf5.Dataset{Path: "/t", Shape: []int{1}, Data: []float32{0}})
	r, _ := reported(t, n, 1, Options{Worst: 1})
	if want := 1 / (1 + math.E); math.Abs(r.mistakes[0].score-want) > 1e-6 {
		t.Errorf("the label has probability %g, want %g", r.mistakes[0].score, want)
	}
}

// TestBoxes: of two images the first has a right, a wrong and an uncounted box and misses an object, the second one is right; boxes below score
// 0.5 are in the curves only.
func TestBoxes(t *testing.T) {
	a, b, d, far := []float32{0.1, 0.1, 0.5, 0.4}, []float32{0.6, 0.1, 0.9, 0.4}, []float32{0.1, 0.6, 0.4, 0.9}, []float32{0.7, 0.7, 0.9, 0.9}
	found := func(class, score float32, at []float32) []float32 {
		return slices.Concat([]float32{0, class, score}, at)
	}
	object := func(class float32, at []float32, difficult float32) []float32 {
		return slices.Concat([]float32{0, class, 0}, at, []float32{difficult})
	}
	none := []float32{-1, -1, -1, -1, -1, -1, -1, -1}
	pixels := make([]float32, 2*2*3*2)
	for i := range pixels {
		pixels[i] = float32(10 * i)
	}
	sets := []hdf5.Dataset{
		{Path: "/objects", Shape: []int{2, 1, 3, 8}, Data: slices.Concat(object(1, a, 0), object(2, b, 0), object(1, d, 1), object(2, b, 0), none, none)},
		{Path: "/image", Shape: []int{2, 1, 4, 3}, Data: pixels},
		{Path: "/found", Shape: []int{2, 1, 4, 7}, Data: slices.Concat(found(1, 0.9, a), found(1, 0.8, far), found(1, 0.7, d), found(2, 0.3, b),
			found(2, 0.99, b), found(1, 0.4, far), found(1, 0.3, far), found(1, 0.2, far))},
	}
	n := newNet(t, 1, `layer { name: "eval" type: "DetectionEvaluate" bottom: "found" bottom: "objects" top: "rows" detection_evaluate_param { num_classes: 3 evaluate_difficult_gt: false } }`, sets...)
	r, page := reported(t, n, 2, Options{Worst: 5, Version: "Integral", Labels: []string{"", "cat", "dog"}})
	wellFormed(t, page)
	res := r.Results(nil)
	if res.Items != 2 || len(res.Mistakes) != 1 || res.Mistakes[0].Item != 0 || res.Mistakes[0].Score != "33.33 %" {
		t.Fatalf("%d images, mistakes %+v; want 2, and image 0 with a third right", res.Items, res.Mistakes)
	}
	m := res.Mistakes[0]
	var kinds []string
	for _, x := range m.Boxes {
		kinds = append(kinds, x.Kind+" "+x.Name+" "+x.Score)
	}
	if want := []string{"object cat ", "object dog ", "difficult object cat ", "right cat 0.9000", "wrong cat 0.8000", "not counted cat 0.7000"}; !slices.Equal(kinds, want) {
		t.Errorf("boxes %q, want %q", kinds, want)
	}
	if x := m.Boxes[0]; x.Left != 0.1 || x.Top != 0.1 || math.Abs(float64(x.Width-0.4)) > 1e-6 || math.Abs(float64(x.Height-0.3)) > 1e-6 {
		t.Errorf("the first object is at %+v", x)
	}
	if got := greys(t, page); len(got) != 1 || !slices.Equal(got[0], pixels[:12]) {
		t.Errorf("pictures %v, want %v", got, pixels[:12])
	}
	// Class 1: 1 object; right (0.9), then wrong. Class 2: 2 objects, right (0.99) and right (0.3).
	if len(res.Curves) != 2 || res.Curves[0].Average != "100.00 %" || res.Curves[1].Average != "100.00 %" || !strings.HasPrefix(res.Curves[0].Points, "100.0,0.0 100.0,50.0") || res.Curves[1].Points != "50.0,0.0 100.0,0.0" {
		t.Errorf("curves %+v", res.Curves)
	}
}
