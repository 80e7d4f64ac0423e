package norm

import "math"

// Channels implements layers.Map.
func (l *batchNorm) Channels() int { return l.normaliser.dims[1] }

// Compose implements layers.Map for stored statistics.
func (l *batchNorm) Compose(factor, shift []float64) {
	count := l.storedFactor()
	means, variances := l.Weights[0].Values(), l.Weights[1].Values()
	for c := range factor {
		scale := 1 / math.Sqrt(count*float64(variances[c])+l.eps)
		factor[c], shift[c] = scale*factor[c], scale*(shift[c]-count*float64(means[c]))
	}
}

// isMap reports whether the layer's statistics are constants.
func (l *batchNorm) isMap() bool { return l.global && l.Blockable() }

// Channels implements layers.Map.
func (l *affine) Channels() int { return l.dims[1] }

// Compose implements layers.Map.
func (l *affine) Compose(factor, shift []float64) {
	s, b := l.operands(nil)
	for c := range factor {
		if s != nil {
			factor[c], shift[c] = factor[c]*float64(s[c]), shift[c]*float64(s[c])
		}
		if b != nil {
			shift[c] += float64(b[c])
		}
	}
}

// isMap reports whether the operands are weights with a value for each channel.
func (l *affine) isMap() bool { return !l.fromBottom && l.byChannel && l.Blockable() }

// Channels implements layers.Map.
func (l *bn) Channels() int { return l.normaliser.dims[1] }

// Compose implements layers.Map for fixed statistics.
func (l *bn) Compose(factor, shift []float64) {
	slope, bias := l.Weights[l.at.slope].Values(), l.Weights[l.at.bias].Values()
	for c := range factor {
		mean, scale := 0.0, 1.0
		if l.averages {
			part := l.part()
			mean, scale = part*float64(l.Weights[l.at.mean].Values()[c]), 1/math.Sqrt(part*float64(l.Weights[l.at.variance].Values()[c])+l.eps)
		}
		scale *= float64(slope[c])
		factor[c], shift[c] = scale*factor[c], scale*(shift[c]-mean)+float64(bias[c])
	}
}

// isMap reports whether the layer's statistics are constants.
func (l *bn) isMap() bool { return l.fixed && l.Blockable() }
