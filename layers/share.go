package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
)

// Share selects the part of a data stream that one net trains on when several workers train together. The zero value means a single worker.
//
// The stream is divided into rounds. If workers split batches, a round is one batch, and each worker takes a part of it. Otherwise a round
// holds one batch for every worker. The core groups of a worker split the worker's part. The contents of a round do not depend on the
// number of workers, so a position in the stream always means the same.
type Share struct {
	Rank, Ranks   int // this worker, and the number of workers
	Split         bool
	Group, Groups int // this core group, and the worker's number of core groups
}

// Window is one net's part of every round of a stream: Count items from item First on. A round has Stride items.
type Window struct{ First, Count, Stride int }

// Sharer is implemented by layers that hand out a worker's part of a stream. Window is that part.
type Sharer interface {
	Window() Window
}

// Positioner is implemented by layers that read a stream of items. The position is the number of items that Forward has handed out. A
// snapshot stores it, and a resumed run continues from it.
type Positioner interface {
	Position() uint64
	SetPosition(items uint64) error
}

// Finite is implemented by layers that read the same items again and again. Items returns how many different ones there are, 0 if that is not
// known. If it would have to be counted, Items counts up to most items, and returns 0 if there are more. It must not run beside Forward.
type Finite interface {
	Items(most uint64) (uint64, error)
}

// Stateful is implemented by layers whose next Forward may start from values of the last one. State returns the arrays of these values, or
// none if the layer is set up otherwise. A snapshot stores them, and a resumed run writes them back into the arrays.
type Stateful interface {
	State() [][]float32
}

// Carrier is implemented by layers that may carry state from one Forward to the next. One worker must then compute the batches in order.
type Carrier interface {
	Carries() bool
}

// Window returns the net's part of a round for a batch size. It returns an error if there are more parts than items.
func (s Share) Window(batch int) (Window, error) {
	w := Window{Count: batch, Stride: batch}
	switch {
	case s.Ranks <= 1:
	case !s.Split:
		w.First, w.Stride = s.Rank*batch, s.Ranks*batch
	case batch < s.Ranks:
		return Window{}, fmt.Errorf("batch_size %d is too small to split over %d workers", batch, s.Ranks)
	default:
		w = w.part(s.Rank, s.Ranks)
	}
	switch {
	case s.Groups <= 1:
	case w.Count < s.Groups && s.Ranks <= 1:
		return Window{}, fmt.Errorf("batch_size %d is too small to split over %s", batch, cpe.Groups(s.Groups))
	case w.Count < s.Groups:
		return Window{}, fmt.Errorf("batch_size %d gives rank %d only %d items for its %s", batch, s.Rank, w.Count, cpe.Groups(s.Groups))
	default:
		w = w.part(s.Group, s.Groups)
	}
	return w, nil
}

// part returns part i of n nearly equal parts of w.
func (w Window) part(i, n int) Window {
	lo, hi := i*w.Count/n, (i+1)*w.Count/n
	return Window{First: w.First + lo, Count: hi - lo, Stride: w.Stride}
}

// Alone reports whether one worker with one core group trains alone.
func (s Share) Alone() bool { return s.Ranks <= 1 && s.Groups <= 1 }

// Dividers names who divides each batch: workers, core groups, or both. It is empty if nobody does.
func (s Share) Dividers() string {
	switch workers := s.Split && s.Ranks > 1; {
	case workers && s.Groups > 1:
		return fmt.Sprintf("%d workers of %s", s.Ranks, cpe.Groups(s.Groups))
	case workers:
		return fmt.Sprintf("%d workers", s.Ranks)
	case s.Groups > 1:
		return cpe.Groups(s.Groups)
	}
	return ""
}

// CheckItems returns an error if a source has fewer items than there are workers. items = 0 means that the number is unknown.
func (s Share) CheckItems(source string, items int) error {
	if items > 0 && items < s.Ranks {
		return fmt.Errorf("%s has %d items, fewer than the %d workers that share them", source, items, s.Ranks)
	}
	return nil
}

// PassKey mixes rank and group into a random-number key, so that every worker and core group drops different values.
func (s Share) PassKey(key uint64) uint64 {
	return key + uint64(s.Rank*max(1, s.Groups)+s.Group)*0x9e3779b97f4a7c15
}
