package topology

import (
	"fmt"
)

// network simulates messages on a cluster's links. Each rank has one operation at a time: a send, a receive, or both. A message starts when
// both sides have posted it. An operation is complete when its halves are. A message inside a supernode does not share its links; messages
// between supernodes share uplinks (see uplinks).
//
// Everything is ordered by (time, kind, rank), so that the order of calls of post does not matter.
type network struct {
	spec    Spec
	layout  Layout
	now     VTime
	events  heap // of events
	ops     []operation
	links   *uplinks
	done    []completion
	taken   int                // of done
	started func(from, to int) // called when a message starts; may be nil
	ended   func(m Message)    // called when a message ends; may be nil
	intra   int64              // bytes sent inside supernodes
	inter   int64              // bytes sent between supernodes
}

// operation is a posted call of a rank.
type operation struct {
	to, from                 int32 // None: no such half
	sendStarted, recvStarted bool
	pending                  int8 // number of incomplete halves; 0: nothing is posted
	sendBytes, recvBytes     int
	posted, start, end       VTime // start is that of its send
}

// completion is a complete operation.
type completion struct {
	rank int
	at   VTime
}

// Message is one message of a simulation.
type Message struct {
	From, To     int
	Bytes        int
	Sent, Wanted VTime // when the sender and the receiver posted it
	Start, End   VTime
}

func newNetwork(spec Spec, l Layout) *network {
	n := &network{spec: spec, layout: l, ops: make([]operation, l.Ranks())}
	n.links = newUplinks(l.Supernodes(), spec.uplinkBandwidth())
	return n
}

// post posts a rank's operation at a time that is not before now. A peer of None means that there is no such half.
func (n *network) post(rank int, at VTime, to, sendBytes, from, recvBytes int) error {
	op := &n.ops[rank]
	*op = operation{to: int32(to), from: int32(from), sendBytes: sendBytes, recvBytes: recvBytes, posted: at, end: at}
	if to != None {
		op.pending++
	}
	if from != None {
		op.pending++
	}
	if to != None {
		if err := n.match(rank, to); err != nil {
			return err
		}
	}
	if from != None {
		return n.match(from, rank)
	}
	return nil
}

// match starts the message between two ranks if both have posted it.
func (n *network) match(from, to int) error {
	s, r := &n.ops[from], &n.ops[to]
	if s.pending == 0 || r.pending == 0 || int(s.to) != to || int(r.from) != from || s.sendStarted || r.recvStarted {
		return nil
	}
	if s.sendBytes != r.recvBytes {
		return fmt.Errorf("topology: rank %d sends %d bytes to rank %d, which expects %d", from, s.sendBytes, to, r.recvBytes)
	}
	s.sendStarted, r.recvStarted = true, true
	s.start = max(s.posted, r.posted)
	if n.started != nil {
		n.started(from, to)
	}
	bytes := float64(s.sendBytes)
	paid := s.start + n.spec.Latency
	if n.layout.Supernode(from) == n.layout.Supernode(to) {
		n.intra += int64(s.sendBytes)
		n.events.push(event{at: paid + VTime(bytes/n.spec.messageBandwidth(bytes)), kind: messageEnds, id: int32(from)}.item())
		return nil
	}
	n.inter += int64(s.sendBytes)
	paid += n.spec.UplinkLatency
	kind := messageJoins
	if s.sendBytes == 0 {
		kind = messageEnds
	}
	n.events.push(event{at: paid, kind: kind, id: int32(from)}.item())
	return nil
}

// simultaneous is the largest difference, relative to the time, of events that rounding alone has separated. Rates are computed once for all
// of them; each event keeps its own time.
const simultaneous = 1e-12

// next returns the next completed operation; false if nothing is outstanding.
func (n *network) next() (completion, bool) {
	for n.taken == len(n.done) {
		n.done, n.taken = n.done[:0], 0
		e, any := n.earliest()
		if n.links.changed() && (!any || e.at > n.now*(1+simultaneous)) {
			n.links.share(n.now)
			continue
		}
		if !any {
			return completion{}, false
		}
		n.now = max(n.now, e.at)
		n.play(e)
	}
	n.taken++
	return n.done[n.taken-1], true
}

// earliest returns the next event. Of simultaneous ones, an event of the queue precedes the end of a class's messages.
func (n *network) earliest() (event, bool) {
	first, any := n.events.peek()
	at, planned := n.links.ends.peek()
	if planned && (!any || float64(at) < first.key) {
		return event{at: at, kind: flowEnds}, true
	}
	return eventOf(first), any
}

func (n *network) play(e event) {
	if e.kind != flowEnds {
		n.events.pop()
	}
	switch e.kind {
	case messageEnds:
		n.end(int(e.id), e.at)
	case messageJoins:
		s := &n.ops[e.id]
		bytes := float64(s.sendBytes)
		n.links.join(e.at, flowKey{
			up: int32(n.layout.Supernode(int(e.id))), down: int32(n.layout.Supernode(int(s.to))), limit: n.spec.messageBandwidth(bytes),
		}, e.id, bytes)
	case flowEnds:
		for _, from := range n.links.finish() {
			n.end(int(from), e.at)
		}
	}
}

// end completes the halves of a message.
func (n *network) end(from int, at VTime) {
	s := &n.ops[from]
	to := int(s.to)
	if n.ended != nil {
		n.ended(Message{from, to, s.sendBytes, s.posted, n.ops[to].posted, s.start, at})
	}
	n.half(from, at)
	n.half(to, at)
}

func (n *network) half(rank int, at VTime) {
	op := &n.ops[rank]
	op.pending--
	op.end = max(op.end, at)
	if op.pending == 0 {
		n.done = append(n.done, completion{rank, op.end})
	}
}
