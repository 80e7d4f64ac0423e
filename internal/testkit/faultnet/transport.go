package faultnet

import (
	"fmt"
	"math"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/topology"
)

// Rank implements topology.Transport.
func (w *worker) Rank() int { return w.rank }

// Size implements topology.Transport.
func (w *worker) Size() int { return len(w.net.ranks) }

// begin starts a call that concerns a peer: the worker may stall, or be lost.
func (w *worker) begin(peer int) error {
	n, number := w.net, w.calls[peer].Add(1)
	if stall := n.faults.Stall; stall > 0 && n.draw(drawStall, w.rank, peer, number)%16 == 0 {
		time.Sleep(upTo(n.draw(drawStallTime, w.rank, peer, number), stall))
	}
	select {
	case <-w.lost:
		return ErrLost
	default:
		return nil
	}
}

// Send implements topology.Transport.
func (w *worker) Send(to int, data []float32) error {
	if err := w.begin(to); err != nil {
		return err
	}
	taken, err := w.post(to, data)
	if err != nil {
		return err
	}
	return w.wait(to, taken)
}

// Recv implements topology.Transport.
func (w *worker) Recv(from int, data []float32) error { return w.receive(from, data, replace) }

// SendRecv implements topology.Transport.
func (w *worker) SendRecv(to int, send []float32, from int, recv []float32) error {
	return w.exchange(to, send, from, recv, replace)
}

func replace(dst, src []float32) { copy(dst, src) }

func add(dst, src []float32) { vec.Add(dst, dst, src) }

func (w *worker) receive(from int, data []float32, read func(dst, src []float32)) error {
	if err := w.begin(from); err != nil {
		return err
	}
	return w.take(from, data, read)
}

func (w *worker) exchange(to int, send []float32, from int, recv []float32, read func(dst, src []float32)) error {
	if err := w.begin(to); err != nil {
		return err
	}
	taken, err := w.post(to, send)
	if err != nil {
		return err
	}
	failed := w.take(from, recv, read)
	if err := w.wait(to, taken); failed == nil {
		return err
	}
	return failed
}

// post puts a message on its way. Whether it is copied, so that nobody waits for the other side, is drawn.
func (w *worker) post(to int, data []float32) (taken chan struct{}, err error) {
	n, l := w.net, w.net.link(w.rank, to)
	m := message{data: data, number: l.sent}
	l.sent++
	if n.faults.Eager && n.draw(drawEager, w.rank, to, m.number)%2 == 0 {
		m.data = append([]float32(nil), data...)
	} else {
		m.taken = make(chan struct{})
	}
	l.last = max(l.last, n.Elapsed()+upTo(n.draw(drawDelay, w.rank, to, m.number), n.faults.Delay))
	m.arrives = l.last
	select {
	case <-n.ranks[to].gone:
		return nil, n.ranks[to].cause
	default:
	}
	select {
	case l.messages <- m:
		return m.taken, nil
	case <-n.ranks[to].gone:
		return nil, n.ranks[to].cause
	case <-w.lost:
		return nil, ErrLost
	case <-n.hung:
		return nil, w.hangs("to send to", to)
	}
}

// wait returns when a message has been taken; a message that was not to be waited for has a nil channel.
func (w *worker) wait(to int, taken chan struct{}) error {
	if taken == nil {
		return nil
	}
	peer := &w.net.ranks[to]
	select {
	case <-taken:
		return nil
	case <-peer.gone:
	case <-w.lost:
		return ErrLost
	case <-w.net.hung:
		return w.hangs("to send to", to)
	}
	select {
	case <-taken:
		return nil
	default:
		return peer.cause
	}
}

// take receives the next message. Messages of a worker that has ended still arrive.
func (w *worker) take(from int, data []float32, read func(dst, src []float32)) error {
	peer, messages := &w.net.ranks[from], w.net.link(from, w.rank).messages
	var m message
	select {
	case m = <-messages:
	case <-peer.gone:
		select {
		case m = <-messages:
		default:
			return peer.cause
		}
	case <-w.lost:
		return ErrLost
	case <-w.net.hung:
		return w.hangs("to receive from", from)
	}
	time.Sleep(m.arrives - w.net.Elapsed())
	if len(m.data) != len(data) {
		return fmt.Errorf("faultnet: rank %d sends %d values to rank %d, which expects %d", from, len(m.data), w.rank, len(data))
	}
	w.net.note(from, w.rank, m)
	read(data, m.data)
	if m.taken != nil {
		close(m.taken)
	}
	return nil
}

// note adds a message to the trace. Messages that arrive at the same moment may come in any order.
func (n *Network) note(from, to int, m message) {
	h := mix(uint64(n.Elapsed()) + mix(uint64(from*len(n.ranks)+to)+mix(m.number)))
	for _, v := range m.data {
		h = mix(h + uint64(math.Float32bits(v)))
	}
	n.trace.Add(h)
}

func (w *worker) hangs(verb string, peer int) error {
	return fmt.Errorf("faultnet: the run hangs: rank %d waits %s rank %d", w.rank, verb, peer)
}

// Shared returns a transport with the additions in place of workers that share memory; its sends always wait for the other side.
func Shared(t topology.Transport) topology.Transport { return shared{t.(*worker)} }

type shared struct{ *worker }

// RecvAdd receives values and adds them to data.
func (s shared) RecvAdd(from int, data []float32) error { return s.receive(from, data, add) }

// SendRecvAdd sends, receives and adds to data.
func (s shared) SendRecvAdd(to int, send []float32, from int, data []float32) error {
	return s.exchange(to, send, from, data, add)
}
