package nets

import (
	"math"
	"math/rand/v2"

	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// normalised models the rounding errors of a normalisation, BatchNorm with its batch's statistics or MVN:
//
//	y = (x - mean(x)) / d,   dx = (dy - mean(dy) - y*mean(dy*y)) / d,
//
// with means over the values of a group. The errors are proportional to the subtracted terms, not to the difference, and are
// divided by d. For a group of one value, y and dx are 0, and their errors are those of x and dy times 1/sqrt(eps). A nil
// normalised adds no errors.
type normalised struct {
	dims [3]int    // outer, groups, inner
	y    []float64 // by value
	d    []float64 // by group, like size
	size []float64 // the root mean square of x
}

// newNormalised computes the normalisation of layer i from its bottom; nil if the layer is none.
func newNormalised(n *swnet.Net, i int, phase caffepb.Phase) *normalised {
	s, deviation := &normalised{}, func(variance float64) float64 { return 1 }
	switch p := n.LayerParam(i); n.LayerType(i) {
	case "BatchNorm":
		b, bn := n.Bottoms(i)[0], p.GetBatchNormParam()
		stored := phase == caffepb.Phase_TEST
		if bn != nil && bn.UseGlobalStats != nil {
			stored = bn.GetUseGlobalStats()
		}
		if stored {
			return nil
		}
		s.dims = [3]int{b.Legacy(0), b.Legacy(1), b.Count() / (b.Legacy(0) * b.Legacy(1))}
		deviation = func(variance float64) float64 { return math.Sqrt(variance + float64(bn.GetEps())) }
	case "MVN":
		b, mvn := n.Bottoms(i)[0], p.GetMvnParam()
		groups := b.Legacy(0)
		if !mvn.GetAcrossChannels() {
			groups *= b.Legacy(1)
		}
		s.dims = [3]int{1, groups, b.Count() / groups}
		if mvn.GetNormalizeVariance() {
			deviation = func(variance float64) float64 { return math.Sqrt(variance) + float64(mvn.GetEps()) }
		}
	default:
		return nil
	}
	s.compute(n.Bottoms(i)[0].Data(), deviation)
	return s
}

func (s *normalised) compute(x []float32, deviation func(variance float64) float64) {
	mean := s.means(len(x), func(k int) float64 { return float64(x[k]) })
	variance := s.means(len(x), func(k int) float64 { d := float64(x[k]) - mean[s.group(k)]; return d * d })
	s.y, s.d, s.size = make([]float64, len(x)), make([]float64, len(mean)), make([]float64, len(mean))
	for m, v := range variance {
		s.d[m], s.size[m] = deviation(v), math.Sqrt(v+mean[m]*mean[m])
	}
	for k, v := range x {
		s.y[k] = (float64(v) - mean[s.group(k)]) / s.d[s.group(k)]
	}
}

// group returns the group of value k.
func (s *normalised) group(k int) int { return k / s.dims[2] % s.dims[1] }

// means returns the mean of f over the values of each group.
func (s *normalised) means(n int, f func(k int) float64) []float64 {
	list := make([]float64, s.dims[1])
	for k := range n {
		list[s.group(k)] += f(k)
	}
	for m := range list {
		list[m] /= float64(s.dims[0] * s.dims[2])
	}
	return list
}

// draws returns a random number for each group.
func (s *normalised) draws(r *rand.Rand) []float64 {
	list := make([]float64, s.dims[1])
	for m := range list {
		list[m] = r.NormFloat64()
	}
	return list
}

// addTo adds rounding errors to results: one of the mean, common to a group, and one of each difference.
func (s *normalised) addTo(y []float32, r *rand.Rand) {
	if s == nil {
		return
	}
	shift := s.draws(r)
	for k := range y {
		m := s.group(k)
		y[k] += float32(ulps * s.size[m] / s.d[m] * (shift[m] + r.NormFloat64()))
	}
}

// addToGradient adds rounding errors to gradients: those of both means, common to a group, and one of each sum.
func (s *normalised) addToGradient(dx, dy []float32, r *rand.Rand) {
	if s == nil {
		return
	}
	squares := s.means(len(dy), func(k int) float64 { return float64(dy[k]) * float64(dy[k]) })
	shift, slope := s.draws(r), s.draws(r)
	for k := range dx {
		m, y := s.group(k), s.y[k]
		size := ulps * math.Sqrt(squares[m]) / s.d[m]
		dx[k] += float32(size * (shift[m] + slope[m]*y + (1+math.Abs(y))*r.NormFloat64()))
	}
}
