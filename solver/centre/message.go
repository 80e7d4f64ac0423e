package centre

// Action is a signal's request to a running solver. It travels in messages.
type Action int

const (
	// None: continue.
	None Action = iota
	// Stop: finish the iteration, write a snapshot if the solver does so at its end, and return.
	Stop
	// Snapshot: write a snapshot and continue.
	Snapshot
)

// Message is what a worker sends and receives: weights and statistics, or steps, followed by a tail.
type Message []float32

// The indices of the tail.
const (
	tailAlpha  = iota // eta rho
	tailAction        // requested in a request, agreed in an answer
	tailKind          // the kind of message
	tailSize
)

// The kinds of messages.
const (
	aRequest = iota
	aLeave   // a worker's last message, without answer
	aKept    // the worker has written its own part of a snapshot; without answer
)

// NewMessage returns a message whose body has the given number of values.
func NewMessage(values int) Message { return make(Message, values+tailSize) }

// Body returns the weights and statistics.
func (m Message) Body() []float32 { return m[:len(m)-tailSize] }

func (m Message) tail() []float32 { return m[len(m)-tailSize:] }

// Request makes the message a request. alpha is eta rho, asked the action that signals request of the worker.
func (m Message) Request(alpha float32, asked Action) {
	tail := m.tail()
	tail[tailAlpha], tail[tailAction], tail[tailKind] = alpha, float32(asked), aRequest
}

// Agreed returns the action that an answer demands.
func (m Message) Agreed() Action { return Action(m.tail()[tailAction]) }

// leave makes the message a worker's last one.
func (m Message) leave() {
	tail := m.tail()
	tail[tailAction], tail[tailKind] = float32(None), aLeave
}
