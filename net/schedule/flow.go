package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// gradientFlow checks which gradients may share one place. It simulates Backward with numbers for gradients: every gradient that a layer
// computes is a new number, and a sum of gradients is the sum of their numbers. A layer that reads a wrong number would read a wrong
// gradient.
type gradientFlow struct {
	*gradientPlaces
	place int
	want  map[*blob.Blob]uint64 // the number of each blob's gradient if no storage were shared
	have  uint64                // the number stored at the place
	count uint64
}

// here reports whether a blob's gradient is at the place under test.
func (f *gradientFlow) here(b *blob.Blob) bool { return f.of[b] == f.place }

// backward simulates a task's Backward. It reports whether the task reads the same numbers as without sharing.
func (f *gradientFlow) backward(d *Node, t *Task) bool {
	for k := range d.Loss {
		if d.starts(k) {
			f.write(d.Tops[k], f.number())
		}
	}
	if t.traits.Grads.Sums && f.of[t.Tops[0]] == f.of[t.Bottoms[0]] {
		return f.sum(t)
	}
	for _, top := range t.Tops {
		if f.here(top) && f.have != f.want[top] {
			return false
		}
	}
	passed := f.number()
	for j, b := range t.Bottoms {
		passes, number := t.traits.Grads.Passes.Has(j), passed
		if !passes {
			number = f.number()
		}
		switch {
		case !t.Propagate[j] || !f.here(b):
		case !passes && f.overwrites(t, b):
			return false
		case f.adding[t]:
			f.want[b] = number
			f.have += number
		default:
			f.write(b, number)
		}
	}
	return true
}

// sum simulates a task whose bottom's gradient is the sum of its tops', which the tops' readers have already added up.
func (f *gradientFlow) sum(t *Task) bool {
	var sum uint64
	for _, top := range t.Tops {
		sum += f.want[top]
	}
	f.want[t.Bottoms[0]] = sum
	return !f.here(t.Bottoms[0]) || f.have == sum
}

// overwrites reports whether a task writes a bottom's gradient over a top's gradient that it still reads. This is correct only if the layer
// runs in place or its traits permit it.
func (f *gradientFlow) overwrites(t *Task, bottom *blob.Blob) bool {
	adds := f.adding[t]
	replaces := t.traits.Grads.Replaces && !adds
	return slices.ContainsFunc(t.Tops, func(top *blob.Blob) bool {
		return f.of[top] == f.of[bottom] && (adds || !replaces && !top.SharesDiff(bottom))
	})
}

func (f *gradientFlow) write(b *blob.Blob, value uint64) {
	if f.here(b) {
		f.want[b], f.have = value, value
	}
}

// number returns a new number of the generator splitmix64 (Steele, Lea and Flood 2014). Sums of few such numbers are not equal by chance.
func (f *gradientFlow) number() uint64 {
	f.count += 0x9e3779b97f4a7c15
	z := (f.count ^ f.count>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
