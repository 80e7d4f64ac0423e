package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
)

// finishing is BatchNorm with stored statistics, Scale and what is computed with them, done to the results of a pointwise convolution before
// they leave a core's cache.
type finishing struct {
	chain  *normChain
	others []*blob.Blob
	other  []float32 // what is added, if something is
}

// TakeForward implements Finisher.
func (l *convolution) TakeForward(next Layer, others []*blob.Blob) (back func()) {
	var chain *normChain
	switch n := next.(type) {
	case *normChain:
		chain = n
	case *normSum:
		chain = &n.normChain
	}
	if chain == nil || !chain.norm.global || !l.blockable() || l.transposed || l.relu != nil {
		return nil
	}
	l.finishing = &finishing{chain: chain, others: others}
	l.finish = l.finishing.block
	return func() { l.finishing, l.finish, chain.done = nil, nil, false }
}

// hold looks up what the blocks are computed with.
func (f *finishing) hold() {
	f.chain.norm.useStored()
	if len(f.others) > 0 {
		f.other = f.others[0].Data()
	}
}

// block is a conv.Finish. It leaves no signs, which only Backward would read.
func (f *finishing) block(y []float32, at, n, block int) {
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

// finished computes the convolution and what is done to its results, if it can be at this time.
func (l *convolution) finished(x, w, bias, y []float32) (bool, error) {
	f := l.finishing
	if f.chain.done = l.conv.Finishes() && f.chain.blocked(); !f.chain.done {
		return false, nil
	}
	f.hold()
	return true, l.conv.ForwardFinish(x, w, bias, y, l.finish)
}
