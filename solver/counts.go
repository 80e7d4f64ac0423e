package solver

import "github.com/swcaffe/swcaffe/proto/caffepb"

// checkCounts returns an error for each counting field with an invalid value.
func checkCounts(p *caffepb.SolverParameter) (found []error) {
	for _, c := range []struct {
		field        string
		value, least int32
	}{
		{"max_iter", p.GetMaxIter(), 0},
		{"iter_size", p.GetIterSize(), 1},
		{"average_loss", p.GetAverageLoss(), 1},
		{"display", p.GetDisplay(), 0},
		{"snapshot", p.GetSnapshot(), 0},
	} {
		if c.value < c.least {
			found = append(found, wrong(c.field, "%s must be at least %d, it is %d", c.field, c.least, c.value))
		}
	}
	for i, n := range p.TestIter {
		if n < 0 {
			found = append(found, wrong("test_iter", "test_iter %d must be at least 0, it is %d", i, n))
		}
	}
	return found
}
