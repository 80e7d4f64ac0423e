package infer

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/predict"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// write prints the detections and writes the files of all images.
func (o *detectOptions) write(e *cli.Env, all []found) error {
	for _, f := range all {
		for _, d := range f.detections {
			fmt.Fprintf(e.Tables, "%s %s %.4f %.1f %.1f %.1f %.1f\n", f.file, d.Label, d.Score, d.XMin, d.YMin, d.XMax, d.YMax)
		}
	}
	if o.json != "" {
		if err := e.WriteJSON(o.json, jsonOf(all)); err != nil {
			return err
		}
	}
	if o.csv != "" {
		if err := e.CreateFile(o.csv, func(to io.Writer) error { return writeCSV(to, all) }); err != nil {
			return err
		}
	}
	if o.coco == "" {
		return nil
	}
	categories, err := o.categories()
	if err != nil {
		return err
	}
	var named []string
	for _, f := range all {
		if imageID(f.file)[0] == '"' {
			named = append(named, f.file)
		}
	}
	if len(named) > 0 {
		fmt.Fprintf(e.Stderr, "-coco %s: %d of %d images have no number for a name, as %s; their image_id is the name, and pycocotools wants the annotation file's number\n", o.coco, len(named), len(all), named[0])
	}
	return e.WriteJSON(o.coco, cocoOf(all, categories))
}

// categories returns COCO's numbers of classes whose names in the label map are such.
func (o *detectOptions) categories() (map[int]int, error) {
	if o.labelMap == "" {
		return nil, nil
	}
	names, err := annotation.ReadLabelMap(o.labelMap)
	if err != nil {
		return nil, nil // a text with a name on each line
	}
	labels, err := names.Labels(false)
	numbers := map[int]int{}
	for name, label := range labels {
		if n, err := strconv.Atoi(name); err == nil {
			numbers[label] = n
		}
	}
	return numbers, err
}

// numbered is the name of an image of COCO's, as those of 2017 and of 2014 are.
var numbered = regexp.MustCompile(`^(?:COCO_\w+_)?0*(\d{1,18})$`)

// imageID returns the image_id of a file: the number that its name is, or the name.
func imageID(file string) json.RawMessage {
	if m := numbered.FindStringSubmatch(stem(file)); m != nil {
		return json.RawMessage(m[1])
	}
	text, _ := json.Marshal(stem(file))
	return text
}

// writeCSV writes a line for each detection.
func writeCSV(to io.Writer, all []found) error {
	w := csv.NewWriter(to)
	w.Write([]string{"image", "class", "name", "score", "xmin", "ymin", "xmax", "ymax"})
	for _, f := range all {
		for _, d := range f.detections {
			row := []string{f.file, strconv.Itoa(d.Class), d.Label}
			for _, v := range []float32{d.Score, d.XMin, d.YMin, d.XMax, d.YMax} {
				row = append(row, strconv.FormatFloat(float64(v), 'g', -1, 32))
			}
			w.Write(row)
		}
	}
	w.Flush()
	return w.Error()
}

// imageJSON is an image in the -json file.
type imageJSON struct {
	Image      string       `json:"image"`
	Width      int          `json:"width"`
	Height     int          `json:"height"`
	Detections []objectJSON `json:"detections"`
}

type objectJSON struct {
	Label int        `json:"label"`
	Name  string     `json:"name"`
	Score float32    `json:"score"`
	Box   [4]float32 `json:"box"` // xmin, ymin, xmax, ymax in pixels
}

func jsonOf(all []found) []imageJSON {
	list := make([]imageJSON, 0, len(all))
	for _, f := range all {
		im := imageJSON{f.file, f.image.Width, f.image.Height, []objectJSON{}}
		for _, d := range f.detections {
			im.Detections = append(im.Detections, objectJSON{d.Class, d.Label, d.Score, [4]float32{d.XMin, d.YMin, d.XMax, d.YMax}})
		}
		list = append(list, im)
	}
	return list
}

