package loss

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// ctcForm is the form in which a CTC loss gets its sequences: the bottoms after the scores.
type ctcForm interface {
	// check returns the largest number of labels of an item.
	check(l *ctcLoss, items int, bottom []*blob.Blob) (labels int, err error)
	// read sets the paths of all items.
	read(l *ctcLoss, bottom []*blob.Blob) error
}

// setForm chooses the form by type and number of bottoms, and reads the parameters. CtcLoss names the numbers of classes and time steps; the
// others have them from the scores.
func (l *ctcLoss) setForm(bottoms int) error {
	p, typ := l.Param.GetCtcLossParam(), l.Param.GetType()
	if typ == "CtcLoss" {
		if p != nil && p.BlankIndex != nil {
			return fmt.Errorf("blank_index is for CTCLoss and WarpCTCLoss; CtcLoss has blank_label")
		}
		l.form, l.classes, l.steps, l.blank = ctcRows{}, int(p.GetAlphabetSize()), int(p.GetTimeStep()), int(p.GetBlankLabel())
		if l.classes < 1 || l.steps < 1 {
			return fmt.Errorf("alphabet_size and time_step must be positive, they are %d and %d", l.classes, l.steps)
		}
		return l.checkBlank("blank_label")
	}
	switch {
	case p != nil && (p.AlphabetSize != nil || p.TimeStep != nil || p.BlankLabel != nil):
		return fmt.Errorf("alphabet_size, time_step and blank_label are for CtcLoss; %s has blank_index", typ)
	case p.GetOutputDelay() != 0:
		return fmt.Errorf("output_delay %d is not supported, only 0 is", p.GetOutputDelay())
	case !p.GetCtcMergeRepeated():
		return fmt.Errorf("ctc_merge_repeated: false is not supported")
	}
	collapse := p.GetPreprocessCollapseRepeated()
	switch l.blank = int(p.GetBlankIndex()); {
	case typ == "CTCLoss":
		l.form = ctcMarked{collapse: collapse, ends: true}
	case bottoms == 2:
		l.form = ctcRows{}
	case bottoms == 3:
		l.form = ctcMarked{collapse: collapse}
	default:
		l.form = ctcCounted{}
	}
	if typ == "WarpCTCLoss" && l.blank < 0 {
		l.blank = 0
	}
	return nil
}

// setClasses checks the shape of the scores, or takes classes and time steps from it.
func (l *ctcLoss) setClasses(x *blob.Blob) error {
	if l.Param.GetType() == "CtcLoss" {
		if x.NumAxes() < 3 || x.Dim(0) != l.steps || x.CountFrom(2) != l.classes {
			return fmt.Errorf("bottom[0] must have scores of time_step %d x items x alphabet_size %d, its shape is %s", l.steps, l.classes, x.ShapeString())
		}
		return nil
	}
	if x.NumAxes() < 3 || x.Dim(0) < 1 || x.Dim(2) < 1 || x.CountFrom(3) != 1 {
		return fmt.Errorf("bottom[0] must have scores of time steps x items x classes, its shape is %s", x.ShapeString())
	}
	l.steps, l.classes = x.Dim(0), x.Dim(2)
	if l.Param.GetCtcLossParam().GetBlankIndex() < 0 && l.Param.GetType() == "CTCLoss" {
		l.blank = l.classes - 1
	}
	return l.checkBlank("blank_index")
}

func (l *ctcLoss) checkBlank(name string) error {
	if l.blank < 0 || l.blank >= l.classes {
		return fmt.Errorf("%s must be one of the %d classes, it is %d", name, l.classes, l.blank)
	}
	return nil
}

// label checks a label of an item.
func (l *ctcLoss) label(v float32, item int) error {
	if !(v >= 0 && v < float32(l.classes)) {
		return layers.WrongValue("label %g of item %d is out of range: there are %d classes (0 to %d)", v, item, l.classes, l.classes-1)
	}
	return nil
}

// ctcRows is the form of CtcLoss and of a WarpCTCLoss with two bottoms: a row of labels for each item, which the blank fills up. All time steps
// belong to the sequence.
type ctcRows struct{}

func (ctcRows) check(_ *ctcLoss, items int, bottom []*blob.Blob) (int, error) {
	labels := bottom[0]
	if labels.NumAxes() < 2 || labels.Dim(0) != items {
		return 0, fmt.Errorf("bottom[1] must have rows of labels for each of %d items, its shape is %s", items, labels.ShapeString())
	}
	return labels.CountFrom(1), nil
}

func (ctcRows) read(l *ctcLoss, bottom []*blob.Blob) error {
	labels := bottom[0].Data()
	for i, v := range labels {
		if err := l.label(v, i/l.length); err != nil {
			return err
		}
	}
	for n := range l.paths {
		l.paths[n].read(labels[n*l.length:][:l.length], l.blank, l.steps)
	}
	return nil
}

