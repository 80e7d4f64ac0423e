package solver

import "github.com/swcaffe/swcaffe/proto/caffepb"

// checkCounts returns an error for the first counting field with an invalid value.
func checkCounts(p *caffepb.SolverParameter) error {
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
			return wrong(c.field, "%s must be at least %d, it is %d", c.field, c.least, c.value)
		}
	}
	for i, n := range p.TestIter {
		if n < 0 {
			return wrong("test_iter", "test_iter %d must be at least 0, it is %d", i, n)
		}
	}
	return nil
}