// resultCOCO is a detection in COCO's format of results.
type resultCOCO struct {
	Image    json.RawMessage `json:"image_id"`
	Category int             `json:"category_id"`
	Box      [4]float32      `json:"bbox"` // xmin, ymin, width, height in pixels
	Score    float32         `json:"score"`
}

func cocoOf(all []found, categories map[int]int) []resultCOCO {
	list := []resultCOCO{}
	for _, f := range all {
		for _, d := range f.detections {
			category, ok := categories[d.Class]
			if !ok {
				category = d.Class
			}
			list = append(list, resultCOCO{imageID(f.file), category, [4]float32{d.XMin, d.YMin, d.XMax - d.XMin, d.YMax - d.YMin}, d.Score})
		}
	}
	return list
}

// files returns the names in the -out folder of an image's annotation and of its pictures, by their formats.
func (o *detectOptions) files(image string) (annotation string, pictures map[string]string) {
	name := filepath.Join(o.out, stem(image))
	pictures = map[string]string{}
	for _, format := range strings.Split(o.pictures, ",") {
		pictures[format] = name + "." + format
	}
	return name + ".xml", pictures
}

// checkOut refuses a -out folder with files in the place of an image's that are not of an earlier run, or that are read.
func (o *detectOptions) checkOut(e *cli.Env) error {
	if o.out == "" {
		return nil
	}
	for _, image := range o.images {
		annotation, pictures := o.files(image)
		for _, path := range append(slices.Sorted(maps.Values(pictures)), annotation) {
			if err := e.Spares(path); err != nil {
				return cli.Usagef("-out %s: %w", o.out, err)
			}
			if _, err := os.Lstat(path); err == nil && !ofDetect(annotation) {
				return cli.Usagef("-out %s: %s exists already and is of no earlier run: %s does not say that detect wrote it; choose another folder", o.out, path, annotation)
			}
		}
	}
	return nil
}

// ofDetect reports whether an annotation was written by detect.
func ofDetect(path string) bool {
	text, err := regular.ReadText(path, mostAnnotation)
	var a annotationVOC
	return err == nil && xml.Unmarshal(text, &a) == nil && a.Source == sourceDetect
}

// mostAnnotation limits the bytes of an annotation that is read again.
const mostAnnotation = 1 << 26

