package testreport

import (
	_ "embed"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/caffelog"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

const (
	mostInTable   = 40   // classes of a confusion matrix with figures
	mostInPicture = 2000 // classes of one that is a picture
	mostConfused  = 20   // kinds of mistakes that a page lists
)

// Figure is a named value, such as the mean of an output.
type Figure struct {
	Name  string
	Value float64
}

// shown is what page.html shows.
type shown struct {
	Model, Weights   string
	Batches, Items   int
	Figures          []row
	Classes          []classRow
	Unit             string // an item: image or pixel
	Maps             bool
	Names            []string
	Matrix           []matrixRow
	MatrixPicture    *picture
	Confused         []row
	Mistakes         []mistakeCard
	NoPictures       bool
	Wrong            int
	Curves           []curveCard
	ScoresOf         string
	AveragePrecision string
}

type row struct{ Name, Value string }

type classRow struct {
	Name                   string
	Items, Right           int
	Recall, Precision, IoU string
	Share                  float64 // the recall, for a bar
}

type matrixRow struct {
	Name  string
	Cells []cell
}

type cell struct {
	Text, Title string
	Alpha       float64
	Right       bool
}

type mistakeCard struct {
	Pictures    []picture
	Item        int
	Head, Score string
	Guesses     []row
}

// Write writes the page. outputs are figures for its head.
func (r *Report) Write(w io.Writer, outputs []Figure) error {
	s := shown{Model: r.opt.Model, Weights: r.opt.Weights, Batches: r.batches, Items: r.items, AveragePrecision: r.opt.Version}
	for _, f := range outputs {
		s.Figures = append(s.Figures, row{f.Name, caffelog.Figure(f.Value)})
	}
	if r.judge != nil {
		r.showClasses(&s)
		r.showMatrix(&s)
		r.showMistakes(&s)
	}
	r.showCurves(&s)
	return page.Execute(w, &s)
}

// name returns a class's name.
func (r *Report) name(class int) string {
	if class >= 0 && class < len(r.opt.Labels) {
		return r.opt.Labels[class]
	}
	return strconv.Itoa(class)
}

func (r *Report) showClasses(s *shown) {
	_, _, places := r.judge.extents()
	s.Maps, s.Unit, s.ScoresOf = places > 1, "images", r.judge.name
	if s.Maps {
		s.Unit = "pixels"
	}
	all, right := r.confusion.Items()
	s.Wrong = all - right
	s.Figures = append(s.Figures, row{"accuracy of " + s.Unit, percent(ratio(right, all))}, row{"right", fmt.Sprintf("%d of %d %s", right, all, s.Unit)})
	if s.Maps {
		s.Figures = append(s.Figures, row{"mean IoU", percent(r.confusion.MeanIoU(), true)})
	}
	for k := range r.confusion.Classes {
		recall, ok := r.confusion.Recall(k)
		if _, found := r.confusion.Precision(k); !ok && !found {
			continue // neither a label nor a prediction
		}
		s.Classes = append(s.Classes, classRow{
			r.name(k), r.confusion.Labelled(k), r.confusion.Count(k, k), percent(recall, ok), percent(r.confusion.Precision(k)), percent(r.confusion.IoU(k)), recall,
		})
	}
	for _, c := range r.confusion.Most(mostConfused) {
		s.Confused = append(s.Confused, row{r.name(c.Label) + " taken for " + r.name(c.Predicted), strconv.Itoa(c.Items)})
	}
}

// percent returns a share as a percentage, or a dash if there is none.
func percent(share float64, ok bool) string {
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*share)
}

// shade returns how strongly a cell is coloured: the root of its share of the row, so that rare mistakes are visible.
func (r *Report) shade(label, class int) float64 {
	share, _ := ratio(r.confusion.Count(label, class), r.confusion.Labelled(label))
	return math.Round(100*math.Sqrt(share)) / 100
}

func (r *Report) showMatrix(s *shown) {
	n := r.confusion.Classes
	if n > mostInTable {
		if n <= mostInPicture {
			p := encoded("confusion matrix", r.matrixPicture())
			s.MatrixPicture = &p
		}
		return
	}
	for label := range n {
		line := matrixRow{Name: r.name(label)}
		s.Names = append(s.Names, line.Name)
		for class := range n {
			c := cell{Alpha: r.shade(label, class), Right: label == class}
			c.Title = fmt.Sprintf("%s taken for %s: %d", r.name(label), r.name(class), r.confusion.Count(label, class))
			if items := r.confusion.Count(label, class); items > 0 {
				c.Text = strconv.Itoa(items)
			}
			line.Cells = append(line.Cells, c)
		}
		s.Matrix = append(s.Matrix, line)
	}
}

// matrixPicture paints a pixel per pair of classes, labels downwards, right ones in blue.
func (r *Report) matrixPicture() image.Image {
	n := r.confusion.Classes
	to := image.NewNRGBA(image.Rect(0, 0, n, n))
	for label := range n {
		for class := range n {
			c := color.NRGBA{0xd5, 0x5e, 0x00, uint8(255 * r.shade(label, class))}
			if label == class {
				c.R, c.G, c.B = 0x00, 0x72, 0xb2
			}
			to.SetNRGBA(class, label, c)
		}
	}
	return to
}

func (r *Report) showMistakes(s *shown) {
	s.NoPictures = r.images == nil
	for _, m := range r.mistakes {
		c := mistakeCard{Pictures: m.pictures, Item: m.item}
		if m.label < 0 {
			c.Head, c.Score = "pixels right", percent(m.score, true)
		} else {
			c.Head, c.Score = "label "+r.name(m.label), score(m.score)
		}
		for _, g := range m.guesses {
			c.Guesses = append(c.Guesses, row{r.name(g.class), score(g.probability)})
		}
		s.Mistakes = append(s.Mistakes, c)
	}
}

// score returns a probability with four digits, or in powers of ten if it is small.
func score(p float64) string {
	if p != 0 && p < 0.0001 {
		return strings.Replace(strconv.FormatFloat(p, 'e', 1, 64), "e-", "e−", 1)
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}
