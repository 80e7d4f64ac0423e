package scaling

import "github.com/swcaffe/swcaffe/topology"

// server is the node that holds the centre's weights, or all weights, and meets workers one by one.
type server struct {
	exchange topology.VTime // what a worker waits for when it is alone: weights or gradients there, weights back
	busy     topology.VTime // what the server has to do for it
}

// newServer takes the times from a cluster. With a lock an exchange is a receive, an addition and a send; without one (hogwild) the
// server's link carries one worker's array in while it carries another's out and the processor adds, so that the longest of
// the three counts.
func newServer(c topology.Spec, bytes int64, hogwild, across bool) server {
	message, add := c.MessageTime(float64(bytes), across), c.ReduceTime(float64(bytes))
	s := server{exchange: 2*message + add}
	s.busy = s.exchange
	if hogwild {
		s.busy = max(message, add)
	}
	return s
}

// round is the mean time between two exchanges of a worker that computes for so long in between: when the server keeps up,
// work and exchange; when it does not, the exchanges of all workers. Times are the same for all, so that workers fall into a
// rhythm in which nobody waits who need not.
func (s server) round(workers int, work topology.VTime) topology.VTime {
	return max(work+s.exchange, topology.VTime(workers)*s.busy)
}
