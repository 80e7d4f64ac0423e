package op

import "fmt"

// FirstReason returns the first reason that is not nil, or nil.
func FirstReason(reasons ...error) error {
	for _, r := range reasons {
		if r != nil {
			return r
		}
	}
	return nil
}

// Unless returns nil if a condition holds, else the reason as an error. Few of the reasons for which algorithms refuse problems are ever
// printed, so that the error's text is formatted when it is asked for.
func Unless(holds bool, reason string, values ...any) error {
	if holds {
		return nil
	}
	return &refusal{reason, values}
}

// refusal is an error whose text is formatted late. The values must not change.
type refusal struct {
	format string
	values []any
}

func (r *refusal) Error() string { return fmt.Sprintf(r.format, r.values...) }

// OnHost refuses problems for modelled machines.
func OnHost[S Shape](p *Problem[S]) error {
	return Unless(p.Native(), "it runs only on this computer, not on modelled machines")
}

// OnModel refuses problems for the host.
func OnModel[S Shape](p *Problem[S]) error {
	return Unless(!p.Native(), "it runs only on the mesh of a modelled machine")
}
