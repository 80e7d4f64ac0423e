package detect

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers/part"
)

// cellKernels are the passes of a yoloLoss over all predictions. A unit is an anchor of an image in a tile of cells.
type cellKernels struct {
	units, cut   int           // cells of a tile
	empty, total *stream.Units // nil on the MPE path
	sums         []float32     // of squared errors, by unit
}

func (k *cellKernels) prepare(l *yoloLoss) {
	channels, cells := 5+l.classes, l.size[0]*l.size[1]
	m, name := l.Device.Machine, l.Param.GetType()
	k.cut = max(1, min(cells, 256))
	if !l.MPE() {
		k.cut = max(1, min(k.cut, (stream.UnitLimit(m)-5*l.slots)/(5+2*channels)))
	}
	k.units = l.images * len(l.anchors) * tiles(cells, k.cut)
	k.sums = make([]float32, k.units)
	if !l.MPE() {
		k.empty = stream.NewUnits(m, name+" cells", k.units, l.errors.Count(), l.emptyUnit)
		k.total = stream.NewUnits(m, name+" sum", k.units, l.errors.Count(), l.totalUnit)
	}
}

// run runs a kernel, or on the MPE path calls do for each unit.
func (k *cellKernels) run(kernel *stream.Units, do func(unit int)) error {
	if kernel != nil {
		return kernel.Run()
	}
	for unit := range k.units {
		do(unit)
	}
	return nil
}

// sum returns the sum of squared errors.
func (k *cellKernels) sum() (sum float64) {
	for _, s := range k.sums {
		sum += float64(s)
	}
	return sum
}

// tile returns the plane, image and anchor together, of a unit, its first cell and the number of its cells.
func (l *yoloLoss) tile(unit int) (plane, first, n int) {
	cells := l.size[0] * l.size[1]
	across := tiles(cells, l.cells.cut)
	plane, first = unit/across, unit%across*l.cells.cut
	return plane, first, min(l.cells.cut, cells-first)
}

// at returns the index of channel 0 of a plane's cell, and the distance to the next channel.
func (l *yoloLoss) at(plane, cell int) (index, stride int) {
	cells := l.size[0] * l.size[1]
	return plane*(5+l.classes)*cells + cell, cells
}

func (l *yoloLoss) emptyUnit(w *stream.UnitWorker, unit int) {
	plane, first, n := l.tile(unit)
	at, stride := l.at(plane, first)
	x, xs := w.Load(stream.Rect(l.x, at, 5, stride, n))
	w.Load(stream.Span(l.truth, plane/len(l.anchors)*5*l.slots, 5*l.slots))
	e, es := w.Place(stream.Rect(l.e, at, 5+l.classes, stride, n))
	if w.Cost(n*(20+16*l.slots), 5*n); w.Values() {
		for i := range n {
			l.emptyCell(e[i:], es, x[i:], xs, plane, first+i)
		}
	}
}

func (l *yoloLoss) emptyTile(unit int) {
	plane, first, n := l.tile(unit)
	for i := range n {
		at, stride := l.at(plane, first+i)
		l.emptyCell(l.e[at:], stride, l.x[at:], stride, plane, first+i)
	}
}

// emptyCell writes the errors e of a prediction x without object.
func (l *yoloLoss) emptyCell(e []float32, es int, x []float32, xs, plane, cell int) {
	for c := range 5 + l.classes {
		e[c*es] = 0
	}
	anchor := plane % len(l.anchors)
	cx, cy, width, height := l.box(x, xs, anchor, cell)
	if best := l.overlap(plane/len(l.anchors), corners(cx, cy, width, height)); !(best > l.thresh) {
		e[4*es] = float32(l.noobject * l.objectError(float64(x[4*xs]), 0))
	}
	if !l.warm {
		return
	}
	h, w := float64(l.size[0]), float64(l.size[1])
	middle := truth{x: (float64(cell%l.size[1]) + 0.5) / w, y: (float64(cell/l.size[1]) + 0.5) / h, width: l.anchors[anchor][0] / w, height: l.anchors[anchor][1] / h}
	l.boxErrors(e, es, x, xs, anchor, cell, middle, 0.01)
}

// overlap returns the largest overlap of a box with the objects of an image.
func (l *yoloLoss) overlap(image int, b box.Box) (best float32) {
	for _, t := range l.truths[l.starts[image]:l.starts[image+1]] {
		best = max(best, box.Overlap(b, t.box()))
	}
	return best
}

// objectError is the error of a prediction of an object, whose logit is x.
func (l *yoloLoss) objectError(x, target float64) float64 {
	p := part.Logistic(x)
	if l.region != nil {
		return (p - target) * p * (1 - p)
	}
	return p - target
}

func (l *yoloLoss) totalUnit(w *stream.UnitWorker, unit int) {
	plane, first, n := l.tile(unit)
	at, stride := l.at(plane, first)
	channels, specials := 5+l.classes, 0
	x, xs := []float32(nil), 0
	if l.logistic {
		x, xs = w.Load(stream.Rect(l.x, at, channels, stride, n))
		specials = n * channels
	}
	e, es := w.Update(stream.Rect(l.e, at, channels, stride, n))
	sum, _ := w.Place(stream.Span(l.cells.sums, unit, 1))
	if w.Cost(2*n*channels, specials); w.Values() {
		sum[0] = l.total(e, es, x, xs, n)
	}
}

func (l *yoloLoss) totalTile(unit int) {
	plane, first, n := l.tile(unit)
	at, stride := l.at(plane, first)
	l.cells.sums[unit] = l.total(l.e[at:], stride, l.x[at:], stride, n)
}

// total returns the sum of n cells' squared errors. With use_logic_gradient it then multiplies errors of probabilities by the sigmoid's
// derivative.
func (l *yoloLoss) total(e []float32, es int, x []float32, xs, n int) float32 {
	var sum float64
	for c := range 5 + l.classes {
		for i, v := range e[c*es:][:n] {
			sum += float64(v) * float64(v)
			if l.logistic && c != 2 && c != 3 && v != 0 {
				p := part.Logistic(float64(x[c*xs+i]))
				e[c*es+i] = float32(float64(v) * p * (1 - p))
			}
		}
	}
	return float32(sum)
}
