package mesh

// tap is one term of a result: a is the kernel offset or, for the weight gradient, the output position; b is the position in the source.
type tap struct{ a, b int32 }

// tapLists stores the terms of all results, one list behind the other.
type tapLists struct {
	taps   []tap
	starts []int32 // start of each result's list; the end of the last list; one spare entry
}

// results returns the number of lists.
func (l *tapLists) results() int { return len(l.starts) - 2 }

// of returns the terms of a result.
func (l *tapLists) of(result int) []tap { return l.taps[l.starts[result]:l.starts[result+1]] }

// between returns the terms of results [first, last).
func (l *tapLists) between(first, last int) []tap { return l.taps[l.starts[first]:l.starts[last]] }
