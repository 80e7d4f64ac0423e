package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Partials are arrays of one length that core groups fill side by side. AddTo adds them in a fixed order, so that the bits of the sum do not
// depend on which core group was first. A nil Partials has no arrays.
//
// Open must precede the first use of the arrays. It allocates them, so that a kernel that is planned but never run takes no memory for them.
type Partials struct {
	machine *cpe.Machine
	arrays  [][]float32 // nil arrays where no values are moved
	size    int         // values in an array
	add     *Copy
}

// NewPartials plans count arrays of n values.
func NewPartials(m *cpe.Machine, count, n int) (*Partials, error) {
	if m.Values() {
		pages.Demand(float64(count) * float64(n))
	}
	add, err := NewCopy(m, CopyShape{Outer: 1, Rows: 1, Cols: n, Add: true})
	return &Partials{machine: m, arrays: make([][]float32, count), size: n, add: add}, err
}

// Open allocates the arrays, if this has not been done.
func (p *Partials) Open() {
	if p.Count() == 0 || p.arrays[0] != nil || !p.machine.Values() {
		return
	}
	for i := range p.arrays {
		p.arrays[i] = make([]float32, p.size)
	}
}

// Count returns the number of arrays.
func (p *Partials) Count() int {
	if p == nil {
		return 0
	}
	return len(p.arrays)
}

// Of returns array i.
func (p *Partials) Of(i int) []float32 { return p.arrays[i] }

// AddTo adds all arrays to dst, the first one first.
func (p *Partials) AddTo(dst []float32) error {
	for i := range p.Count() {
		if err := p.add.Run(dst, p.arrays[i]); err != nil {
			return err
		}
	}
	return nil
}
