package solver

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// pack holds all weights that a net learns in one array and their gradients in another, so that workers exchange one message instead of one
// per layer (swCaffe: gradients of all layers in one buffer; You et al.: packed layers).
type pack struct {
	data, diff []float32
	head       []float32 // values sent along with the gradients; precedes diff in the same array
	message    []float32 // head and diff
	weights    []packed
	statistics []*blob.Blob // see layers.RunningStatistics
	count      int          // values of the statistics
}

// packed is the position of a weight: data[lo:hi].
type packed struct {
	swnet.Learnable
	lo, hi int
}

// newPack moves the weights of n into arrays of their own, each aligned to a cache line. The head has room for the statistics and for spare
// values. Weights with lr_mult 0 are not moved.
func newPack(n *swnet.Net, spare int) *pack {
	p := &pack{}
	size := 0
	for _, l := range n.Learnable() {
		if l.LRMult == 0 {
			continue
		}
		p.weights = append(p.weights, packed{l, size, size + l.Blob.Count()})
		size = cpe.WholeLines(size + l.Blob.Count())
	}
	for i := range n.NumLayers() {
		if s, ok := n.Layer(i).(layers.RunningStatistics); ok {
			p.statistics = append(p.statistics, s.Statistics()...)
		}
	}
	for _, s := range p.statistics {
		p.count += s.Count()
	}
	p.message = make([]float32, cpe.WholeLines(p.count+spare)+size)
	p.head, p.diff = p.message[:len(p.message)-size], p.message[len(p.message)-size:]
	p.data = make([]float32, size)
	for _, w := range p.weights {
		w.Blob.Place(p.data[w.lo:w.hi], p.diff[w.lo:w.hi])
	}
	return p
}

// histories calls f with the history of every packed weight and its position, if the solver has histories.
func (p *pack) histories(u *updater, f func(history []float32, lo, hi int)) {
	byBlob := map[*blob.Blob]*blob.Blob{}
	for _, w := range u.weights {
		byBlob[w.weight.Blob] = w.histories[0]
	}
	for _, w := range p.weights {
		f(byBlob[w.Blob].Data(), w.lo, w.hi)
	}
}

// gather copies the statistics, times a factor, to dst.
func (p *pack) gather(dst []float32, factor float32) {
	i := 0
	for _, s := range p.statistics {
		for _, v := range s.Data() {
			dst[i] = v * factor
			i++
		}
	}
}

// scatter copies the statistics from src.
func (p *pack) scatter(src []float32) {
	for _, s := range p.statistics {
		src = src[copy(s.Data(), src):]
	}
}
