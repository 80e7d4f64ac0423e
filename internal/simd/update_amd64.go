package simd

// update calls the kernel of a rule; n is a multiple of the width.
func (l *level) update(r Rule, weights, gradients, h0, h1 *float32, n int, step *float32) {
	if l.width == 16 {
		updateAVX512(r, weights, gradients, h0, h1, n, step)
		return
	}
	updateAVX2(r, weights, gradients, h0, h1, n, step)
}

func updateAVX512(r Rule, weights, gradients, h0, h1 *float32, n int, step *float32) {
	switch r {
	case SGD:
		sgdAVX512(weights, gradients, h0, h1, n, step)
	case Nesterov:
		nesterovAVX512(weights, gradients, h0, h1, n, step)
	case AdaGrad:
		adaGradAVX512(weights, gradients, h0, h1, n, step)
	case RMSProp:
		rmsPropAVX512(weights, gradients, h0, h1, n, step)
	case AdaDelta:
		adaDeltaAVX512(weights, gradients, h0, h1, n, step)
	case Adam:
		adamAVX512(weights, gradients, h0, h1, n, step)
	}
}

func updateAVX2(r Rule, weights, gradients, h0, h1 *float32, n int, step *float32) {
	switch r {
	case SGD:
		sgdAVX2(weights, gradients, h0, h1, n, step)
	case Nesterov:
		nesterovAVX2(weights, gradients, h0, h1, n, step)
	case AdaGrad:
		adaGradAVX2(weights, gradients, h0, h1, n, step)
	case RMSProp:
		rmsPropAVX2(weights, gradients, h0, h1, n, step)
	case AdaDelta:
		adaDeltaAVX2(weights, gradients, h0, h1, n, step)
	case Adam:
		adamAVX2(weights, gradients, h0, h1, n, step)
	}
}
