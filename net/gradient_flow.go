package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// gradientFlow follows gradients of one place through Backward, as sums of numbers of which each that a layer computes is another.
type gradientFlow struct {
	*gradientPlaces
	place int
	want  map[*blob.Blob]uint64 // where all stand apart
	have  uint64
	count uint64
}

// here reports whether a blob's gradient has the place that is followed.
func (f *gradientFlow) here(b *blob.Blob) bool { return f.of[b] == f.place }

// backward has a node read and write, and reports whether it reads what it would read where all stand apart.
func (f *gradientFlow) backward(d *node) bool {
	t := d.task
	for k := range d.lossWeights {
		if d.startsGradient(k) {
			f.write(d.tops[k], f.number())
		}
	}
	if s, ok := t.Layer.(layers.GradSummer); ok && s.SumsGrads() && f.of[t.tops[0]] == f.of[t.bottoms[0]] {
		var sum uint64
		for _, top := range t.tops {
			sum += f.want[top]
		}
		f.want[t.bottoms[0]] = sum
		return !f.here(t.bottoms[0]) || f.have == sum
	}
	for _, top := range t.tops {
		if f.here(top) && f.have != f.want[top] {
			return false
		}
	}
	passed := f.number()
	for j, b := range t.bottoms {
		number := passed
		if !t.passes(j) {
			number = f.number()
		}
		switch {
		case !t.propagate[j] || !f.here(b):
		case !t.passes(j) && f.overwrites(d, b):
			return false
		case f.adding[d]:
			f.want[b] = number
			f.have += number
		default:
			f.write(b, number)
		}
	}
	return true
}

// overwrites reports whether a node writes the gradient of a bottom where that of a top stands, which it is still reading then. That is sound
// where the layer runs in place, or says that it can.
func (f *gradientFlow) overwrites(d *node, bottom *blob.Blob) bool {
	r, ok := d.task.Layer.(layers.GradReplacer)
	replaces := ok && r.ReplacesGrad() && !f.adding[d]
	return slices.ContainsFunc(d.task.tops, func(top *blob.Blob) bool {
		return f.of[top] == f.of[bottom] && (f.adding[d] || !replaces && !top.SharesDiff(bottom))
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
