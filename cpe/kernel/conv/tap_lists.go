package conv

// tap is one term of a result: the kernel offset, or for the weights the position of the output, and the place in the image.
type tap struct{ a, b int32 }

// tapLists are the terms of every result, one list behind the other.
type tapLists struct {
	taps   []tap
	starts []int32 // of the list of result i; one more than there are results, and a spare one
}

// results is the number of lists.
func (l *tapLists) results() int { return len(l.starts) - 2 }

// of returns the terms of a result.
func (l *tapLists) of(result int) []tap { return l.taps[l.starts[result]:l.starts[result+1]] }

// between returns the terms of the results first <= r < last.
func (l *tapLists) between(first, last int) []tap { return l.taps[l.starts[first]:l.starts[last]] }
