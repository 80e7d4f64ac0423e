package centre

// Kind tells the strategies with a centre apart.
type Kind struct {
	Order Order
	Rule  Rule
	// Momentum: the centre uses the solver's momentum. WorkerMomentum: each worker uses it ([SC17] equations 5 and 6).
	Momentum, WorkerMomentum bool
}

// Order is the order in which a centre serves requests.
type Order int

const (
	// FirstCome serves one request at a time, in order of arrival.
	FirstCome Order = iota
	// InTurn serves one request at a time, in order of ranks: [SC17] algorithm 1.
	InTurn
	// Unlocked serves all requests at once. A lock protects each chunk of the weights, since racing writes are undefined in Go. The order
	// of two requests may differ from chunk to chunk.
	Unlocked
)

// Rule says how a request changes the centre's weights W, and what the answer is.
type Rule int

const (
	// Descend: the request is a step u. W <- W - u, or with momentum V <- mu V - u; W <- W + V ([SC17] equations 3 and 4). The answer is
	// the new W.
	Descend Rule = iota
	// Elastic: the request is a worker's W_i. W <- W + eta rho (W_i - W) ([SC17] equation 2, one worker's term). The answer is W before the
	// change.
	Elastic
)
