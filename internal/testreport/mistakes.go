package testreport

import (
	"cmp"
	"slices"
)

// shownGuesses is the number of classes that a report lists for an item.
const shownGuesses = 3

// mistake is an item that was misclassified, or an image of which some pixels were.
type mistake struct {
	item     int     // its number in the test
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
