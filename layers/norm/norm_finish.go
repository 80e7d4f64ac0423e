package norm

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
)

// chainFinish is the Finisher of a normChain or normSum whose statistics are stored.
type chainFinish struct {
	chain *normChain
	other []float32 // the other bottom of a sum, or nil
}

// Ready implements Finisher.
func (f *chainFinish) Ready() bool { return f.chain.blocked() }

// Hold implements Finisher.
func (f *chainFinish) Hold(others []*blob.Blob) {
	f.chain.norm.useStored()
	if len(others) > 0 {
		f.other = others[0].Data()
	}
}

// Finish implements Finisher. It stores no signs, since only Backward would read them.
func (f *chainFinish) Finish(y []float32, at, n, block int) {
	l, norm := f.chain, &f.chain.norm.normaliser
	gamma, beta := l.scale.operands(nil)
	p := l.blockConstants(norm.mean, norm.scale, gamma, beta, block)
	y = y[at : at+n]
	if l.sum == nil {
		vnorm.BlockNormalise(y, y, &p)
		return
	}
	if l.sum.rectifies {
		p.Slope = l.sum.ratio
	}
	vnorm.BlockNormaliseAdd(y, nil, y, f.other[at:at+n], &p)
}
