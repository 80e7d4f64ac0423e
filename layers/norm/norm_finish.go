package norm

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
)

// chainFinish is the Finisher of a normChain or normSum whose statistics are stored.
type chainFinish struct {
	chain *normChain
	other []float32 // the other bottom of a sum, or nil
}

// ByChannel implements Finisher.
func (f *chainFinish) ByChannel() bool { return true }

// Hold implements Finisher.
func (f *chainFinish) Hold(others []*blob.Blob) {
	f.chain.norm.useStored()
	if len(others) > 0 {
		f.other = others[0].Data()
	}
}

// Finish implements Finisher. It stores no signs, since only Backward would read them.
func (f *chainFinish) Finish(y []float32, at, first int) {
	l := f.chain
	var other []float32
	if f.other != nil {
		other = f.other[at : at+len(y)]
	}
	if l.blocked() {
		f.finishBlock(y, other, first)
		return
	}
	f.finishRow(y, first)
	if other == nil {
		return
	}
	vec.Add(y, y, other)
	if l.sum.rectifies {
		vec.ReLU(y, y, l.sum.ratio)
	}
}

// finishBlock finishes some pixels of a block of channels.
func (f *chainFinish) finishBlock(y, other []float32, block int) {
	l, norm := f.chain, &f.chain.norm.normaliser
	gamma, beta := l.scale.operands(nil)
	p := l.blockConstants(norm.mean, norm.scale, gamma, beta, block)
	if other == nil {
		vnorm.BlockNormalise(y, y, &p)
		return
	}
	if l.sum.rectifies {
		p.Slope = l.sum.ratio
	}
	vnorm.BlockNormaliseAdd(y, nil, y, other, &p)
}

// finishRow finishes some pixels of a channel or, if a channel has one, some channels, without a sum.
func (f *chainFinish) finishRow(y []float32, first int) {
	l, norm := f.chain, &f.chain.norm.normaliser
	gamma, beta := l.scale.operands(nil)
	if l.dims[2] > 1 {
		p := vnorm.Row{Mean: norm.mean[first], Scale: norm.scale[first], Gamma: gamma[first], Slope: 1}
		if beta != nil {
			p.Beta = beta[first]
		}
		if l.rectified {
			p.Slope = l.slope
		}
		vnorm.Normalise(y, y, &p)
		return
	}
	normalise(y, y, norm.mean[first:], norm.scale[first:], 1, 0)
	if beta != nil {
		beta = beta[first:]
	}
	scaleShift(y, y, gamma[first:], beta, 1, 0)
	if l.rectified {
		vec.ReLU(y, y, l.slope)
	}
}
