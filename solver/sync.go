package solver

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// syncSGD is synchronous SGD. Every worker computes the gradient of its part of the batch, weighted so that the sum over workers is the
// gradient of the whole batch. The workers sum the gradients before the update, which is then the same for all.
//
// Running statistics (batch norm's) are sent with the gradients and averaged by items; variances are those within a worker's part. The loss
// and the actions that signals request are sent the same way, so that all workers agree on both in every iteration.
type syncSGD struct {
	v       *Solver
	team    *Team
	buckets []bucket // in the order in which their gradients are complete
	next    int      // index of the next bucket
	queue   chan int // buckets to sum; nil for a single bucket or in virtual time, where all are summed at the end
	summed  chan error
	agreed  Action
}

// bucket is a part of the message that is summed separately.
type bucket struct {
	values []float32
	layer  int // the gradients are complete after Backward of this layer
	sum    Reducer
}

// Indices of the head's values after the statistics.
const (
	headLoss = iota
	headStop
	headSnapshot
	headSize
)

// start compares the workers' nets and states, and divides the message into buckets.
func (s *syncSGD) start() error {
	if err := s.team.meet(s.v); err != nil {
		return err
	}
	if s.buckets == nil {
		s.cut()
	}
	if len(s.buckets) > 1 && s.v.watch == nil {
		s.queue, s.summed = make(chan int, len(s.buckets)), make(chan error, 1)
		go s.sum()
	}
	return nil
}

// cut makes the buckets from the end of the message, which has the last layers' gradients. The head belongs to the last bucket.
func (s *syncSGD) cut() {
	p := s.v.group.pack
	hi := len(p.message)
	for i := len(p.weights) - 1; i >= 0; i-- {
		lo := len(p.head) + p.weights[i].lo
		if i > 0 && s.team.BucketBytes > 0 && bytesPerValue*(hi-lo) >= s.team.BucketBytes {
			s.add(lo, hi, p.weights[i].LayerID)
			hi = lo
		}
	}
	s.add(0, hi, 0)
}

const bytesPerValue = 4

func (s *syncSGD) add(lo, hi, layer int) {
	s.buckets = append(s.buckets, bucket{values: s.v.group.pack.message[lo:hi], layer: layer, sum: s.team.NewReducer(hi-lo, false)})
}

func (s *syncSGD) begin() error { return nil }

// sum is the goroutine that sums buckets during Backward. Only this goroutine uses the transport during that time.
func (s *syncSGD) sum() {
	var failed error
	for k := range s.queue {
		if failed == nil {
			failed = relay.Error(func() error { return s.buckets[k].sum.Run(s.buckets[k].values) })
		}
		if k == len(s.buckets)-1 {
			s.summed <- failed
		}
	}
}

func (s *syncSGD) layerDone(layer int) {
	for s.queue != nil && s.next < len(s.buckets)-1 && layer <= s.buckets[s.next].layer {
		s.queue <- s.next
		s.next++
	}
}

// combine sums the remaining buckets and reads the head.
func (s *syncSGD) combine(loss float64) (float64, error) {
	s.fillHead(loss)
	if err := s.settle(); err != nil {
		return 0, err
	}
	p := s.v.group.pack
	s.v.group.spread(p.head[:p.count])
	head := p.head[p.count:]
	s.agreed = None
	switch {
	case head[headStop] > 0:
		s.agreed = Stop
	case head[headSnapshot] > 0:
		s.agreed = Snapshot
	}
	total := float64(head[headLoss])
	if finite(total) {
		return total, nil
	}
	if err := s.team.consent(s.v.checkLoss(loss)); err != nil {
		return 0, err
	}
	return 0, s.v.failed(fmt.Errorf("loss = %s over all workers, though each worker's is a number", caffelog.Figure(total)))
}

func (s *syncSGD) fillHead(loss float64) {
	g := &s.v.group
	clear(g.pack.head)
	g.pack.gather(g.pack.head, g.whole())
	head := g.pack.head[g.pack.count:]
	head[headLoss] = float32(loss)
	switch s.v.pendingAction() {
	case Stop:
		head[headStop] = 1
	case Snapshot:
		head[headSnapshot] = 1
	}
}

// settle sums the buckets that were not started and waits for the others.
func (s *syncSGD) settle() error {
	if s.queue == nil {
		for _, b := range s.buckets {
			s.v.watch.reach(b.layer)
			if err := b.sum.Run(b.values); err != nil {
				return err
			}
		}
		return nil
	}
	for ; s.next < len(s.buckets); s.next++ {
		s.queue <- s.next
	}
	s.next = 0
	return relay.RaiseIn(<-s.summed)
}

// updated compares the workers' weights at regular intervals.
func (s *syncSGD) updated(float64) (Action, error) {
	if s.team.checks(s.v.iter) {
		return s.agreed, s.team.compareWeights(s.v)
	}
	return s.agreed, nil
}

func (s *syncSGD) shown(f func() error) error { return f() }

func (s *syncSGD) finish(err error) error {
	if s.queue != nil {
		close(s.queue)
		s.queue, s.next = nil, 0
	}
	return err
}
