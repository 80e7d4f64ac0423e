package quantise

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
)

// Methods are the names of ways to choose the range of a layer's inputs.
var Methods = []string{"max", "percentile", "entropy", "mse"}

// histogram counts values in bins of one width, as many on both sides of 0. When a value is beyond them, neighbouring bins are joined.
type histogram struct {
	counts     [2 * halfBins]float64
	width      float64 // of a bin, a power of two; 0 before the first value that is not 0
	zeros      float64 // values that are 0, or not finite
	least, top float64 // the least and the largest value
}

const halfBins = 4096

// add counts values.
func (h *histogram) add(values []float32) {
	for _, v := range values {
		x := float64(v)
		if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			h.zeros++
			continue
		}
		h.least, h.top = min(h.least, x), max(h.top, x)
		for h.width == 0 || math.Abs(x) >= h.width*halfBins {
			h.widen(math.Abs(x))
		}
		h.counts[int(math.Floor(x/h.width))+halfBins]++
	}
}

// widen makes bins twice as wide, or wide enough for a first value.
func (h *histogram) widen(first float64) {
	if h.width == 0 {
		h.width = math.Exp2(math.Ceil(math.Log2(first/halfBins)) + 1)
		return
	}
	old := h.counts
	h.counts = [2 * halfBins]float64{}
	for i, n := range old {
		h.counts[(i-halfBins)>>1+halfBins] += n
	}
	h.width *= 2
}

// each calls f for the middles of the bins that have values.
func (h *histogram) each(f func(x, n float64)) {
	for i, n := range h.counts {
		if n > 0 {
			f((float64(i-halfBins)+0.5)*h.width, n)
		}
	}
}

// Input is how a layer's inputs are rounded.
type Input struct {
	Scale float32
	Zero  uint32
}

// covering returns the Input for a range, which it extends to 0. Its zero point is 0 if no value is negative.
func covering(lo, hi float64) Input {
	lo, hi = min(lo, 0), max(hi, 0)
	scale := float32((hi - lo) / quant.MostInput)
	if !(scale > 0x1p-60 && scale < 0x1p60) { // no values but 0
		return Input{Scale: 1}
	}
	return Input{scale, uint32(max(0, min(quant.MostInput, math.RoundToEven(-lo/float64(scale)))))}
}

// choose returns the Input that a method chooses. percentile is the share of values, in percent, inside the range of method percentile.
func (h *histogram) choose(method string, percentile float64) (Input, error) {
	switch method {
	case "max":
		return covering(h.least, h.top), nil
	case "percentile":
		return covering(h.between(percentile)), nil
	case "mse":
		return h.search(h.squaredError), nil
	case "entropy":
		return h.search(h.divergence), nil
	}
	return Input{}, fmt.Errorf("unknown method %q", method)
}

// between returns the range of a share of the values, in percent, of which as many lie below as above.
func (h *histogram) between(percent float64) (lo, hi float64) {
	all := h.zeros
	h.each(func(_, n float64) { all += n })
	out := (1 - percent/100) * all
	if h.least < 0 {
		out /= 2
	}
	return h.tail(out, -1), h.tail(out, 1)
}

// tail returns the value beyond which, in a direction, lie some values.
func (h *histogram) tail(out float64, direction int) float64 {
	sum := 0.0
	for i := range h.counts {
		at := i
		if direction > 0 {
			at = len(h.counts) - 1 - i
		}
		if sum += h.counts[at]; sum > out {
			edge := float64(at-halfBins) * h.width
			if direction > 0 {
				edge += h.width
			}
			return max(h.least, min(h.top, edge))
		}
	}
	return 0
}

// search tries ranges between a tenth of the whole one and the whole one, each end by itself, and returns the Input with the least error.
func (h *histogram) search(cost func(Input) float64) Input {
	const steps = 45
	best := covering(h.least, h.top)
	least := cost(best)
	ends := [2]float64{h.least, h.top}
	for range 2 { // the second time with the other end's best
		for side := range ends {
			whole := [2]float64{h.least, h.top}[side]
			for k := range steps {
				try := ends
				try[side] = whole * (1 - 0.02*float64(k))
				in := covering(try[0], try[1])
				if c := cost(in); c < least {
					best, least, ends = in, c, try
				}
			}
		}
	}
	return best
}

// squaredError is the sum of the squared errors of rounding.
func (h *histogram) squaredError(in Input) (sum float64) {
	scale, zero := float64(in.Scale), float64(in.Zero)
	h.each(func(x, n float64) {
		q := max(-zero, min(quant.MostInput-zero, math.RoundToEven(x/scale)))
		sum += n * (x - q*scale) * (x - q*scale)
	})
	return sum
}

// divergence is the information that is lost by rounding: the Kullback-Leibler divergence of the values' distribution, in which those beyond the range
// count at its ends, from the one where the values of a step are spread evenly over the step's bins that have values. The ends are the outermost steps that have values within the range: of
// pixels and of few values, many steps have none. Without any it is infinite.
func (h *histogram) divergence(in Input) float64 {
	var steps [quant.MostInput + 1]struct{ values, bins float64 }
	scale, zero := float64(in.Scale), float64(in.Zero)
	at := func(x float64) int { return int(max(-1, min(quant.MostInput+1, math.RoundToEven(x/scale)+zero))) } // -1, or 256: beyond the range
	first, last := -1, -1
	var below, above, all float64
	h.each(func(x, n float64) {
		all += n
		switch i := at(x); {
		case i < 0:
			below += n
		case i > quant.MostInput:
			above += n
		default:
			if first < 0 {
				first = i
			}
			last = i
			steps[i].values += n
			steps[i].bins++
		}
	})
	if first < 0 {
		return math.Inf(1)
	}
	sum, kept := 0.0, all-below-above
	h.each(func(x, n float64) {
		i := at(x)
		if i < 0 || i > quant.MostInput {
			return
		}
		s := steps[i]
		if i == first {
			n += below / s.bins
		}
		if i == last {
			n += above / s.bins
		}
		sum += n / all * math.Log(n/all/(s.values/s.bins/kept))
	})
	return sum
}

// WeightScales returns the scales of the weights of output channels: the largest absolute weight of each / 127. Weights of a channel lie side by side.
func WeightScales(w []float32, channels int) []float32 {
	scales, row := make([]float32, channels), len(w)/max(1, channels)
	for o := range scales {
		least, most := slices.Min(w[o*row:(o+1)*row]), slices.Max(w[o*row:(o+1)*row])
		scales[o] = quant.ScaleOf(max(most, -least))
	}
	return scales
}
