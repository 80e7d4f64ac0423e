package topology

// eventKind orders simultaneous events.
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

// item returns the event as a heap item. Simultaneous events are ordered by kind, then by number.
func (e event) item() item { return item{float64(e.at), int64(e.kind)<<32 | int64(e.id)} }

func eventOf(i item) event { return event{VTime(i.key), int32(i.id), eventKind(i.id >> 32)} }
