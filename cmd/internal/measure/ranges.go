package measure

import (
	"fmt"

	"github.com/swcaffe/swcaffe/modeltime/trust"
)

// aboutRanges says what the ranges behind modelled figures are, or why there are none.
func aboutRanges(machine string) string {
	if trust.Of(machine) == nil {
		return fmt.Sprintf("no ranges: no times of %s were published to compare its model with", machine)
	}
	return "(low-high): where the true figure probably lies, by the published curves of bandwidth and the errors of published times; rates follow from times"
}

// aboutMessages says what the ranges behind a cluster's figures are, or why there are none.
func aboutMessages(cluster string) string {
	if trust.Of(cluster) == nil {
		return aboutRanges(cluster)
	}
	return "(low-high): where the true figure probably lies, by the errors of published times; rates follow from times"
}

// aboutCosts says in which range the true times of -explain's costs probably lie, which are of the machine's own curve alone.
func aboutCosts(machine string) string {
	s := trust.Of(machine)
	explicit, known := s.Of(trust.Explicit)
	if !known {
		return aboutRanges(machine)
	}
	implicit, _ := s.Of(trust.Implicit)
	others, _ := s.Of(trust.Any)
	return fmt.Sprintf("true times probably lie between %.2f and %.2f of explicit costs, %.2f and %.2f of implicit ones, %.2f and %.2f of others, beside the spread of the curves of bandwidth",
		explicit.Low, explicit.High, implicit.Low, implicit.High, others.Low, others.High)
}

// widest returns the space that ranges need in a column, at least that for its heading; 0 if none is known.
func widest(space int, ranges ...trust.Range) int {
	for _, r := range ranges {
		if r.Known() {
			space = max(space, len(rangeHeading(1)), len(r.String()))
		}
	}
	return space
}

// rangeHeading heads ranges in a column with space for them.
func rangeHeading(space int) string {
	if space == 0 {
		return ""
	}
	return " (low-high)"
}
