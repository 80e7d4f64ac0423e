package schedule

import (
	"maps"
	"slices"
)

// span is a piece of storage that is needed from one step of a net's run to another, both included.
type span struct{ size, first, last int }

// meets reports whether there is a step at which both are needed.
func (s span) meets(o span) bool { return s.first <= o.last && o.first <= s.last }

// packTries and packWork bound how often pack tries, and how many pairs of spans it looks at for that.
const packTries, packWork = 256, 1 << 24

// pack gives every span a place in one stretch of memory, so that no two that meet overlap, and returns where each begins
// and how long the stretch is. It takes the spans by time, those that are needed longest first, and puts each into the smallest gap
// that the ones it meets leave, as "greedy by size" does with the largest first (Pisarchyk and Lee 2020, Efficient memory
// management for deep neural net inference). As long as the stretch is longer than what some step needs, it tries again,
// with those spans first that made it so long.
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
	offsets, total = inOrder(spans, order)
	now, end := offsets, total
	for range min(packTries, packWork/max(1, len(order)*len(order))) {
		if total == least {
			break
		}
		order = endingFirst(spans, now, order, end)
		if now, end = inOrder(spans, order); end < total {
			offsets, total = now, end
		}
	}
	return offsets, total
}

// peak is the most that spans take at any step, below which no plan can stay.
func peak(spans []span) int {
	change := map[int]int{} // of what is taken, by step
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

// endingFirst moves the spans that reach the end to the front of the order.
func endingFirst(spans []span, offsets, order []int, end int) []int {
	var last, others []int
	for _, i := range order {
		if offsets[i]+spans[i].size == end {
			last = append(last, i)
		} else {
			others = append(others, i)
		}
	}
	return append(last, others...)
}

// inOrder gives the spans places, one after the other.
func inOrder(spans []span, order []int) (offsets []int, total int) {
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
