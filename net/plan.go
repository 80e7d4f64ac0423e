package net

import "slices"

// span is a piece of storage that is needed from one step of a net's run to another, both included.
type span struct{ size, first, last int }

// meets reports whether there is a step at which both are needed.
func (s span) meets(o span) bool { return s.first <= o.last && o.first <= s.last }

// pack gives every span a place in one stretch of memory, so that no two that meet overlap, and returns where each begins
// and how long the stretch is. It takes the spans by size, the largest first, and puts each into the smallest gap that the
// ones it meets leave ("greedy by size" of Pisarchyk and Lee 2020, Efficient memory management for deep neural net
// inference).
func pack(spans []span) (offsets []int, total int) {
	order := make([]int, len(spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return spans[b].size - spans[a].size })
	offsets = make([]int, len(spans))
	var placed []int // by offset
	for _, i := range order {
		offsets[i] = gap(spans, offsets, placed, spans[i])
		total = max(total, offsets[i]+spans[i].size)
		at, _ := slices.BinarySearchFunc(placed, offsets[i], func(p, offset int) int { return offsets[p] - offset })
		placed = slices.Insert(placed, at, i)
	}
	return offsets, total
}

// gap returns where the smallest gap begins that s fits into, among the spans that have been placed and meet it; behind them,
// if there is none.
func gap(spans []span, offsets, placed []int, s span) int {
	best, room, end := -1, 0, 0
	for _, p := range placed {
		if !spans[p].meets(s) {
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
