package solver

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/words"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// Scorer runs batches of a net for inference. Several workers each run one batch at a time, on their own nets. Their layers share the data
// as layers.Share does without Split. If a batch depends on the previous one (layers.Carrier), the first worker runs all batches.
type Scorer struct {
	net     *swnet.Net
	workers Transport
	carries bool
	row     []float32 // of one batch: the loss, and the values of all outputs
}

// NewScorer returns a Scorer for a worker's net. workers is nil for a single worker.
func NewScorer(n *swnet.Net, workers Transport) *Scorer {
	s := &Scorer{net: n, workers: workers}
	for i := range n.NumLayers() {
		c, ok := n.Layer(i).(layers.Carrier)
		s.carries = s.carries || ok && c.Carries()
	}
	return s
}

// Next runs the next batches, one per worker but at most n, and returns their number. On the first worker it calls tell for each batch in
// order, with its loss and the values of the net's outputs. With several workers every batch must have the same number of output values.
// All workers call Next with the same n. Afterwards the data continues after the last batch that was run. A worker returns only when all
// have run their batches, so that the first batch in order with an error is the one reported.
func (s *Scorer) Next(n int, tell func(loss float64, values []float32)) (int, error) {
	if s.carries && s.workers != nil && s.workers.Rank() > 0 {
		return 1, nil
	}
	rank, size := 0, 1
	if s.workers != nil {
		rank, size = s.workers.Rank(), s.workers.Size()
	}
	if n = min(n, size); s.carries {
		n = 1
	}
	if rank >= n {
		return n, s.move(n)
	}
	if err := s.compute(); err != nil {
		return 0, err
	}
	switch {
	case rank == 0:
		s.tell(tell)
		for from := 1; from < n; from++ {
			if err := s.workers.Recv(from, s.row); err != nil {
				return 0, fmt.Errorf("outputs of rank %d: %w", from, err)
			}
			s.tell(tell)
		}
		for to := 1; to < n; to++ {
			if err := s.workers.Send(to, nil); err != nil {
				return 0, err
			}
		}
	default:
		if err := s.workers.Send(0, s.row); err != nil {
			return 0, err
		}
		if err := s.workers.Recv(0, nil); err != nil {
			return 0, err
		}
	}
	return n, s.move(n - size)
}

// move advances the data by batches, or moves it back for a negative number. It aligns the positions of workers that ran a batch with those
// that did not.
func (s *Scorer) move(batches int) error {
	for i := range s.net.NumLayers() {
		p, reads := s.net.Layer(i).(layers.Positioner)
		part, shares := p.(layers.Sharer)
		if !reads || !shares || batches == 0 {
			continue
		}
		round := part.Window().Stride
		if err := p.SetPosition(p.Position() + uint64(batches*round/s.workers.Size())); err != nil {
			return fmt.Errorf("layer %q: %w", s.net.LayerName(i), err)
		}
	}
	return nil
}

// compute runs a batch and stores its results in row.
func (s *Scorer) compute() error {
	loss, err := s.net.Forward()
	if err != nil {
		return err
	}
	s.row = append(s.row[:0], make([]float32, words.Len)...)
	words.Put(s.row, math.Float64bits(loss))
	for _, out := range s.net.Outputs() {
		s.row = append(s.row, out.Blob.Data()...)
	}
	return nil
}

// tell passes the results in row to a function.
func (s *Scorer) tell(tell func(loss float64, values []float32)) {
	tell(math.Float64frombits(words.Get(s.row)), s.row[words.Len:])
}
