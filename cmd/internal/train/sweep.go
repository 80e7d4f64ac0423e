package train

import (
	"math"
	"slices"
)

// sweep is the losses of a training whose rate grows from iteration to iteration by a factor.
type sweep struct {
	rates, losses []float64
	smoothed      []float64 // moving means of the losses
	mean          float64   // the exponential moving mean, with a start of 0
	lowest        float64   // of smoothed
}

const (
	sweepMemory   = 0.9   // the weight of earlier losses in a moving mean
	sweepLag      = 9     // mean age of the losses in a moving mean, sweepMemory/(1-sweepMemory)
	sweepDiverges = 4     // times the lowest smoothed loss
	sweepWindow   = 0.1   // share of the iterations in which a slope is measured
	leastWindow   = 5     // iterations
	sweepFalls    = 0.001 // share of the first loss by which it must fall within a window
)

// add adds an iteration and reports whether the loss has diverged: it is not finite, or the smoothed one is several times its lowest value. An
// iteration whose loss is not finite is left out.
func (s *sweep) add(rate, loss float64) (diverged bool) {
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return true
	}
	s.rates, s.losses = append(s.rates, rate), append(s.losses, loss)
	s.mean = sweepMemory*s.mean + (1-sweepMemory)*loss
	smoothed := s.mean / (1 - math.Pow(sweepMemory, float64(len(s.losses)))) // without the start of 0
	s.smoothed = append(s.smoothed, smoothed)
	if len(s.smoothed) == 1 || smoothed < s.lowest {
		s.lowest = smoothed
	}
	return s.lowest > 0 && smoothed > sweepDiverges*s.lowest
}

// best returns the index of the lowest smoothed loss. It leaves out the first window, whose means are of a few losses only.
func (s *sweep) best() int {
	at := min(s.window(), len(s.smoothed)-1)
	for i := at; i < len(s.smoothed); i++ {
		if s.smoothed[i] < s.smoothed[at] {
			at = i
		}
	}
	return at
}

// window returns the number of iterations in which a slope is measured.
func (s *sweep) window() int { return max(leastWindow, int(sweepWindow*float64(len(s.smoothed)))) }

// top returns a loss above the smoothed ones until the lowest, for a plot that shows how they fall and not how they diverge.
func (s *sweep) top() float64 {
	best := s.best()
	return s.smoothed[best] + 1.5*(slices.Max(s.smoothed[:best+1])-s.smoothed[best])
}

// steepest returns the index at which the smoothed loss falls fastest with the logarithm of the rate, before its lowest value. Each slope is
// that of a line of least squares through a window of iterations; the delay of moving means is taken off. Windows whose first means are of
// fewer losses than the delay say more of those than of the rate and are left out. It is not ok if the loss falls nowhere, but for rounding.
func (s *sweep) steepest() (at int, ok bool) {
	half := s.window() / 2
	fastest := -sweepFalls * math.Abs(s.smoothed[0]) / float64(2*half)
	for i := sweepLag + half; i+half < len(s.smoothed) && i <= s.best(); i++ {
		if slope := slope(s.smoothed[i-half : i+half+1]); slope < fastest {
			fastest, at, ok = slope, i, true
		}
	}
	if !ok {
		return 0, false
	}
	return at - sweepLag, true
}

// slope returns the slope of the line of least squares through values at equal distances of 1.
func slope(y []float64) float64 {
	middle := float64(len(y)-1) / 2
	var xy, xx float64
	for i, v := range y {
		x := float64(i) - middle
		xy += x * v
		xx += x * x
	}
	return xy / xx
}
