package detect

import (
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// truth is an object of a yoloLoss: its class, centre and sides.
type truth struct {
	image, class        int
	x, y, width, height float64
}

func (t truth) box() box.Box { return corners(t.x, t.y, t.width, t.height) }

// readTruths reads the objects of bottom 1. A list ends before an object of side 0.
func (l *yoloLoss) readTruths() error {
	l.truths, l.starts = l.truths[:0], append(l.starts[:0], 0)
	for image := range l.images {
		for k := range l.slots {
			row := l.truth[(image*l.slots+k)*5:][:5]
			if row[3] == 0 {
				break
			}
			t := truth{image, int(row[0]), float64(row[1]), float64(row[2]), float64(row[3]), float64(row[4])}
			switch {
			case float32(t.class) != row[0] || t.class < 0 || t.class >= l.classes:
				return layers.WrongValue("object %d of image %d has class %g, but there are %d classes (0 to %d)", k, image, row[0], l.classes, l.classes-1)
			case !(t.x >= 0 && t.x <= 1 && t.y >= 0 && t.y <= 1) || !(t.width > 0 && t.height > 0) || !finite(row):
				return layers.WrongValue("object %d of image %d has centre (%g, %g) and sides %g and %g: the centre must be in the image, sides positive", k, image, row[1], row[2], row[3], row[4])
			}
			l.truths = append(l.truths, t)
		}
		l.starts = append(l.starts, len(l.truths))
	}
	return nil
}

// placeTruths replaces the errors of the predictions to which objects belong. Of objects with the same prediction the last one counts; in
// version 3 all their classes count.
func (l *yoloLoss) placeTruths() {
	if l.errors.Count() == 0 {
		return
	}
	taken := l.taken[:0]
	for i, t := range l.truths {
		if i > 0 && l.truths[i-1].image != t.image {
			taken = taken[:0]
		}
		cell := min(int(t.y*float64(l.size[0])), l.size[0]-1)*l.size[1] + min(int(t.x*float64(l.size[1])), l.size[1]-1)
		anchor := l.place[l.match(t, cell)]
		if anchor < 0 {
			continue
		}
		at, stride := l.at(t.image*len(l.anchors)+anchor, cell)
		l.objectErrors(l.e[at:], l.x[at:], stride, anchor, cell, t, slices.Contains(taken, at))
		taken = append(taken, at)
	}
	l.taken = taken
}

// match returns the anchor, among those of all bottoms, whose shape overlaps an object's most; without bias_match that of the predicted shapes.
func (l *yoloLoss) match(t truth, cell int) (best int) {
	most := -1.0
	for i, a := range l.all {
		width, height := a[0]/(float64(l.size[1])*l.scale), a[1]/(float64(l.size[0])*l.scale)
		if l.region != nil && l.region.GetBiasMatch() == 0 {
			at, stride := l.at(t.image*len(l.anchors)+i, cell)
			_, _, width, height = l.box(l.x[at:], stride, i, cell)
		}
		both := min(width, t.width) * min(height, t.height)
		if o := both / (width*height + t.width*t.height - both); o > most {
			best, most = i, o
		}
	}
	return best
}

// objectErrors writes the errors of an object's prediction. again says that another object has the same prediction.
func (l *yoloLoss) objectErrors(e, x []float32, stride, anchor, cell int, t truth, again bool) {
	factor, target := l.side*(2-t.width*t.height), 1.0
	if l.region.GetRescore() != 0 && l.region != nil {
		factor, target = l.side, float64(box.Overlap(corners(l.box(x, stride, anchor, cell)), t.box()))
	}
	l.boxErrors(e, stride, x, stride, anchor, cell, t, factor)
	e[4*stride] = float32(l.object * l.objectError(float64(x[4*stride]), target))
	if l.region != nil {
		l.softmaxErrors(e, x, stride, t.class)
		return
	}
	for c := range l.classes {
		p := part.Logistic(float64(x[(5+c)*stride]))
		switch {
		case c == t.class:
			e[(5+c)*stride] = float32(l.class * (p - 1))
		case !again:
			e[(5+c)*stride] = float32(l.class * p)
		}
	}
}

// softmaxErrors writes the errors of classes of version 2.
func (l *yoloLoss) softmaxErrors(e, x []float32, stride, class int) {
	largest, sum := math.Inf(-1), 0.0
	for c := range l.classes {
		largest = max(largest, float64(x[(5+c)*stride]))
	}
	for c := range l.classes {
		sum += math.Exp(float64(x[(5+c)*stride]) - largest)
	}
	for c := range l.classes {
		p := math.Exp(float64(x[(5+c)*stride])-largest) / sum
		if c == class {
			p--
		}
		e[(5+c)*stride] = float32(l.class * p)
	}
}

// boxErrors writes the errors of a box, times a factor.
func (l *yoloLoss) boxErrors(e []float32, es int, x []float32, xs, anchor, cell int, t truth, factor float64) {
	h, w := float64(l.size[0]), float64(l.size[1])
	for k, target := range [2]float64{t.x*w - float64(cell%l.size[1]), t.y*h - float64(cell/l.size[1])} {
		p, slope := part.Logistic(float64(x[k*xs])), 1.0
		if l.region != nil {
			slope = p * (1 - p)
		}
		e[k*es] = float32(factor * (p - target) * slope)
	}
	a, units := l.anchors[anchor], l.scale
	for k, target := range [2]float64{math.Log(t.width * w * units / a[0]), math.Log(t.height * h * units / a[1])} {
		e[(2+k)*es] = float32(factor * (float64(x[(2+k)*xs]) - target))
	}
}
