package detect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/base/box"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// detectionFiles writes detections to files after each pass over the images of a name_size_file. A nil pointer writes nothing.
//
// VOC: for each class a file PREFIXCLASS.txt of lines "image score xmin ymin xmax ymax". ILSVRC: a file PREFIX.txt of lines "image label
// score xmin ymin xmax ymax". Coordinates are pixels, with fractions dropped. COCO: a file PREFIX.json, a list of objects with image_id,
// category_id (the class's name), bbox (xmin, ymin, width, height) and score.
type detectionFiles struct {
	p           *caffepb.SaveOutputParameter
	names       map[int]string // of the classes
	background  int
	images      []namedSize
	pass        int // images of a pass
	next        int // image of the pass
	found       []savedDetection
	labelsInUse int
}

// namedSize is a line of a name_size_file.
type namedSize struct {
	name          string
	height, width int
}

type savedDetection struct {
	image, label int
	score        float32
	box.Box
}

// newDetectionFiles reads the files that save_output_param names. It returns nil if nothing is to be written, which it tells if the
// prototxt has a directory.
func newDetectionFiles(p *caffepb.SaveOutputParameter, classes, background int, warn func(string)) (*detectionFiles, error) {
	if p.GetOutputDirectory() == "" {
		return nil, nil
	}
	if p.GetLabelMapFile() == "" || p.GetNameSizeFile() == "" {
		warn("save_output_param: output files need label_map_file and name_size_file; no detections are saved")
		return nil, nil
	}
	switch p.GetOutputFormat() {
	case "VOC", "COCO", "ILSVRC":
	default:
		return nil, fmt.Errorf("unknown output_format %q: use VOC, COCO or ILSVRC", p.GetOutputFormat())
	}
	f := &detectionFiles{p: p, background: background, labelsInUse: classes}
	var err error
	if f.names, err = readLabelMap(p.GetLabelMapFile()); err != nil {
		return nil, fmt.Errorf("label_map_file: %w", err)
	}
	for label := range classes {
		if _, ok := f.names[label]; !ok && label != background {
			return nil, fmt.Errorf("label_map_file %s has no label %d, but there are %d classes", p.GetLabelMapFile(), label, classes)
		}
	}
	if f.images, err = readNameSizes(p.GetNameSizeFile()); err != nil {
		return nil, fmt.Errorf("name_size_file: %w", err)
	}
	if f.pass = len(f.images); p.NumTestImage != nil {
		f.pass = int(p.GetNumTestImage())
	}
	if f.pass < 1 || f.pass > len(f.images) {
		return nil, fmt.Errorf("num_test_image is %d, but %s has %d images", f.pass, p.GetNameSizeFile(), len(f.images))
	}
	if p.ResizeParam != nil && (p.ResizeParam.GetHeight() < 1 || p.ResizeParam.GetWidth() < 1) {
		return nil, fmt.Errorf("resize_param: height and width must be positive, they are %d and %d", p.ResizeParam.GetHeight(), p.ResizeParam.GetWidth())
	}
	return f, os.MkdirAll(p.GetOutputDirectory(), 0o777)
}

// readLabelMap returns the names of the labels of a LabelMap file.
func readLabelMap(path string) (map[int]string, error) {
	var m caffepb.LabelMap
	if _, err := swproto.ReadText(path, &m); err != nil {
		return nil, err
	}
	names := map[int]string{}
	for _, item := range m.Item {
		label := int(item.GetLabel())
		if item.Name == nil || item.Label == nil {
			return nil, fmt.Errorf("%s: an item needs both name and label: %v", path, item)
		}
		if other, ok := names[label]; ok {
			return nil, fmt.Errorf("%s: label %d has the names %q and %q", path, label, other, item.GetName())
		}
		names[label] = item.GetName()
	}
	return names, nil
}

// readNameSizes reads lines "name height width". A name may have blanks.
func readNameSizes(path string) ([]namedSize, error) {
	file, err := regular.OpenText(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var images []namedSize
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		var im namedSize
		if n := len(words); n >= 3 {
			im.height, _ = strconv.Atoi(words[n-2])
			im.width, _ = strconv.Atoi(words[n-1])
			line := strings.TrimSpace(lines.Text())
			for _, word := range []string{words[n-1], words[n-2]} { // what stays is the name, with its blanks
				line = strings.TrimSpace(strings.TrimSuffix(line, word))
			}
			im.name = line
		}
		if im.height < 1 || im.width < 1 {
			return nil, fmt.Errorf("%s:%d: want \"name height width\" with positive extents: %q", path, n, lines.Text())
		}
		images = append(images, im)
	}
	return images, lines.Err()
}

