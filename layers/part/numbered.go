package part

import (
	"sync/atomic"

	"github.com/swcaffe/swcaffe/blob"
)

// numbers counts the numbers that were given to weights. None is given twice.
var numbers atomic.Uint64

// Numbered gives numbers to the values of a weight, one after the other as they change.
type Numbered struct {
	seen   blob.Version
	number uint64
}

// Of returns the number of the present values, or 0 if they may change unseen.
func (n *Numbered) Of(b *blob.Blob) uint64 {
	v, ok := b.Version()
	if !ok {
		return 0
	}
	if v != n.seen {
		n.seen, n.number = v, numbers.Add(1)
	}
	return n.number
}
