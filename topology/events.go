package topology

// eventKind orders events of one time.
type eventKind uint8

const (
	messageEnds  eventKind = iota // a message that shares no link: id is its sender
	messageJoins                  // a message has paid its latency and joins the uplinks: id is its sender
	flowEnds                      // the first message of a class of flows ends; kept in an endQueue
)

type event struct {
	at   VTime
	id   int32
	kind eventKind
}

func (e event) before(f event) bool {
	switch {
	case e.at != f.at:
		return e.at < f.at
	case e.kind != f.kind:
		return e.kind < f.kind
	}
	return e.id < f.id
}

// eventQueue is a binary heap.
type eventQueue struct{ heap []event }

func (q *eventQueue) peek() (event, bool) {
	if len(q.heap) == 0 {
		return event{}, false
	}
	return q.heap[0], true
}

func (q *eventQueue) push(e event) {
	h := append(q.heap, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	q.heap = h
}

func (q *eventQueue) pop() {
	h := q.heap
	last := h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
}
