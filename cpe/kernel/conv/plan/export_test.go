package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Chosen is the algorithm of a direction.
func (c *Conv) Chosen(d shape.Direction) *conv.Algorithm { return c.does[d].Algorithm }

// PoolsBands reports whether the convolution can pool bands.
func (c *Conv) PoolsBands() bool {
	_, few := c.poolsBands()
	return few
}

// Choose is the name of the algorithm that is chosen for a problem.
func Choose(p *conv.Problem, f op.Force) (string, error) {
	found, err := choose(p, f)
	if err != nil {
		return "", err
	}
	return found.Algorithm.Name, nil
}

// List is the list of algorithms.
func List() []*conv.Algorithm { return algorithms.Algorithms }
