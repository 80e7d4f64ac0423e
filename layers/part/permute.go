package part

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// Permuter permutes the axes of an array on either path: axis k of the result is axis order[k] of the source.
type Permuter struct {
	shape, order []int // of the source, as given
	levels       []permLevel
	count        int
	kernel       *stream.Units // nil on the MPE path
	dst, src     []float32
}

// permLevel is one loop over the result: n steps, and the distance of a step in the source and in the result.
type permLevel struct{ n, src, dst int }

// permTile is the largest number of values of a tile, in LDM and in a core's first cache; leastPermTile the smallest to which tiles are cut for the
// sake of idle CPEs.
const permTile, leastPermTile = 4096, 256

// Reshape prepares for a source of a shape.
func (p *Permuter) Reshape(b *layers.Base, shape, order []int) {
	if slices.Equal(p.shape, shape) && slices.Equal(p.order, order) {
		return
	}
	p.shape, p.order = append(p.shape[:0], shape...), append(p.order[:0], order...)
	p.merge()
	if !b.MPE() {
		p.prepare(b)
	}
}

// merge lists the loops over the result, outermost first. Axes that are neighbours in both arrays are one loop.
func (p *Permuter) merge() {
	p.levels, p.count = p.levels[:0], 1
	for _, n := range p.shape {
		p.count *= n
	}
	dst := p.count
	for k, axis := range p.order {
		n := p.shape[axis]
		src := 1
		for _, m := range p.shape[axis+1:] {
			src *= m
		}
		dst /= max(1, n)
		level := permLevel{n, src, dst}
		if last := len(p.levels) - 1; last >= 0 && p.order[k-1]+1 == axis {
			level.n *= p.levels[last].n
			p.levels = p.levels[:last]
		}
		p.levels = append(p.levels, level)
	}
	p.levels = slices.DeleteFunc(p.levels, func(l permLevel) bool { return l.n == 1 })
}

// prepare makes the kernel. Its tiles are rows that are contiguous in both arrays, or else matrices to transpose, whose rows are contiguous
// in the source and whose columns are contiguous in the result.
func (p *Permuter) prepare(b *layers.Base) {
	if p.count == 0 {
		p.kernel = stream.NewUnits(b.Device.Machine, "permute", 0, 0, nil)
		return
	}
	outer := slices.Clone(p.levels)
	take := func(is func(l permLevel) bool) permLevel {
		if i := slices.IndexFunc(outer, is); i >= 0 {
			level := outer[i]
			outer = slices.Delete(outer, i, i+1)
			return level
		}
		return permLevel{1, 1, 1}
	}
	cols := take(func(l permLevel) bool { return l.src == 1 })
	rows := permLevel{1, cols.n, cols.n}
	switch {
	case cols.dst > 1:
		rows = take(func(l permLevel) bool { return l.dst == 1 })
	case len(outer) > 0:
		rows, outer = outer[len(outer)-1], outer[:len(outer)-1]
	}
	limit := permTile
	if spec := b.Device.Machine.Spec(); spec.HasDMA() { // tiles for all CPEs
		limit = min(limit, max(leastPermTile, p.count/(spec.CPEs()*spec.CoreGroups)))
	}
	tr := min(rows.n, 64, limit)
	tc := min(cols.n, limit/tr)
	tr = min(rows.n, limit/tc)
	down, across := (rows.n+tr-1)/tr, (cols.n+tc-1)/tc
	units := down * across
	for _, l := range outer {
		units *= l.n
	}
	p.kernel = stream.NewUnits(b.Device.Machine, "permute", units, p.count, func(w *stream.UnitWorker, unit int) {
		j, i := unit%across*tc, unit/across%down*tr
		from, to := i*rows.src+j*cols.src, i*rows.dst+j*cols.dst
		rest := unit / across / down
		for k := len(outer) - 1; k >= 0; k-- {
			from, to = from+rest%outer[k].n*outer[k].src, to+rest%outer[k].n*outer[k].dst
			rest /= outer[k].n
		}
		nr, nc := min(tr, rows.n-i), min(tc, cols.n-j)
		src, lds := w.Load(stream.Rect(p.src, from, nr, rows.src, nc))
		w.Cost(nr*nc, 0)
		if cols.dst == 1 {
			if dst, ldd := w.Place(stream.Rect(p.dst, to, nr, rows.dst, nc)); w.Values() {
				vec.CopyRows(dst, ldd, src, lds, nr, nc)
			}
			return
		}
		if dst, ldd := w.Place(stream.Rect(p.dst, to, nc, cols.dst, nr)); w.Values() {
			vec.Transpose(dst, src, ldd, lds, nr, nc)
		}
	})
}

// Run permutes src into dst.
func (p *Permuter) Run(dst, src []float32) error {
	if p.kernel != nil {
		p.dst, p.src = dst, src
		return p.kernel.Run()
	}
	for i := range dst {
		at, rest := 0, i
		for k := len(p.levels) - 1; k >= 0; k-- {
			at += rest % p.levels[k].n * p.levels[k].src
			rest /= p.levels[k].n
		}
		dst[i] = src[at]
	}
	return nil
}
