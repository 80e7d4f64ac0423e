package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// Forward computes y = w * x + bias; bias, one value an output channel, may be nil.
func (c *Conv) Forward(x, w, bias, y []float32) error {
	return c.Run(shape.Forward, Arrays{X: x, W: w, Bias: bias, Y: y})
}

// Rectifies reports whether ForwardReLU can be called: results are written by kernels that can do that on the way.
func (c *Conv) Rectifies() bool { return c.Can(shape.Forward)&FloorResults != 0 }

// ForwardReLU computes y = max(0, w * x + bias), NaN staying NaN.
func (c *Conv) ForwardReLU(x, w, bias, y []float32) error {
	return c.Run(shape.Forward, Arrays{X: x, W: w, Bias: bias, Y: y, Floor: true})
}

// Finishes reports whether ForwardFinish can be called: results, in blocks of channels, are written once.
func (c *Conv) Finishes() bool { return c.tuner == nil && c.Can(shape.Forward)&FinishResults != 0 }

// ForwardFinish computes y = w * x + bias and finishes it.
func (c *Conv) ForwardFinish(x, w, bias, y []float32, finish Finish) error {
	return c.Run(shape.Forward, Arrays{X: x, W: w, Bias: bias, Y: y, Finish: finish})
}

// WeightGrad adds the gradient of the weights to dw.
func (c *Conv) WeightGrad(x, dy, dw []float32) error {
	return c.Run(shape.WeightGradient, Arrays{X: x, DW: dw, DY: dy, Add: true})
}

// SetsWeightGrad reports whether WeightGradTo can be called: sums go to the weights' gradient from kernels that need not read it.
func (c *Conv) SetsWeightGrad() bool { return c.Can(shape.WeightGradient)&SetWeights != 0 }

// SumsBias reports whether WeightGradTo can be called with biases.
func (c *Conv) SumsBias() bool { return c.Can(shape.WeightGradient)&SumBiases != 0 }

// WeightGradTo computes the gradient of the weights into dw, or adds it; and adds that of the biases, the sums of dy over images and
// positions, to db, if this is not nil.
func (c *Conv) WeightGradTo(x, dy, dw, db []float32, add bool) error {
	return c.Run(shape.WeightGradient, Arrays{X: x, DW: dw, DB: db, DY: dy, Add: add})
}

// InputGrad computes the gradient of the images into dx.
func (c *Conv) InputGrad(dy, w, dx []float32) error {
	return c.Run(shape.InputGradient, Arrays{W: w, DX: dx, DY: dy})
}

// RectifiesInputGrad reports whether InputGradWhere can be called.
func (c *Conv) RectifiesInputGrad() bool { return c.Can(shape.InputGradient)&MaskImages != 0 }

// InputGradWhere computes the gradient of the images into dx where above, which lies as they do, is above 0; elsewhere it is 0.
func (c *Conv) InputGradWhere(dy, w, dx, above []float32) error {
	return c.Run(shape.InputGradient, Arrays{W: w, DX: dx, DY: dy, Above: above})
}

// AddsInputGrad reports whether AddInputGrad can be called: the product with pointwise kernels goes to the images, or the pixels that
// strides meet, directly.
func (c *Conv) AddsInputGrad() bool { return c.Can(shape.InputGradient)&AddImages != 0 }

// AddInputGrad adds the gradient of the images to dx.
func (c *Conv) AddInputGrad(dy, w, dx []float32) error {
	return c.Run(shape.InputGradient, Arrays{W: w, DX: dx, DY: dy, Add: true})
}

// SetBlocks says whether images, and results, lie in blocks of channels.
func (c *Conv) SetBlocks(in, out bool) error {
	layouts := [2]Layout{Planes, Planes}
	for i, blocks := range [2]bool{in, out} {
		if blocks {
			layouts[i] = Blocks
		}
	}
	return c.SetLayouts(layouts[0], layouts[1])
}

// SetThin says whether the pixels that strides meet stand at the front of their planes.
func (c *Conv) SetThin(on bool) error {
	if on {
		return c.SetLayouts(FrontBlocks, c.layouts[1])
	}
	if c.layouts[0] == FrontBlocks {
		return c.SetLayouts(Blocks, c.layouts[1])
	}
	return nil
}

// Grads computes BothGradients.
func (c *Conv) Grads(a *Arrays) error { return c.Run(shape.BothGradients, *a) }
