package modeltime

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// Worth is what leaving one mechanism out changes in the time of an iteration, with all others present.
type Worth struct {
	Mechanism   string  `json:"mechanism"`
	Doc         string  `json:"doc"`
	IterationMs float64 `json:"iteration_ms"`
	// IterationRange is the range of IterationMs.
	IterationRange trust.Range `json:"iteration_ms_range,omitzero"`
	ChangeMs       float64     `json:"change_ms"` // to the machine with all mechanisms
	Change         float64     `json:"change"`    // in relation to it
	Unexpected     string      `json:"unexpected,omitempty"`
}

// leastChange is the relative change from which on a direction is unexpected.
const leastChange = 1e-4

// WorthOf models an iteration on the machine of the options without each of some mechanisms, one at a time. The options' machine must have
// them all.
func WorthOf(file *swproto.Net, o Options, names []string) ([]Worth, error) {
	bare := o.Bare
	o.Bare, o.Mode, o.Mesh, o.Built, o.Done = true, cpe.CostOnly, nil, nil, nil
	whole, err := Run(file, o)
	if err != nil {
		return nil, err
	}
	before := whole.Total.IterationMs
	var list []Worth
	for _, name := range names {
		m, err := cpe.FindMechanism(name)
		if err != nil {
			return nil, err
		}
		one := o
		one.Bare = bare
		if one.Spec, err = o.Spec.Without(name); err != nil {
			return nil, err
		}
		r, err := Run(file, one)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", name, err)
		}
		w := Worth{Mechanism: name, Doc: m.Doc, IterationMs: r.Total.IterationMs, IterationRange: r.Total.IterationRange, ChangeMs: r.Total.IterationMs - before}
		w.Change = w.ChangeMs / before
		if w.Change > leastChange && !m.Helps || w.Change < -leastChange && m.Helps {
			w.Unexpected = m.Against
			if m.Against == "" {
				w.Unexpected = "no reason is known"
			}
		}
		list = append(list, w)
	}
	return list, nil
}
