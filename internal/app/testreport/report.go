// Package testreport shows a test of a net as one HTML page without scripts or other files.
//
// A Report collects the results of batches. New finds in the net what to report: labels and scores of a classifier or a segmentation
// (judge.go), input images (images.go), detections (boxes.go). Add takes the batch that the net has just run. Results returns what a report
// shows, also on the page of a run. Write writes it as an HTML page (page.go).
//
//	confusion.go  Confusion: items by label and predicted class, with accuracy, precision and intersection over union
//	mistakes.go   the worst items, and a table of all that are misclassified
//	boxes.go      Box: objects and detections over an image
//	labels.go     the names of classes
//	curves.go     curves of precision over recall
//	results.go    Results: figures and tables
//	page.go       the page, and page_mistakes.go its worst images; markup.go escapes values
package testreport

import (
	"errors"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/app/picture"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver/evaluate"
)

// Options say what a report is of, and how it shows it.
type Options struct {
	Model, Weights string   // the files
	Labels         []string // names of classes; a class without one has its number; nil: those of FindLabels
	Worst          int      // the number of images to show
	Version        string   // of average precision
}

// Report is the result of a test.
type Report struct {
	opt     Options
	batches int

	judge     *judge     // nil: the net has none
	confusion *Confusion // of the judge's labels
	images    *images
	mistakes  []mistake // the worst first
	wrong     []wrongItem
	items     int
	scratch   []float64

	sets      []layers.Finite // the layers that read the items
	repairers []repairer

	rows       []*blob.Blob // of DetectionEvaluate layers
	detections []evaluate.Precision
	names      []string  // of these layers
	detector   *detector // the first of these layers; nil: none
}

// repairer is a layer that reads images. Repaired is the number of those that were damaged and read as far as they go.
type repairer interface{ Repaired() int }

// New returns a report on a net before its first batch. It needs labels with scores, or detections.
func New(n *swnet.Net, opt Options) (*Report, error) {
	r := &Report{opt: opt, judge: findJudge(n)}
	for i := range n.NumLayers() {
		if set, ok := n.Layer(i).(layers.Finite); ok {
			r.sets = append(r.sets, set)
		}
		if l, ok := n.Layer(i).(repairer); ok {
			r.repairers = append(r.repairers, l)
		}
		if n.LayerType(i) == "DetectionEvaluate" {
			r.rows = append(r.rows, n.Blob(n.BlobNames()[n.TopIDs(i)[0]]))
			r.names = append(r.names, n.LayerName(i))
		}
	}
	r.detections = make([]evaluate.Precision, len(r.rows))
	if r.opt.Labels == nil {
		r.opt.Labels = FindLabels(n)
	}
	var annotations []int
	r.detector, annotations = findDetector(n)
	switch {
	case r.judge != nil:
		_, classes, _ := r.judge.extents()
		r.confusion = NewConfusion(classes)
		if opt.Labels == nil && len(r.opt.Labels) != classes {
			r.opt.Labels = nil // they are another net's
		}
	case r.detector == nil:
		return nil, errors.New("a report needs a layer of type Accuracy, SegAccuracy, SoftmaxWithLoss or DetectionEvaluate in phase TEST; the net has none")
	}
	var err error
	r.images, err = findImages(n, annotations)
	return r, err
}

// Add adds the batch that the net has just run.
func (r *Report) Add() {
	r.batches++
	for i, b := range r.rows {
		r.detections[i].Add(b.Data())
	}
	if r.judge == nil {
		r.addDetections()
		return
	}
	images, _, places := r.judge.extents()
	for image := range images {
		if places > 1 {
			r.addMap(image, places)
		} else {
			r.addItem(image)
		}
		r.items++
	}
}

// different returns the number of different images among the report's, if the data layers know it.
func (r *Report) different() int {
	least := uint64(r.items)
	for _, s := range r.sets {
		if items, err := s.Items(0); err == nil && items > 0 {
			least = min(least, items)
		}
	}
	return int(least)
}

// damaged returns the number of images that were damaged.
func (r *Report) damaged() (n int) {
	for _, l := range r.repairers {
		n += l.Repaired()
	}
	return n
}

// addItem adds an item with one label.
func (r *Report) addItem(image int) {
	label, ok := r.judge.label(image, 0)
	if !ok {
		return
	}
	r.scratch = r.judge.at(image, 0, r.scratch)
	class := predicted(r.scratch, label)
	r.confusion.Add(label, class)
	if class == label {
		return
	}
	guesses := r.judge.guesses(r.scratch)
	own := 0.0
	for _, g := range guesses {
		if g.class == label {
			own = g.probability
		}
	}
	r.wrong = append(r.wrong, wrongItem{r.items, r.images.name(image), label, class, own})
	r.offer(own, func(m *mistake) {
		m.label, m.guesses = label, guesses[:min(shownGuesses, len(guesses))]
		m.pictures, m.name = r.images.of(image), r.images.name(image)
	})
}

// addMap adds an image with a label for every pixel. Its score is the share of pixels that are right.
func (r *Report) addMap(image, places int) {
	truth, found := make([]int, places), make([]int, places)
	labelled, right := 0, 0
	for p := range places {
		label, ok := r.judge.label(image, p)
		r.scratch = r.judge.at(image, p, r.scratch)
		truth[p], found[p] = label, predicted(r.scratch, label)
		if !ok {
			truth[p] = picture.Unlabelled
			continue
		}
		r.confusion.Add(label, found[p])
		labelled++
		if found[p] == label {
			right++
		}
	}
	if share, ok := ratio(right, labelled); ok && right < labelled {
		height, width := r.judge.scores.Dim(-2), r.judge.scores.Dim(-1)
		if height*width != places {
			height, width = 1, places
		}
		r.offer(share, func(m *mistake) {
			m.label, m.name = -1, r.images.name(image)
			m.pictures = append(r.images.of(image), NewPicture("labels", picture.Classes(truth, height, width)), NewPicture("predicted", picture.Classes(found, height, width)))
		})
	}
}
