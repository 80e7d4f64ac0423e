package centre

// countBase is more than a value of a message holds exactly of the number of requests, which therefore takes two.
const (
	countBase   = 1 << 20
	countValues = 2
)

// Copy is what another worker knows of the centre by the answer to its last request, so that the centre outlives the worker that holds it.
type Copy struct {
	Weights, Velocity []float32
	// Served is the number of requests that the centre had served. Of two copies, that with more is the later one.
	Served int
}

// NewCopy returns a copy of a centre with a number of weights and statistics, of which the first, learned, are the packed weights.
func NewCopy(kind Kind, weights, learned int) *Copy {
	y := &Copy{Weights: make([]float32, weights)}
	if kind.Momentum {
		y.Velocity = make([]float32, learned)
	}
	return y
}

// Values is the length of the body of messages of a worker that keeps the copy.
func (y *Copy) Values() int { return len(y.Weights) + len(y.Velocity) + countValues }

// Take keeps the answer of a centre that shares.
func (y *Copy) Take(answer Message) {
	rest := answer.Body()
	rest = rest[copy(y.Weights, rest):]
	rest = rest[copy(y.Velocity, rest):]
	y.Served = int(rest[0])*countBase + int(rest[1])
}

// Share makes the centre's answers hold what a Copy takes. served is the number of requests that it had served where it was before. Call it
// before the first request.
func (c *Centre) Share(served int) {
	c.behind = len(c.Velocity) + countValues
	c.served.Store(int64(served))
}

// Served is the number of requests served.
func (c *Centre) Served() int { return int(c.served.Load()) }

// count counts a request, and completes its answer. Callers hold the lock that guards the velocity.
func (c *Centre) count(answer []float32) {
	served := c.served.Add(1)
	if c.behind == 0 {
		return
	}
	rest := answer[len(c.Weights):]
	rest = rest[copy(rest, c.Velocity):]
	rest[0], rest[1] = float32(served/countBase), float32(served%countBase)
}
