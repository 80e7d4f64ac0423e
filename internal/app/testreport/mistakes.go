package testreport

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
)

// shownGuesses is the number of classes that a report lists for an item.
const shownGuesses = 3

// mistake is an item that was misclassified, or an image of which some pixels were.
type mistake struct {
	item     int     // its number in the test
	name     string  // of its file
	score    float64 // the label's probability, the share of pixels that are right, or that of objects and boxes
	label    int     // -1: pixels or objects have labels of their own
	guesses  []guess // the most probable classes
	boxes    []Box   // of a detection
	pictures []Picture
}

// offer keeps an item if it is among the worst. Only then complete fills in the other fields.
func (r *Report) offer(score float64, complete func(*mistake)) {
	m := mistake{item: r.items, score: score}
	at, _ := slices.BinarySearchFunc(r.mistakes, m, func(a, b mistake) int { return cmp.Or(cmp.Compare(a.score, b.score), a.item-b.item) })
	if at >= r.opt.Worst {
		return
	}
	complete(&m)
	r.mistakes = slices.Insert(r.mistakes, at, m)
	r.mistakes = r.mistakes[:min(r.opt.Worst, len(r.mistakes))]
}

// wrongItem is an item with one label that was misclassified.
type wrongItem struct {
	item             int
	name             string
	label, predicted int
	probability      float64 // of the label
}

// WriteMistakes writes all misclassified items as CSV, in the order of the test. It writes nothing but the head if labels are those of pixels or
// objects.
func (r *Report) WriteMistakes(to io.Writer) error {
	w := csv.NewWriter(to)
	w.Write([]string{"item", "file", "label", "predicted", "probability_of_label"})
	for _, m := range r.wrong {
		w.Write([]string{strconv.Itoa(m.item), m.name, r.name(m.label), r.name(m.predicted), strconv.FormatFloat(m.probability, 'g', 6, 64)})
	}
	w.Flush()
	return w.Error()
}
