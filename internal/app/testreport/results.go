package testreport

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
)

const (
	mostInTable   = 40   // classes of a confusion matrix with figures
	mostInPicture = 2000 // classes of one that is a picture
	mostConfused  = 20   // kinds of mistakes that are listed
)

// Figure is a named value, such as the mean of an output.
type Figure struct {
	Name  string
	Value float64
}

// Results are the contents of a report. Write makes a page of them; the page of a run gets them as JSON.
type Results struct {
	Model            string      `json:"model"`
	Weights          string      `json:"weights"`
	Batches          int         `json:"batches"`
	Items            int         `json:"items"`
	Different        int         `json:"different"` // items; less than Items if the batches read some more than once
	Damaged          int         `json:"damaged"`   // images that were read as far as they go
	Figures          []Row       `json:"figures"`
	Unit             string      `json:"unit"` // an item of the matrix: images or pixels; "": there is no matrix
	Maps             bool        `json:"maps"` // the net is a segmentation
	Names            []string    `json:"names"`
	Matrix           []MatrixRow `json:"matrix"`
	MatrixPicture    *Picture    `json:"matrix_picture"` // of many classes
	Confused         []Row       `json:"confused"`
	Classes          []ClassRow  `json:"classes"`
	Mistakes         []Mistake   `json:"mistakes"` // the worst images first
	Wrong            int         `json:"wrong"`    // images, or pixels
	NoPictures       bool        `json:"no_pictures"`
	ScoresOf         string      `json:"scores_of"` // the layer whose scores are judged
	Curves           []Curve     `json:"curves"`
	AveragePrecision string      `json:"average_precision"` // the version
}

// Row is a named value as text.
type Row struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ClassRow is a line about a class.
type ClassRow struct {
	Name      string  `json:"name"`
	Items     int     `json:"items"`
	Right     int     `json:"right"`
	Recall    string  `json:"recall"`
	Precision string  `json:"precision"`
	IoU       string  `json:"iou"`
	Share     float64 `json:"share"` // the recall, for a bar
}

// MatrixRow has the items of a label by predicted class.
type MatrixRow struct {
	Name  string `json:"name"`
	Cells []Cell `json:"cells"`
}

// Cell is a cell of the confusion matrix.
type Cell struct {
	Text  string  `json:"text"`
	Title string  `json:"title"`
	Shade float64 `json:"shade"` // how strongly the cell is coloured, from 0 to 1
	Right bool    `json:"right"`
}

// Mistake is an image that was misclassified, or of which a part was.
type Mistake struct {
	Item     int       `json:"item"` // its number in the test
	Name     string    `json:"name"` // of its file, or in its database; "": it has none
	Head     string    `json:"head"`
	Score    string    `json:"score"`
	Guesses  []Row     `json:"guesses"`
	Pictures []Picture `json:"pictures"`
	Boxes    []Box     `json:"boxes"` // over the first picture
}

// Results returns what the batches so far say. outputs are figures for its head.
func (r *Report) Results(outputs []Figure) *Results {
	s := &Results{Model: r.opt.Model, Weights: r.opt.Weights, Batches: r.batches, Items: r.items, Different: r.different(), Damaged: r.damaged(), AveragePrecision: r.opt.Version}
	for _, f := range outputs {
		s.Figures = append(s.Figures, Row{f.Name, caffelog.Figure(f.Value)})
	}
	if r.judge != nil {
		r.showClasses(s)
		r.showMatrix(s)
	}
	r.showMistakes(s)
	r.showCurves(s)
	return s
}

// name returns a class's name.
func (r *Report) name(class int) string {
	if class >= 0 && class < len(r.opt.Labels) {
		return r.opt.Labels[class]
	}
	return strconv.Itoa(class)
}

func (r *Report) showClasses(s *Results) {
	_, _, places := r.judge.extents()
	s.Maps, s.Unit, s.ScoresOf = places > 1, "images", r.judge.name
	if s.Maps {
		s.Unit = "pixels"
	}
	all, right := r.confusion.Items()
	s.Wrong = all - right
	s.Figures = append(s.Figures, Row{"accuracy of " + s.Unit, percent(ratio(right, all))}, Row{"right", fmt.Sprintf("%d of %d %s", right, all, s.Unit)})
	if s.Maps {
		s.Figures = append(s.Figures, Row{"mean IoU", percent(r.confusion.MeanIoU(), true)})
	}
	for k := range r.confusion.Classes {
		recall, ok := r.confusion.Recall(k)
		if _, found := r.confusion.Precision(k); !ok && !found {
			continue // neither a label nor a prediction
		}
		s.Classes = append(s.Classes, ClassRow{
			r.name(k), r.confusion.Labelled(k), r.confusion.Count(k, k), percent(recall, ok), percent(r.confusion.Precision(k)), percent(r.confusion.IoU(k)), recall,
		})
	}
	for _, c := range r.confusion.Most(mostConfused) {
		s.Confused = append(s.Confused, Row{r.name(c.Label) + " taken for " + r.name(c.Predicted), strconv.Itoa(c.Items)})
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

func (r *Report) showMatrix(s *Results) {
	n := r.confusion.Classes
	if n > mostInTable {
		if n <= mostInPicture {
			p := NewPicture("confusion matrix", r.matrixPicture())
			s.MatrixPicture = &p
		}
		return
	}
	for label := range n {
		line := MatrixRow{Name: r.name(label)}
		s.Names = append(s.Names, line.Name)
		for class := range n {
			c := Cell{Shade: r.shade(label, class), Right: label == class}
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

func (r *Report) showMistakes(s *Results) {
	s.NoPictures = r.images == nil
	for _, m := range r.mistakes {
		c := Mistake{Pictures: m.pictures, Item: m.item, Name: m.name, Boxes: m.boxes}
		switch {
		case m.boxes != nil:
			c.Head, c.Score = "right boxes", percent(m.score, true)
			c.Guesses = boxRows(m.boxes)
		case m.label < 0:
			c.Head, c.Score = "pixels right", percent(m.score, true)
		default:
			c.Head, c.Score = "label "+r.name(m.label), score(m.score)
		}
		for _, g := range m.guesses {
			c.Guesses = append(c.Guesses, Row{r.name(g.class), score(g.probability)})
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
