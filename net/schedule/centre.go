package schedule

import (
	"cmp"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
)

// mostCentred bounds the length of an arena of centre, relative to that of pack.
const mostCentred = 1.5

// centre is pack for machines whose cores have caches of their own. Cores share the images of a batch in order, or the channels of an image, so that
// the first half of the cores writes the first half of each array. If arrays follow each other in the same memory as pack places them, those halves are not the same, and a core
// writes to cache lines that it must first get from another's cache. Here the first n spans, the arrays, stand in slots, one around the middle of the other. The
// others, kernels' scratch, stand in the smallest gaps.
func centre(spans []span, n int) (offsets []int, total int) {
	offsets = make([]int, len(spans))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(spans[b].size, spans[a].size) })
	type slot struct {
		from, size int
		held       []int
	}
	var slots []slot
	for _, i := range order {
		at := -1
		for k, s := range slots { // the last one with room is the smallest
			if !slices.ContainsFunc(s.held, func(h int) bool { return spans[h].overlaps(spans[i]) }) {
				at = k
			}
		}
		if at < 0 {
			at = len(slots)
			slots = append(slots, slot{from: total, size: spans[i].size})
			total += spans[i].size
		}
		s := &slots[at]
		s.held = append(s.held, i)
		offsets[i] = s.from + cpe.WholeLines((s.size-spans[i].size)/2)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
	var scratch []int
	for i := n; i < len(spans); i++ {
		if spans[i].size > 0 {
			scratch = append(scratch, i)
		}
	}
	return offsets, max(total, inOrder(spans, scratch, offsets, order))
}
