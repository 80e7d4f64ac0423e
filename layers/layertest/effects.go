package layertest

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/layers"
)

// Repeats runs a case forward and backward twice, with the same bottoms and weights and without giving random numbers back. It returns why the
// second run's values differ from the first one's, or what weights a run has changed, or nil. declared is what the type says.
func Repeats(d *layers.Device, c *Case) (declared string, why error, err error) {
	f, err := New(d, c)
	if err != nil {
		return "", nil, err
	}
	declared = f.Type.Effect(f.Param)
	first, err := f.iterate()
	if err != nil {
		return declared, nil, err
	}
	var errs []error
	for i, w := range f.Layer.Params() {
		errs = append(errs, compare(fmt.Sprintf("weight %d after a run", i), w.Data(), f.weights[i], 0))
	}
	errs = append(errs, f.moved())
	f.random = d.Random.State()
	second, err := f.iterate()
	if err != nil {
		return declared, nil, err
	}
	return declared, errors.Join(append(errs, second.against(first, 0))...), nil
}

// moved returns what a run has left in the layer for the next one.
func (f *Fixture) moved() error {
	if p, ok := f.Layer.(layers.Positioner); ok && p.Position() > 0 {
		return fmt.Errorf("after a run the position in its data is %d", p.Position())
	}
	if s, ok := f.Layer.(layers.Stateful); ok && len(s.State()) > 0 {
		return errors.New("it has values for the next run")
	}
	return nil
}
