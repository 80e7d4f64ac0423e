package detect

import (
	"cmp"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers"
)

// objectList is the objects of a batch, image by image in the order of the rows. With byLabel, an image's objects are ordered by label.
type objectList struct {
	classes, background     int
	agnostic, easy, byLabel bool // all objects have one class; difficult ones are left out; the order

	list   []object
	images []int // of the objects
}

// read reads the rows. Rows of image -1 are padding.
func (o *objectList) read(rows []float32, images int) error {
	o.list, o.images = o.list[:0], o.images[:0]
	for r := 0; r < len(rows)/objectValues; r++ {
		row := rows[r*objectValues:][:objectValues]
		image := int(row[0])
		if row[0] == -1 {
			continue
		}
		if float32(image) != row[0] || image < 0 || image >= images {
			return layers.WrongValue("object %d is of image %g, but there are %d images", r, row[0], images)
		}
		if !finite(row) {
			return layers.WrongValue("object %d has a value that is not finite: %v", r, row)
		}
		ob := object{Box: box.Of(row[3:]), label: o.background + 1, difficult: row[7] != 0}
		if !o.agnostic {
			label, err := labelOf(row[1], "object", r, o.classes, o.background)
			if err != nil {
				return err
			}
			ob.label = label
		}
		if o.easy && ob.difficult {
			continue
		}
		o.insert(ob, image)
	}
	return nil
}

// insert inserts an object behind those that precede it. Rows come in order as a rule, so that it stands at the end.
func (o *objectList) insert(ob object, image int) {
	at := len(o.list)
	for at > 0 && (o.images[at-1] > image || o.byLabel && o.images[at-1] == image && o.list[at-1].label > ob.label) {
		at--
	}
	o.list, o.images = slices.Insert(o.list, at, ob), slices.Insert(o.images, at, image)
}

// groups visits runs of objects that are matched together: those of an image or, with byLabel, those of an image and a label.
func (o *objectList) groups(visit func(image, first, n int)) {
	for first := 0; first < len(o.list); {
		end := first + 1
		for end < len(o.list) && o.images[end] == o.images[first] && !(o.byLabel && o.list[end].label != o.list[first].label) {
			end++
		}
		visit(o.images[first], first, end-first)
		first = end
	}
}

// boxList is the boxes that objects are matched with: the priors, or the predicted boxes of each image, with codes boxes for a prior.
type boxList struct {
	values    []float32
	codes     int
	predicted bool
}

// piece returns n boxes from the first on, for an object of an image and a label.
func (b boxList) piece(image, label, priors, first, n int) stream.Piece {
	if !b.predicted {
		return stream.Rect(b.values, 4*first, n, 4, 4)
	}
	if b.codes == 1 {
		label = 0
	}
	return stream.Rect(b.values, 4*((image*priors+first)*b.codes+label), n, 4*b.codes, 4)
}

// pair is a prior and its object.
type pair struct{ image, prior, object int }

// matching finds the pairs.
type matching struct {
	m box.Matcher
	predictions
	rows     int        // of objects, with the padding
	overlaps *blob.Blob // of each object and each box of its image
	out      []float32  // its values
	kernel   *stream.Units
	cut      int // boxes of a tile
	objects  *objectList
	boxes    boxList

	pairs   []pair
	partner []int     // of the boxes of a group: indices of objects in the group
	best    []float32 // the largest overlaps
}

func (m *matching) reshape(b *layers.Base, p predictions, rows int) error {
	if m.predictions == p && m.rows == rows {
		return nil
	}
	m.predictions, m.rows = p, rows
	if err := b.Device.CheckShape("the overlaps", []int{rows, p.priors}); err != nil {
		return err
	}
	m.overlaps.Reshape(rows, p.priors)
	m.partner, m.best = make([]int, p.priors), make([]float32, p.priors)
	if b.MPE() {
		return nil
	}
	machine := b.Device.Machine
	m.cut = max(1, min(p.priors, stream.UnitLimit(machine)/5, 1024))
	m.kernel = stream.NewUnits(machine, "MultiBoxLoss overlaps", rows*tiles(p.priors, m.cut), rows*p.priors, m.tile)
	return nil
}

// tile computes the overlaps of an object with a tile of boxes. Units beyond the number of objects are of padding.
func (m *matching) tile(w *stream.UnitWorker, unit int) {
	across := tiles(m.priors, m.cut)
	row, first := unit/across, unit%across*m.cut
	n := min(m.cut, m.priors-first)
	var ob object
	image, known := 0, w.Values() && row < len(m.objects.list)
	if known {
		ob, image = m.objects.list[row], m.objects.images[row]
	}
	boxes, stride := w.Load(m.boxes.piece(image, ob.label, m.priors, first, n))
	out, _ := w.Place(stream.Span(m.out, row*m.priors+first, n))
	w.Cost(16*n, 0)
	for i := range n {
		switch {
		case known:
			out[i] = box.Overlap(box.Of(boxes[i*stride:]), ob.Box)
		case w.Values():
			out[i] = 0
		}
	}
}

// overlap computes the overlaps of all objects and the boxes.
func (m *matching) overlap(objects *objectList, boxes boxList) error {
	m.objects, m.boxes, m.out = objects, boxes, m.overlaps.Data()
	if m.kernel != nil {
		return m.kernel.Run()
	}
	for k, ob := range objects.list {
		p := boxes.piece(objects.images[k], ob.label, m.priors, 0, m.priors)
		for i := range m.priors {
			m.out[k*m.priors+i] = box.Overlap(box.Of(p.Array[p.At+i*p.Stride:]), ob.Box)
		}
	}
	return nil
}

// pair finds the pairs, and sets the label of every prior before mining: its object's, or the background's.
func (l *multiBoxLoss) pair(prior []float32, boxes boxList) {
	labels := l.conf.labels.Data()
	l.conf.begin(l.mine.reset(l.p, l.images))
	l.match.pairs = l.match.pairs[:0]
	l.objects.groups(func(image, first, n int) {
		m := &l.match
		var skip func(i int) bool
		if l.p.GetIgnoreCrossBoundaryBbox() {
			skip = func(i int) bool {
				p := boxes.piece(image, l.objects.list[first].label, l.priors, i, 1)
				return box.Of(p.Array[p.At:]).Leaves()
			}
		}
		m.m.Match(m.partner, m.best, m.out[first*l.priors:(first+n)*l.priors], n, skip)
		for i, j := range m.partner {
			if j >= 0 {
				m.pairs = append(m.pairs, pair{image, i, first + j})
				labels[image*l.priors+i] = float32(l.objects.list[first+j].label)
			}
		}
		l.mine.note(image, m.partner, m.best)
	})
}

// byLoss orders examples from the largest loss on.
func byLoss(a, b example) int {
	if c := cmp.Compare(b.loss, a.loss); c != 0 {
		return c
	}
	return cmp.Compare(a.prior, b.prior)
}
