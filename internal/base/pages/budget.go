package pages

import (
	"fmt"
	"math"
)

// Budget adds up what a program will allocate, before it does, so that too much is an error at the start and no end by the system hours later. What it
// holds is a lower bound: values that are certainly written.
type Budget struct {
	// Parts is the number of equal parts of the program that share its memory, as workers; 0 means one.
	Parts int

	needs float64
}

// Take adds values. It returns an OverBudget if all together fit into no memory that the process can get.
func (b *Budget) Take(values float64) error {
	b.needs += 4 * values * float64(max(1, b.Parts))
	if b.needs > min(Memory(), most) {
		return &OverBudget{b.needs, b.Parts}
	}
	return nil
}

// Doubt returns a warning if the values would fit, but not into what is free now; "" otherwise.
func (b *Budget) Doubt() string {
	free := Available()
	if b.needs <= free {
		return ""
	}
	return fmt.Sprintf("%s of memory are needed%s, and only %s are free now: the system may end the process", size(b.needs), amongParts(b.Parts), size(free))
}

// OverBudget reports that all values together need more memory than there is.
type OverBudget struct {
	Bytes float64
	Parts int
}

func (e *OverBudget) Error() string {
	have, limited := memory()
	what := "this computer has"
	if limited {
		what = "this process may use"
	}
	return fmt.Sprintf("%s of memory are needed up to here, for weights, gradients, histories and batches%s; %s %s", size(e.Bytes), amongParts(e.Parts), what, size(have))
}

func amongParts(n int) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(" of %d workers", n)
}

// Available returns the bytes that the process can still get without ending another's: free memory and swap, and what limits leave; infinity if
// unknown.
func Available() float64 {
	free := available()
	if math.IsInf(free, 1) {
		return free
	}
	return min(free, Memory(), most)
}
