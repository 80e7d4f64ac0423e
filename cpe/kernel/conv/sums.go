package conv

import "github.com/swcaffe/swcaffe/internal/base/simd/vec"

// Sums is a fixed number of partial sums of a gradient in memory that all core groups share. The number depends on the shape alone, so that
// results have the same bits on any number of core groups. In one stage core groups compute whole parts; in the next they collect values. Sums
// that have the order of DW use stream.Partials instead.
type Sums struct{ Parts, Size int }

// Values is the number of values of all parts.
func (s Sums) Values() int { return s.Parts * s.Size }

// Of returns a part.
func (s Sums) Of(memory []float32, part int) []float32 { return memory[part*s.Size:][:s.Size] }

// Collect adds values [at, at+n) of all parts in their order, and returns the sums. They overwrite those of the first part.
func (s Sums) Collect(memory []float32, at, n int) []float32 {
	sums := memory[at:][:n]
	for part := 1; part < s.Parts; part++ {
		vec.Add(sums, sums, memory[part*s.Size+at:])
	}
	return sums
}
