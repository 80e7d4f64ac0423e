package topology

import (
	"sync/atomic"
	"time"
)

// Call is one call of a watched transport.
type Call struct {
	To, From             int // None: the call does not send, or does not receive
	SendBytes, RecvBytes int
	// Sent and Received number the messages between two ranks in one direction, from 0. Both ranks count alike, so that their calls can be
	// matched.
	Sent, Received int64
	Begin, End     time.Time
}

// Watch returns a transport that does what t does and tells seen of each call after its end. seen may be called by several goroutines. t's
// time must be real.
func Watch(t Transport, seen func(Call)) Transport {
	w := &watched{Transport: t, seen: seen, sent: make([]atomic.Int64, t.Size()), received: make([]atomic.Int64, t.Size())}
	if a, ok := t.(adder); ok {
		return &watchedAdder{w, a}
	}
	return w
}

type watched struct {
	Transport
	seen           func(Call)
	sent, received []atomic.Int64 // messages to and from each rank
}

// call makes a call and tells of it, unless it fails.
func (w *watched) call(to, sends, from, receives int, do func() error) error {
	c := Call{To: to, From: from, SendBytes: bytesPerValue * sends, RecvBytes: bytesPerValue * receives, Begin: time.Now()}
	if err := do(); err != nil {
		return err
	}
	c.End = time.Now()
	if to != None {
		c.Sent = w.sent[to].Add(1) - 1
	}
	if from != None {
		c.Received = w.received[from].Add(1) - 1
	}
	w.seen(c)
	return nil
}

func (w *watched) Send(to int, data []float32) error {
	return w.call(to, len(data), None, 0, func() error { return w.Transport.Send(to, data) })
}

func (w *watched) Recv(from int, data []float32) error {
	return w.call(None, 0, from, len(data), func() error { return w.Transport.Recv(from, data) })
}

func (w *watched) SendRecv(to int, send []float32, from int, recv []float32) error {
	return w.call(to, len(send), from, len(recv), func() error { return w.Transport.SendRecv(to, send, from, recv) })
}

// watchedAdder is a watched transport between ranks that share memory.
type watchedAdder struct {
	*watched
	adder adder
}

func (w *watchedAdder) RecvAdd(from int, data []float32) error {
	return w.call(None, 0, from, len(data), func() error { return w.adder.RecvAdd(from, data) })
}

func (w *watchedAdder) SendRecvAdd(to int, send []float32, from int, data []float32) error {
	return w.call(to, len(send), from, len(data), func() error { return w.adder.SendRecvAdd(to, send, from, data) })
}
