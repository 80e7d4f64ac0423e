package predict

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// Class is a class of a classifier with the net's output for it.
type Class struct {
	Class int
	Label string
	Score float32
}

// Classifies returns an error unless the net has one output, which holds the scores of classes, and its input holds images.
func (m *Model) Classifies() error {
	if _, err := m.imageShape(); err != nil {
		return err
	}
	switch {
	case len(m.outputs) != 1:
		return fmt.Errorf("%s has %d outputs, a classifier has one", m.opt.Net, len(m.outputs))
	case m.detector != "":
		return fmt.Errorf("%s is no classifier: its output %q holds the boxes of objects", m.opt.Net, m.detector)
	}
	return nil
}

// classes returns the number of classes of a classifier.
func (m *Model) classes() int { return blob.CountOf(m.outputs[0].Shape...) / m.inputs[0].Shape[0] }

// Classify returns for each item the classes with the largest outputs, the largest first; of equal ones that with the lower number. NaN is less than
// any number. More items than Model.Batch are run in several batches. Classify ends with an error soon after ctx ends.
func (s *Session) Classify(ctx context.Context, top int, items ...*Item) ([][]Class, error) {
	if err := s.model.Classifies(); err != nil {
		return nil, err
	}
	if top < 1 {
		return nil, fmt.Errorf("top %d: at least one class is needed", top)
	}
	all := make([][]Class, 0, len(items))
	err := s.runItems(ctx, items, func(p *plan, items []*Item) error {
		out := p.outputs[0]
		if out.Blob.Count()%len(items) != 0 {
			return fmt.Errorf("%s: output %q is %s for %d images; a classifier has as many values for each", s.model.opt.Net, out.Name, out.Blob.ShapeString(), len(items))
		}
		n := out.Blob.Count() / len(items)
		for i := range items {
			all = append(all, s.model.Largest(out.Blob.Data()[i*n:][:n], top))
		}
		return nil
	})
	return all, err
}

// Largest returns the n classes with the largest scores, the largest first; of equal ones that with the lower number. scores is one item's output.
func (m *Model) Largest(scores []float32, n int) []Class {
	places := make([]int, len(scores))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	best := make([]Class, min(n, len(places)))
	for i, k := range places[:len(best)] {
		best[i] = Class{k, m.className(k), scores[k]}
	}
	return best
}

func (m *Model) className(class int) string {
	if class < len(m.names) {
		return m.names[class]
	}
	return fmt.Sprintf("class %d", class)
}

// runItems runs the net on items, batch by batch, and calls done after each with its items.
func (s *Session) runItems(ctx context.Context, items []*Item, done func(p *plan, items []*Item) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if s.model.noPrepare != nil {
		return s.model.noPrepare
	}
	if len(items) == 0 {
		return fmt.Errorf("there are no items: a run needs at least one")
	}
	size := s.model.itemSize()
	for i, it := range items {
		if it == nil || len(it.Values) != size {
			n := 0
			if it != nil {
				n = len(it.Values)
			}
			return fmt.Errorf("item %d has %d values, the net's input %q takes %d", i, n, s.model.inputs[0].Name, size)
		}
	}
	for batch := range slices.Chunk(items, s.model.opt.Batch) {
		p, err := s.planFor(len(batch))
		if err != nil {
			return err
		}
		for i, it := range batch {
			copy(p.inputs[0].Data()[i*size:], it.Values)
		}
		if err := p.forward(ctx); err != nil {
			return err
		}
		if err := done(p, batch); err != nil {
			return err
		}
	}
	return nil
}
