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
