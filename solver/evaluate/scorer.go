package evaluate

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/words"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// Workers is a worker's connection to the others, as of solver.Transport.
type Workers interface {
	Rank() int
	Size() int
	Send(to int, data []float32) error
	Recv(from int, data []float32) error
}

// Scorer runs batches of a net for inference. Several workers each run one batch at a time, on their own nets. Their layers share the data
// as layers.Share does without Split. If a batch depends on the previous one (layers.Carrier), the first worker runs all batches.
type Scorer struct {
	net     *swnet.Net
	workers Workers
	carries bool
	head    []float32   // of one batch: the loss, and the number of values of each output
	row     []float32   // the values of all outputs
	outputs [][]float32 // the parts of row
}

// NewScorer returns a Scorer for a worker's net. workers is nil for a single worker.
func NewScorer(n *swnet.Net, workers Workers) *Scorer {
	s := &Scorer{net: n, workers: workers}
	for i := range n.NumLayers() {
		c, ok := n.Layer(i).(layers.Carrier)
		s.carries = s.carries || ok && c.Carries()
	}
	return s
}

// Next runs the next batches, one per worker but at most n, and returns their number. On the first worker it calls tell for each batch in
// order, with its loss and the values of each of the net's outputs. All workers call Next with the same n. Afterwards the data continues after
// the last batch that was run. A worker returns only when all have run their batches, so that the first batch in order with an error is the
// one reported.
func (s *Scorer) Next(n int, tell func(loss float64, outputs [][]float32)) (int, error) {
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
			if err := s.receive(from); err != nil {
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
		if err := errors.Join(s.workers.Send(0, s.head), s.workers.Send(0, s.row)); err != nil {
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

// compute runs a batch and stores its results in head and row.
func (s *Scorer) compute() error {
	loss, err := s.net.Forward()
	if err != nil {
		return err
	}
	s.head = resized(s.head, words.Len*(1+len(s.net.Outputs())))
	words.Put(s.head, math.Float64bits(loss))
	s.row = s.row[:0]
	for i, out := range s.net.Outputs() {
		words.Put(s.head[words.Len*(1+i):], uint64(out.Blob.Count()))
		s.row = append(s.row, out.Blob.Data()...)
	}
	return nil
}

// receive receives the results of another worker's batch. Its outputs may have other extents.
func (s *Scorer) receive(from int) error {
	if err := s.workers.Recv(from, s.head); err != nil {
		return err
	}
	n := 0
	for i := range s.net.Outputs() {
		n += s.count(i)
	}
	s.row = resized(s.row, n)
	return s.workers.Recv(from, s.row)
}

// count returns the number of values of an output.
func (s *Scorer) count(i int) int { return int(words.Get(s.head[words.Len*(1+i):])) }

// resized returns n values, in the memory of values if they fit.
func resized(values []float32, n int) []float32 {
	if cap(values) < n {
		return make([]float32, n)
	}
	return values[:n]
}

// tell passes the results to a function.
func (s *Scorer) tell(tell func(loss float64, outputs [][]float32)) {
	s.outputs = s.outputs[:0]
	at := 0
	for i := range s.net.Outputs() {
		n := s.count(i)
		s.outputs = append(s.outputs, s.row[at:at+n])
		at += n
	}
	tell(math.Float64frombits(words.Get(s.head)), s.outputs)
}
