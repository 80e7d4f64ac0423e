package trust

import (
	"fmt"
	"strconv"
)

// Range is where a true figure probably lies. The zero value is a range that is not known.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Rate returns the range of work / time for the range of a time.
func (r Range) Rate(work float64) Range {
	if r.Low <= 0 {
		return Range{}
	}
	return Range{work / r.High, work / r.Low}
}

// Known reports whether the range is known.
func (r Range) Known() bool { return r != Range{} }

// String prints the range behind a figure: " (11.0-14.1)". It is empty if the range is not known.
func (r Range) String() string {
	if !r.Known() {
		return ""
	}
	return fmt.Sprintf(" (%s-%s)", short(r.Low), short(r.High))
}

// short prints three significant digits, and all digits of larger integers.
func short(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.00995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
