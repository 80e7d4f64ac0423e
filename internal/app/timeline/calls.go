package timeline

import (
	"cmp"
	"slices"
	"time"
)

// Nobody is the other worker of a call's half that does not exist.
const Nobody = -1

// Call is a worker's call that sends to a worker, receives from one, or does both.
type Call struct {
	Worker, To, From     int // Nobody: it does not send, or does not receive
	SendBytes, RecvBytes int
	Sent, Received       int64 // the messages' numbers among those between the two workers
	Begin, End           time.Time
}

// Message is a message between two workers.
type Message struct {
	From, To     int
	Bytes        int
	Sent, Wanted time.Time // when the sender and the receiver were ready for it
	Begin, End   time.Time // of its transfer
	Notes        map[string]any
}

// messageKey tells messages apart.
type messageKey struct {
	from, to int
	number   int64
}

// match makes messages of the calls of both sides. A transfer begins when both sides have called, and ends with the receiver's call. Calls
// whose other side is not known are dropped.
func match(calls []Call) []Message {
	sends := map[messageKey]Call{}
	for _, c := range calls {
		if c.To != Nobody {
			sends[messageKey{c.Worker, c.To, c.Sent}] = c
		}
	}
	var list []Message
	for _, c := range calls {
		if c.From == Nobody {
			continue
		}
		s, ok := sends[messageKey{c.From, c.Worker, c.Received}]
		if !ok {
			continue
		}
		m := Message{From: c.From, To: c.Worker, Bytes: c.RecvBytes, Sent: s.Begin, Wanted: c.Begin, End: c.End}
		if m.Begin = later(m.Sent, m.Wanted); m.Begin.After(m.End) { // by clocks that differ
			m.Begin = m.End
		}
		if m.Sent.After(m.Begin) {
			m.Sent = m.Begin
		}
		list = append(list, m)
	}
	return list
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// stretch is a stretch of time, of waiting for a worker.
type stretch struct {
	begin, end time.Time
	peer       int
}

// waits returns the times in which a worker waits for others: it is ready for a message, the other side is not, and no other message of the
// same call is on its way. Of two workers it waits for the later one.
func waits(worker int, messages []Message) []stretch {
	type call struct{ busy, idle []stretch }
	calls := map[int64]*call{} // by begin
	for _, m := range messages {
		if m.From != worker && m.To != worker {
			continue
		}
		ready, peer := m.Sent, m.To
		if m.To == worker {
			ready, peer = m.Wanted, m.From
		}
		c := calls[ready.UnixNano()]
		if c == nil {
			c = &call{}
			calls[ready.UnixNano()] = c
		}
		c.busy = append(c.busy, stretch{begin: m.Begin, end: m.End})
		if ready.Before(m.Begin) {
			c.idle = append(c.idle, stretch{ready, m.Begin, peer})
		}
	}
	var list []stretch
	for _, c := range calls {
		slices.SortFunc(c.idle, func(a, b stretch) int { return cmp.Or(b.end.Compare(a.end), cmp.Compare(a.peer, b.peer)) }) // the later first
		taken := c.busy
		for _, i := range c.idle {
			rest := without([]stretch{i}, taken)
			taken = append(taken, rest...)
			list = append(list, rest...)
		}
	}
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Or(a.begin.Compare(b.begin), a.end.Compare(b.end)) })
	return list
}

// without returns the parts of stretches outside of others.
func without(list, others []stretch) []stretch {
	for _, o := range others {
		var rest []stretch
		for _, s := range list {
			if !s.begin.Before(o.end) || !o.begin.Before(s.end) {
				rest = append(rest, s)
				continue
			}
			if s.begin.Before(o.begin) {
				rest = append(rest, stretch{s.begin, o.begin, s.peer})
			}
			if o.end.Before(s.end) {
				rest = append(rest, stretch{o.end, s.end, s.peer})
			}
		}
		list = rest
	}
	return list
}
