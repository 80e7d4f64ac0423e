package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Partials are arrays of one length that core groups fill side by side. AddTo adds them in a fixed order, so that the bits of the sum do not
// depend on which core group was first. A nil Partials has no arrays.
type Partials struct {
	arrays [][]float32 // nil arrays where no values are moved
	add    *Copy
}

// NewPartials makes count arrays of n values.
func NewPartials(m *cpe.Machine, count, n int) (*Partials, error) {
	p := &Partials{arrays: make([][]float32, count)}
	for i := range p.arrays {
		if m.Values() {
			p.arrays[i] = pages.Make[float32](n)
		}
	}
	var err error
	p.add, err = NewCopy(m, CopyShape{Outer: 1, Rows: 1, Cols: n, Add: true})
	return p, err
}

// Count is the number of arrays.
func (p *Partials) Count() int {
	if p == nil {
		return 0
	}
	return len(p.arrays)
}

// Of returns array i.
func (p *Partials) Of(i int) []float32 { return p.arrays[i] }

// AddTo adds all arrays to dst.
func (p *Partials) AddTo(dst []float32) error {
	for i := range p.Count() {
		if err := p.add.Run(dst, p.arrays[i]); err != nil {
			return err
		}
	}
	return nil
}
