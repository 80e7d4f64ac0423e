// Package rank finds the best of many scores without sorting all of them.
package rank

import (
	"math"
	"slices"
)

// Key stands for a score and the index of what has it. Keys ascend from the highest score to the lowest, NaN last; those of equal scores, as 0 and -0, ascend by
// index. They are compared as integers.
type Key uint64

// KeyOf returns the key of a score. The index must be less than 1<<32.
func KeyOf(score float32, index int) Key {
	u := math.Float32bits(score + 0) // -0 becomes 0
	switch {
	case score != score:
		u = math.MaxUint32
	case score >= 0:
		u ^= math.MaxInt32 // of positive numbers, the largest has the largest bits
	}
	return Key(u)<<32 | Key(index)
}

// Index returns the index of a key.
func (k Key) Index() int { return int(uint32(k)) }

// First moves the n keys that come first to the front of list, in their order, and returns them; all of them if there are fewer.
func First(list []Key, n int) []Key {
	n = min(n, len(list))
	if divide(list, n) {
		slices.Sort(list[:n])
	} else {
		slices.Sort(list)
	}
	return list[:n]
}

// divide moves the n keys that come first to the front of list. It is Hoare's quickselect, with pivots from a sample, as Floyd and Rivest choose them, so that few keys are
// left. It gives up, and returns false, where pivots are so bad that it has looked at as many keys as eight passes have.
func divide(list []Key, n int) bool {
	for budget := 8 * len(list); n > 0 && n < len(list); budget -= len(list) {
		if budget < 0 {
			return false
		}
		p := pivot(list, n)
		before := front(list, p)
		if before == 0 { // none comes before the pivot
			before = front(list, p+1)
		}
		if n <= before {
			list = list[:before]
		} else {
			list, n = list[before:], n-before
		}
	}
	return true
}

// samples is the number of keys of a sample.
const samples = 64

// pivot returns a key that is probably a little behind the n that come first, or before the last of them where they are the larger part: the smaller part is left. Of a short list it
// is the key in the middle.
func pivot(list []Key, n int) Key {
	if len(list) < 8*samples {
		return list[len(list)/2]
	}
	var sample [samples]Key
	for i := range sample {
		sample[i] = list[i*(len(list)/samples)]
	}
	slices.Sort(sample[:])
	place := n * samples / len(list)
	if 2*n <= len(list) {
		return sample[min(place+3, samples-1)]
	}
	return sample[max(place-3, 0)]
}

// front moves the keys less than a limit to the front of list, and returns their number.
func front(list []Key, limit Key) (n int) {
	for i, k := range list {
		if k < limit {
			list[n], list[i] = k, list[n]
			n++
		}
	}
	return n
}
