package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// gradientFlow simulates Backward for the gradients of one place. A gradient is a number, and every gradient that a layer computes is a new
// one; sums of gradients are sums of numbers. So it shows whether a layer finds the gradient that it should.
type gradientFlow struct {
	*gradientPlaces
	place int
	want  map[*blob.Blob]uint64 // each blob's gradient, if all stood apart
	have  uint64                // what stands at the place
	count uint64
}

// here reports whether a blob's gradient has the place that is followed.
func (f *gradientFlow) here(b *blob.Blob) bool { return f.of[b] == f.place }

// backward has a task read and write, and reports whether it reads what it would read if all gradients stood apart.
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

// sum is backward of a task whose bottom's gradient is the sum of its tops', which its readers have added up.
func (f *gradientFlow) sum(t *Task) bool {
	var sum uint64
	for _, top := range t.Tops {
		sum += f.want[top]
	}
	f.want[t.Bottoms[0]] = sum
	return !f.here(t.Bottoms[0]) || f.have == sum
}

// overwrites reports whether a task writes the gradient of a bottom where that of a top stands, which it is still reading then. That is sound
// if the layer runs in place, or says that it can.
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

// number returns another number, of which no small sums are equal by chance: one of splitmix64's (Steele, Lea and Flood 2014).
func (f *gradientFlow) number() uint64 {
	f.count += 0x9e3779b97f4a7c15
	z := (f.count ^ f.count>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
