package data

import (
	"math"
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// Examination is what was found in the items of a source: those that cannot be read, and those whose image is damaged and read all the same.
type Examination struct {
	Items    uint64 // of the source; 0: not known
	Read     int    // items that were looked at
	Unread   int
	Repaired int
	// The first of them, MostNamed of each kind. An image of which several items are made is named once.
	Faults  []error
	Damaged []Damage
}

// Damage is what is wrong with an image that is read as far as it goes.
type Damage struct{ Name, Text string }

// MostNamed is the number of faulty items that are named.
const MostNamed = 100

// Examine decodes and transforms items as training does: all if most is negative, else at most so many, spread evenly over the source. told, which may be nil, hears
// how many of how many are done. An error is one of the source itself. The stream's position stays.
func (p *Prefetcher) Examine(most int, told func(done, of int)) (*Examination, error) {
	p.halt()
	source, items, err := p.examined(most)
	if err != nil {
		return nil, err
	}
	x := &Examination{Items: items}
	number, of := most, items
	switch {
	case items == 0: // the first ones, since nobody knows where the last one is
		of = uint64(most)
	case most < 0 || items < uint64(most):
		number = int(items)
	}
	seen := map[string]bool{}
	group := make([]Record, 4*p.Workers)
	for done := 0; done < number; done += len(group) {
		part := group[:min(len(group), number-done)]
		for i := range part {
			item := uint64(float64(done+i) * float64(of) / float64(number))
			if err := source.Seek(item); err != nil {
				return x, err
			}
			part[i].Repaired, part[i].Item = "", item
			if err := source.Next(&part[i]); err != nil {
				return x, err
			}
		}
		for i, err := range p.tryAll(part) {
			x.note(&part[i], err, seen)
		}
		if told != nil {
			told(done+len(part), number)
		}
	}
	return x, nil
}

// examined returns the source to examine, and the number of its items. A database that must be counted and has far more items than are asked for has 0.
func (p *Prefetcher) examined(most int) (Source, uint64, error) {
	if s, ok := p.Source.(interface{ each() Source }); ok {
		windows := s.each()
		return windows, sizeOf(windows), nil
	}
	limit := uint64(math.MaxUint64)
	if most >= 0 {
		limit = 10 * uint64(max(1, most))
	}
	items, err := p.Items(limit)
	return p.Source, items, err
}

// tryAll decodes and transforms items, and returns their errors.
func (p *Prefetcher) tryAll(records []Record) []error {
	errs := make([]error, len(records))
	var all sync.WaitGroup
	for i := range records {
		all.Go(func() {
			if err := p.try(&records[i]); err != nil {
				errs[i] = itemError(&records[i], records[i].Item, err)
			}
		})
	}
	all.Wait()
	return errs
}

// try decodes and transforms an item.
func (p *Prefetcher) try(r *Record) (err error) {
	defer relay.CatchError(&err)
	pixels, _, err := p.Decoder.Decode(r, new(Scratch))
	if err != nil {
		return err
	}
	shape := [3]int(p.shape[1:])
	if p.BatchSize == 1 { // each batch has a shape of its own
		if shape, err = p.Transformer.Shape(pixels); err != nil {
			return err
		}
	}
	values := make([]float32, shape[0]*shape[1]*shape[2])
	if err := p.Transformer.Transform(values, shape, pixels, p.Seed, r.Item); err != nil {
		return err
	}
	pixels.Recycle()
	return nil
}

// note enters an item.
func (x *Examination) note(r *Record, err error, seen map[string]bool) {
	x.Read++
	switch {
	case err != nil:
		if x.Unread++; len(x.Faults) < MostNamed {
			x.Faults = append(x.Faults, err)
		}
	case r.Repaired != "" && !seen[r.title()]:
		seen[r.title()] = true
		if x.Repaired++; len(x.Damaged) < MostNamed {
			x.Damaged = append(x.Damaged, Damage{r.title(), r.Repaired})
		}
	}
}
