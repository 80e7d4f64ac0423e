package layers

import "fmt"

// Share says which items of a stream a net trains on when several workers train together. The zero value is a worker that is
// alone.
//
// The stream is cut into rounds. If workers split batches a round is one batch, of which each takes a part; otherwise
// every worker takes a batch of its own. What is in a round does not depend on which workers take it, so that a position
// in the stream means the same whatever their number is.
type Share struct {
	Rank, Ranks int
	Split       bool
}

// Window is a worker's part of every round of a stream: Count items from First, of Stride.
type Window struct{ First, Count, Stride int }

// Window returns the part for a batch size. It is an error if a batch is to be split and has fewer items than there are workers.
func (s Share) Window(batch int) (Window, error) {
	switch {
	case s.Ranks <= 1:
		return Window{Count: batch, Stride: batch}, nil
	case !s.Split:
		return Window{First: s.Rank * batch, Count: batch, Stride: s.Ranks * batch}, nil
	case batch < s.Ranks:
		return Window{}, fmt.Errorf("batch_size %d is less than the %d workers it is to be split over", batch, s.Ranks)
	}
	first := s.Rank * batch / s.Ranks
	return Window{First: first, Count: (s.Rank+1)*batch/s.Ranks - first, Stride: batch}, nil
}

// checkItems returns an error if a source has fewer items than there are workers; 0 items: it does not know.
func (s Share) checkItems(source string, items int) error {
	if items > 0 && items < s.Ranks {
		return fmt.Errorf("%s has %d items, fewer than the %d workers that share them", source, items, s.Ranks)
	}
	return nil
}

// passKey mixes the worker into a key of random numbers, so that workers do not drop the same values.
func (s Share) passKey(key uint64) uint64 { return key + uint64(s.Rank)*0x9e3779b97f4a7c15 }
