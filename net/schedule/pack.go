package schedule

import (
	"maps"
	"slices"
)

// span is storage that is needed from step first to step last, both included.
type span struct{ size, first, last int }

// overlaps reports whether both spans are needed in a common step.
func (s span) overlaps(o span) bool { return s.first <= o.last && o.first <= s.last }

// packTries bounds the number of attempts of pack, packWork the number of pairs of spans it compares.
const packTries, packWork = 256, 1 << 24

// pack assigns every span an offset so that spans with a common step do not overlap, and returns the total length. It places spans in order
// of duration, longest first, each in the smallest gap that fits. ("Greedy by size" takes the largest first: Pisarchyk and Lee 2020,
// Efficient memory management for deep neural net inference.) While the total exceeds the peak demand, it tries again, and places the spans
// that reached the end first.
func pack(spans []span) (offsets []int, total int) {
	var order []int
	for i, s := range spans {
		if s.size > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return spans[b].last - spans[b].first - (spans[a].last - spans[a].first)
	})
	least := peak(spans)
	offsets, now := make([]int, len(spans)), make([]int, len(spans))
	placed, next := make([]int, 0, len(order)), make([]int, 0, len(order))
	total = inOrder(spans, order, offsets, placed)
	copy(now, offsets)
	end := total
	for range min(packTries, packWork/max(1, len(order)*len(order))) {
		if total == least {
			break
		}
		order, next = endingFirst(spans, now, order, end, next), order
		if end = inOrder(spans, order, now, placed); end < total {
			copy(offsets, now)
			total = end
		}
	}
	return offsets, total
}

// peak returns the largest sum of spans in any step, a lower bound of the total.
func peak(spans []span) int {
	change := map[int]int{} // of the sum, by step
	for _, s := range spans {
		change[s.first] += s.size
		change[s.last+1] -= s.size
	}
	most, now := 0, 0
	for _, step := range slices.Sorted(maps.Keys(change)) {
		now += change[step]
		most = max(most, now)
	}
	return most
}

// endingFirst returns the order with the spans that reach the end moved to its front. The result is stored in next.
func endingFirst(spans []span, offsets, order []int, end int, next []int) []int {
	next = next[:0]
	for _, reaches := range []bool{true, false} {
		for _, i := range order {
			if (offsets[i]+spans[i].size == end) == reaches {
				next = append(next, i)
			}
		}
	}
	return next
}

// inOrder assigns offsets to the spans of an order, one after the other, and returns where the last of them ends. placed lists spans that have offsets, by offset; its
// memory is used.
func inOrder(spans []span, order, offsets, placed []int) (total int) {
	for _, i := range order {
		offsets[i] = gap(spans, offsets, placed, spans[i])
		total = max(total, offsets[i]+spans[i].size)
		at, _ := slices.BinarySearchFunc(placed, offsets[i], func(p, offset int) int { return offsets[p] - offset })
		placed = slices.Insert(placed, at, i)
	}
	return total
}

// gap returns the start of the smallest gap that s fits into among the placed spans it overlaps in time, or the end of the last of them.
func gap(spans []span, offsets, placed []int, s span) int {
	best, room, end := -1, 0, 0
	for _, p := range placed {
		if !spans[p].overlaps(s) {
			continue
		}
		if free := offsets[p] - end; free >= s.size && (best < 0 || free < room) {
			best, room = end, free
		}
		end = max(end, offsets[p]+spans[p].size)
	}
	if best >= 0 {
		return best
	}
	return end
}
