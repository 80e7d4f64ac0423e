package common

import (
	"math"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// margin returns psi(c) of SphereFace for the cosine c of an angle, and its derivative. psi is the cosine of m times the angle, m being 1 to 4,
// continued so that it falls over all angles from 0 to 180 degrees.
func margin(typ caffepb.MarginInnerProductParameter_MarginType, c float64) (psi, slope float64) {
	side := sign(c)
	switch typ {
	case caffepb.MarginInnerProductParameter_DOUBLE:
		return 2*side*c*c - 1, 4 * side * c
	case caffepb.MarginInnerProductParameter_TRIPLE:
		outer := sign(math.Abs(c) - 0.5)
		return outer*(4*c*c*c-3*c) + side*(1+outer) - 2, outer * (12*c*c - 3)
	case caffepb.MarginInnerProductParameter_QUADRUPLE:
		s := side * sign(2*c*c-1)
		return s*(8*c*c*c*c-8*c*c+1) + 2*side + s - 3, s * (32*c*c*c - 16*c)
	}
	return c, 1
}

// sign is 0 for 0.
func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