// writeImage writes an image's annotation and its pictures into the -out folder. The annotation is first: it says whose the pictures are.
func (o *detectOptions) writeImage(e *cli.Env, f *found) error {
	if o.out == "" {
		return nil
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	annotation, pictures := o.files(f.file)
	text, err := xml.MarshalIndent(f.annotation(), "", "  ")
	if err != nil {
		return err
	}
	if err := e.WriteFile(annotation, append(text, '\n')); err != nil {
		return err
	}
	for format, path := range pictures {
		picture, err := figure.Render(format, f.image.Width, f.image.Height, f.paint)
		if err != nil {
			return fmt.Errorf("%s: %w", f.file, err)
		}
		if err := e.WriteFile(path, picture); err != nil {
			return err
		}
	}
	return nil
}

// annotationVOC is an annotation of PASCAL VOC.
type annotationVOC struct {
	XMLName xml.Name    `xml:"annotation"`
	File    string      `xml:"filename"`
	Source  string      `xml:"source>annotation"`
	Width   int         `xml:"size>width"`
	Height  int         `xml:"size>height"`
	Depth   int         `xml:"size>depth"`
	Objects []objectVOC `xml:"object"`
}

// sourceDetect is the source of detect's annotations.
const sourceDetect = "swcaffe detect"

type objectVOC struct {
	Name  string  `xml:"name"`
	Score float32 `xml:"score"`
	XMin  int     `xml:"bndbox>xmin"`
	YMin  int     `xml:"bndbox>ymin"`
	XMax  int     `xml:"bndbox>xmax"`
	YMax  int     `xml:"bndbox>ymax"`
}

// annotation returns the annotation. VOC counts pixels from 1.
func (f *found) annotation() annotationVOC {
	a := annotationVOC{File: filepath.Base(f.file), Source: sourceDetect, Width: f.image.Width, Height: f.image.Height, Depth: f.image.Channels}
	pixel := func(v float32, n int) int { return min(int(math.Round(float64(v)))+1, n) }
	for _, d := range f.detections {
		a.Objects = append(a.Objects, objectVOC{d.Label, d.Score, pixel(d.XMin, a.Width), pixel(d.YMin, a.Height), pixel(d.XMax, a.Width), pixel(d.YMax, a.Height)})
	}
	return a
}

// paint draws the image and its boxes, with a colour for each class. Labels come last, so that no line crosses them. The best detections are
// labelled first.
func (f *found) paint(c draw.Canvas) {
	c.DrawImage(vg.Rectangle{Max: vg.Point{X: c.Max.X, Y: c.Max.Y}}, picture(f.image))
	unit := c.Max.X / vg.Length(f.image.Width)
	places := labelPlaces{edge: vg.Rectangle{Max: c.Max}}
	order := make([]int, len(f.detections))
	for i, d := range f.detections {
		b := vg.Rectangle{Min: vg.Point{X: vg.Length(d.XMin) * unit, Y: c.Max.Y - vg.Length(d.YMax)*unit},
			Max: vg.Point{X: vg.Length(d.XMax) * unit, Y: c.Max.Y - vg.Length(d.YMin)*unit}}
		places.boxes, order[i] = append(places.boxes, b), i
		line := draw.LineStyle{Color: colourOf(&d), Width: 2 * unit}
		c.StrokeLines(line, []vg.Point{{X: b.Min.X, Y: b.Max.Y}, b.Max, {X: b.Max.X, Y: b.Min.Y}, b.Min, {X: b.Min.X, Y: b.Max.Y}})
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(f.detections[j].Score, f.detections[i].Score) })
	for _, i := range order {
		paintLabel(&f.detections[i], c, &places, i, unit)
	}
}

// colourOf is the colour of an object's class.
func colourOf(d *predict.Object) color.Color { return figure.Palette[d.Class%len(figure.Palette)] }

// paintLabel writes the name and the score of detection d, number i, on its colour. A line leads from a distant label to the corner of its box.
func paintLabel(d *predict.Object, c draw.Canvas, places *labelPlaces, i int, unit vg.Length) {
	text, style := fmt.Sprintf("%s %.2f", d.Label, d.Score), figure.Style(12*unit)
	margin := vg.Point{X: 2 * unit, Y: 2 * unit}
	r, far := places.place(i, vg.Point{X: style.Width(text), Y: style.Height(text)}.Add(margin.Scale(2)))
	if b := places.boxes[i]; far {
		c.StrokeLine2(draw.LineStyle{Color: colourOf(d), Width: unit}, b.Min.X, b.Max.Y, (r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2)
	}
	c.FillPolygon(colourOf(d), []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
	style.Color, style.XAlign, style.YAlign = inkOn(colourOf(d)), draw.XLeft, draw.YCenter
	c.FillText(style, vg.Point{X: r.Min.X + margin.X, Y: (r.Min.Y + r.Max.Y) / 2}, text)
}

// picture converts an image for drawing.
func picture(im *imageio.Image) image.Image {
	to := image.NewRGBA(image.Rect(0, 0, im.Width, im.Height))
	for i := range im.Width * im.Height {
		p := im.Pix[i*im.Channels:]
		v := color.RGBA{p[0], p[0], p[0], 255}
		if im.Channels == 3 {
			v = color.RGBA{p[2], p[1], p[0], 255}
		}
		to.SetRGBA(i%im.Width, i/im.Width, v)
	}
	return to
}
