// Package rank finds the first elements of an order without sorting all of them.
package rank

import (
	"math/bits"
	"slices"
)

// First moves the n elements that come first to the front of list, in their order, and returns them; all of them if there are fewer. compare is that of
// slices.SortFunc. Elements that compare as equal may change places.
func First[E any](list []E, n int, compare func(a, b E) int) []E {
	if n < len(list) {
		divide(list, n, compare)
		list = list[:n]
	}
	slices.SortFunc(list, compare)
	return list
}

// divide moves the n elements that come first to the front of list. It is Hoare's quickselect, with pivots a little behind place n of a sample, as Floyd and
// Rivest choose them, so that few elements are left and processors can guess comparisons. A list whose pivots are bad time and again is sorted.
func divide[E any](list []E, n int, compare func(a, b E) int) {
	for tries := 2 * bits.Len(uint(len(list))); n > 0 && n < len(list); tries-- {
		if tries == 0 {
			slices.SortFunc(list, compare)
			return
		}
		p := pivot(list, n, compare)
		before := front(list, func(e E) bool { return compare(e, p) < 0 })
		if before == 0 { // what equals the pivot comes first
			before = front(list, func(e E) bool { return compare(e, p) == 0 })
			if n <= before {
				return
			}
		}
		if n <= before {
			list = list[:before]
		} else {
			list, n = list[before:], n-before
		}
	}
}

// samples is the number of elements of a sample.
const samples = 64

// pivot returns an element that is probably a little behind the n that come first; of a short list the one in the middle.
func pivot[E any](list []E, n int, compare func(a, b E) int) E {
	if len(list) < 8*samples {
		return list[len(list)/2]
	}
	var sample [samples]E
	for i := range sample {
		sample[i] = list[i*(len(list)/samples)]
	}
	slices.SortFunc(sample[:], compare)
	return sample[min(samples-1, n*samples/len(list)+3)]
}

// front moves the elements of which is is true to the front of list, and returns their number.
func front[E any](list []E, is func(e E) bool) (n int) {
	for i, e := range list {
		if is(e) {
			list[n], list[i] = e, list[n]
			n++
		}
	}
	return n
}
