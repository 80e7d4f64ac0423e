package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
)

// Share says which items of a stream a net trains on when several workers train together. The zero value is a worker that is
// alone.
//
// The stream is cut into rounds. If workers split batches a round is one batch, of which each takes a part; otherwise
// every worker takes a batch of its own. A worker's core groups split what it takes. What is in a round does not depend on who
// takes it, so that a position in the stream means the same whatever the number of workers.
type Share struct {
	Rank, Ranks   int // among the workers
	Split         bool
	Group, Groups int // among the worker's core groups
}

// Window is a part of every round of a stream: Count items from First, of Stride.
type Window struct{ First, Count, Stride int }

// Sharer is implemented by layers that hand out a worker's share of a stream: the part of every round that it is.
type Sharer interface {
	Window() Window
}

// Positioner is implemented by layers that read a stream of items. The position is the number of items that Forward
// has handed out; a snapshot stores it, and a resumed run continues behind it.
type Positioner interface {
	Position() uint64
	SetPosition(items uint64) error
}

// Carrier is implemented by layers whose Forward may go on from what the last one left in them, so that batches must be computed one after the
// other, by one worker.
type Carrier interface {
	Carries() bool
}

// Window returns the part for a batch size. It is an error if a batch is to be split into more parts than it has items.
func (s Share) Window(batch int) (Window, error) {
	w := Window{Count: batch, Stride: batch}
	switch {
	case s.Ranks <= 1:
	case !s.Split:
		w.First, w.Stride = s.Rank*batch, s.Ranks*batch
	case batch < s.Ranks:
		return Window{}, fmt.Errorf("batch_size %d is less than the %d workers it is to be split over", batch, s.Ranks)
	default:
		w = w.part(s.Rank, s.Ranks)
	}
	switch {
	case s.Groups <= 1:
	case w.Count < s.Groups:
		return Window{}, fmt.Errorf("batch_size %d gives rank %d %d items, less than its %s", batch, s.Rank, w.Count, cpe.Groups(s.Groups))
	default:
		w = w.part(s.Group, s.Groups)
	}
	return w, nil
}

// part returns part i of n nearly equal ones.
func (w Window) part(i, n int) Window {
	lo, hi := i*w.Count/n, (i+1)*w.Count/n
	return Window{First: w.First + lo, Count: hi - lo, Stride: w.Stride}
}

// Alone reports whether nothing is shared.
func (s Share) Alone() bool { return s.Ranks <= 1 && s.Groups <= 1 }

// CheckItems returns an error if a source has fewer items than there are workers; 0 items: it does not know.
func (s Share) CheckItems(source string, items int) error {
	if items > 0 && items < s.Ranks {
		return fmt.Errorf("%s has %d items, fewer than the %d workers that share them", source, items, s.Ranks)
	}
	return nil
}

// PassKey mixes the worker into a key of random numbers, so that no two drop the same values.
func (s Share) PassKey(key uint64) uint64 {
	return key + uint64(s.Rank*max(1, s.Groups)+s.Group)*0x9e3779b97f4a7c15
}
