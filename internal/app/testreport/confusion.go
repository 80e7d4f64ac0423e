package testreport

import (
	"cmp"
	"slices"
)

// Confusion counts the items of a test by label and predicted class. In a segmentation the items are pixels.
type Confusion struct {
	Classes int
	counts  map[pair]int
	labels  []int // items by label
	found   []int // items by predicted class
}

type pair struct{ label, predicted int }

// Confused is a kind of mistake: the number of items of a label that were predicted as another class.
type Confused struct{ Label, Predicted, Items int }

// NewConfusion returns a Confusion without items.
func NewConfusion(classes int) *Confusion {
	return &Confusion{Classes: classes, counts: map[pair]int{}, labels: make([]int, classes), found: make([]int, classes)}
}

// Add adds an item.
func (c *Confusion) Add(label, predicted int) {
	c.counts[pair{label, predicted}]++
	c.labels[label]++
	c.found[predicted]++
}

// Count returns the number of items of a label that were predicted as a class.
func (c *Confusion) Count(label, predicted int) int { return c.counts[pair{label, predicted}] }

// Labelled returns the number of items of a label.
func (c *Confusion) Labelled(label int) int { return c.labels[label] }

// Items returns the number of all items, and of those whose predicted class is their label.
func (c *Confusion) Items() (all, right int) {
	for k := range c.Classes {
		all += c.labels[k]
		right += c.Count(k, k)
	}
	return all, right
}

// Recall returns the share of a label's items that were predicted as it.
func (c *Confusion) Recall(class int) (share float64, ok bool) {
	return ratio(c.Count(class, class), c.labels[class])
}

// Precision returns the share of the items predicted as a class that have its label.
func (c *Confusion) Precision(class int) (share float64, ok bool) {
	return ratio(c.Count(class, class), c.found[class])
}

// IoU returns intersection over union: the items predicted as a class that have its label, over the items that are predicted as it, have its
// label, or both.
func (c *Confusion) IoU(class int) (share float64, ok bool) {
	right := c.Count(class, class)
	return ratio(right, c.labels[class]+c.found[class]-right)
}

// MeanIoU returns the mean over the classes that are somebody's label or prediction.
func (c *Confusion) MeanIoU() float64 {
	sum, n := 0.0, 0
	for k := range c.Classes {
		if share, ok := c.IoU(k); ok {
			sum += share
			n++
		}
	}
	return sum / float64(max(1, n))
}

// Most returns the n most frequent mistakes, the most frequent first and those of equal frequency in the order of their classes.
func (c *Confusion) Most(n int) []Confused {
	var all []Confused
	for p, items := range c.counts {
		if p.label != p.predicted {
			all = append(all, Confused{p.label, p.predicted, items})
		}
	}
	slices.SortFunc(all, func(a, b Confused) int {
		return cmp.Or(b.Items-a.Items, a.Label-b.Label, a.Predicted-b.Predicted)
	})
	return all[:min(n, len(all))]
}

// ratio returns part over whole. It is not ok if the whole is 0.
func ratio(part, whole int) (share float64, ok bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}