// ctcMarked is the form with three bottoms. Bottom 1 has marks of time steps x items; a 0 after the first step ends the item's sequence before
// that step. Bottom 2 has labels of places x items; a negative one ends them.
type ctcMarked struct {
	collapse bool // repeated labels count once
	ends     bool // labels of the last class, or beyond it, end the labels too: CTCLoss
}

func (ctcMarked) check(l *ctcLoss, items int, bottom []*blob.Blob) (int, error) {
	marks, labels := bottom[0], bottom[1]
	if marks.NumAxes() < 2 || marks.Dim(0) != l.steps || marks.Dim(1) != items || marks.CountFrom(2) != 1 {
		return 0, fmt.Errorf("bottom[1] must have a mark for each of %d time steps and %d items, its shape is %s", l.steps, items, marks.ShapeString())
	}
	return placesOf(2, items, labels)
}

// placesOf returns the places of labels of places x items, which are bottom i.
func placesOf(i, items int, labels *blob.Blob) (int, error) {
	if labels.NumAxes() < 2 || labels.Dim(1) != items || labels.CountFrom(2) != 1 {
		return 0, fmt.Errorf("bottom[%d] must have labels of places x %d items, its shape is %s", i, items, labels.ShapeString())
	}
	return labels.Dim(0), nil
}

func (f ctcMarked) read(l *ctcLoss, bottom []*blob.Blob) error {
	marks, labels := bottom[0].Data(), bottom[1].Data()
	for n := range l.paths {
		steps, places := l.steps, 0
		for t := 1; t < steps; t++ {
			if marks[t*l.items+n] < 0.5 {
				steps = t
			}
		}
		for places < l.length && !(labels[places*l.items+n] < 0) {
			places++
		}
		if places > steps {
			return layers.WrongValue("item %d has %d labels, but only %d time steps", n, places, steps)
		}
		if f.ends && places == 0 {
			return layers.WrongValue("item %d has no labels", n)
		}
		if err := f.labels(l, n, places, steps, labels); err != nil {
			return err
		}
	}
	return nil
}

// labels sets the labels of item n. In a WarpCTCLoss whose blank is class 0, label 0 is class 1, and so on.
func (f ctcMarked) labels(l *ctcLoss, n, places, steps int, labels []float32) error {
	p := &l.paths[n]
	p.begin(l.blank, steps)
	ended, shift := false, 0
	if !f.ends && l.blank == 0 {
		shift = 1
	}
	for i := range places {
		v := labels[i*l.items+n]
		if f.collapse && i > 0 && v == labels[(i-1)*l.items+n] {
			continue
		}
		class := l.classes
		if v < float32(l.classes) {
			class = int(v+0.5) + shift
		}
		switch {
		case f.ends && class >= l.classes-1 && v == v:
			ended = true
			continue
		case ended:
			return layers.WrongValue("label %g of item %d follows a label of the last class, %d, which ends the labels", v, n, l.classes-1)
		case class >= l.classes:
			return layers.WrongValue("label %g of item %d is out of range: there are %d classes, of which %d is the blank", v, n, l.classes, l.blank)
		case class == l.blank:
			return layers.WrongValue("label %g of item %d is the blank", v, n)
		}
		p.add(class)
	}
	return nil
}

// ctcCounted is the form with four bottoms: the numbers of time steps and of labels of each item, and labels of places x items.
type ctcCounted struct{}

func (ctcCounted) check(_ *ctcLoss, items int, bottom []*blob.Blob) (int, error) {
	for i, b := range bottom[:2] {
		if b.Count() != items {
			return 0, fmt.Errorf("bottom[%d] must have a number for each of %d items, its shape is %s", i+1, items, b.ShapeString())
		}
	}
	return placesOf(3, items, bottom[2])
}

func (ctcCounted) read(l *ctcLoss, bottom []*blob.Blob) error {
	labels := bottom[2].Data()
	for n := range l.paths {
		steps, places := bottom[0].Data()[n], bottom[1].Data()[n]
		if !(steps >= 0 && steps < float32(l.steps+1) && places >= 0 && places < float32(l.length+1)) {
			return layers.WrongValue("item %d has %g time steps and %g labels: the bottoms have %d and %d", n, steps, places, l.steps, l.length)
		}
		p := &l.paths[n]
		p.begin(l.blank, int(steps))
		for i := range int(places) {
			v := labels[i*l.items+n]
			if err := l.label(v, n); err != nil {
				return err
			}
			if int(v) == l.blank {
				return layers.WrongValue("label %g of item %d is the blank", v, n)
			}
			p.add(int(v))
		}
	}
	return nil
}