// add adds the detections of the next image. After the last image of a pass it writes the files.
func (f *detectionFiles) add(found []detection, boxAt func(d detection) box.Box) error {
	if f == nil {
		return nil
	}
	im := f.images[f.next]
	for _, d := range found {
		f.found = append(f.found, savedDetection{f.next, d.label, d.score, original(boxAt(d), im, f.p.GetResizeParam())})
	}
	if f.next++; f.next < f.pass {
		return nil
	}
	defer func() { f.next, f.found = 0, f.found[:0] }()
	if f.p.GetOutputFormat() == "COCO" {
		return f.write(f.p.GetOutputNamePrefix()+".json", f.writeCOCO)
	}
	if f.p.GetOutputFormat() == "ILSVRC" {
		return f.write(f.p.GetOutputNamePrefix()+".txt", func(w *bufio.Writer) error { return f.writeLines(w, -1) })
	}
	for label := range f.labelsInUse {
		if label == f.background {
			continue
		}
		if err := f.write(f.p.GetOutputNamePrefix()+f.names[label]+".txt", func(w *bufio.Writer) error { return f.writeLines(w, label) }); err != nil {
			return err
		}
	}
	return nil
}

// original returns a box in pixels of the image before its change of size.
func original(b box.Box, im namedSize, p *caffepb.ResizeParameter) box.Box {
	w, h := float32(im.width), float32(im.height)
	if p == nil {
		return b.Clip(1, 1).Scale(w, h)
	}
	rw, rh := float32(p.GetWidth()), float32(p.GetHeight())
	switch p.GetResizeMode() {
	case caffepb.ResizeParameter_FIT_LARGE_SIZE_AND_PAD:
		part := box.Box{XMax: 1, YMax: 1} // of the padded image
		if w/h > rw/rh {
			rim := (rh - rw*h/w) / 2 / rh
			part.YMin, part.YMax = rim, 1-rim
		} else {
			rim := (rw - rh*w/h) / 2 / rw
			part.XMin, part.XMax = rim, 1-rim
		}
		b = b.Within(part)
	case caffepb.ResizeParameter_FIT_SMALL_SIZE:
		if p.GetHeightScale() > 0 && p.GetWidthScale() > 0 {
			return b.Scale(float32(p.GetWidthScale()), float32(p.GetHeightScale())).Clip(w, h)
		}
	}
	return b.Clip(1, 1).Scale(w, h)
}

// write writes a file of the directory.
func (f *detectionFiles) write(name string, write func(w *bufio.Writer) error) error {
	return swproto.WriteFileAtomic(filepath.Join(f.p.GetOutputDirectory(), name), func(file *os.File) error {
		w := bufio.NewWriter(file)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	})
}

// writeLines writes the lines of a class, or of all classes with their labels.
func (f *detectionFiles) writeLines(w *bufio.Writer, label int) error {
	for _, d := range f.found {
		if label >= 0 && d.label != label {
			continue
		}
		fmt.Fprint(w, f.images[d.image].name)
		if label < 0 {
			fmt.Fprintf(w, " %d", d.label)
		}
		x, y := math.Trunc(hundredths(d.XMin)), math.Trunc(hundredths(d.YMin))
		fmt.Fprintf(w, " %s %g %g %g %g\n", strconv.FormatFloat(float64(d.score), 'g', 6, 32), x, y,
			x+math.Trunc(hundredths(d.Width())), y+math.Trunc(hundredths(d.Height())))
	}
	return nil
}

// hundredths rounds to two decimal places.
func hundredths(v float32) float64 { return math.Round(float64(v)*100) / 100 }

func (f *detectionFiles) writeCOCO(w *bufio.Writer) error {
	type entry struct {
		Image    json.RawMessage `json:"image_id"`
		Category json.RawMessage `json:"category_id"`
		Box      [4]float64      `json:"bbox"`
		Score    float32         `json:"score"`
	}
	list := make([]entry, 0, len(f.found))
	for _, d := range f.found {
		list = append(list, entry{numberOrName(f.images[d.image].name), numberOrName(f.names[d.label]),
			[4]float64{hundredths(d.XMin), hundredths(d.YMin), hundredths(d.Width()), hundredths(d.Height())}, d.score})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "    ")
	return encoder.Encode(list)
}

// numberOrName returns a decimal number as a JSON number, as COCO has them, and anything else as a string.
func numberOrName(s string) json.RawMessage {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
		return json.RawMessage(s)
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("detect: a string is not encoded: " + err.Error())
	}
	return text
}
