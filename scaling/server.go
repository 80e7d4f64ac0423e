package scaling

import "github.com/swcaffe/swcaffe/topology"

// server is the node that holds the centre's weights, or all weights, and communicates with workers one by one.
type server struct {
	exchange topology.VTime // time of a worker's exchange without contention: weights or gradients to the server, weights back
	busy     topology.VTime // the server's work for one exchange
}

// newServer derives the times from a cluster. With a lock an exchange is a receive, an addition and a send. Without one (hogwild), the server
// receives one worker's array while it sends to another and its processor adds, so that the longest of the three counts.
func newServer(c topology.Spec, bytes int64, hogwild, across bool) server {
	message, add := c.MessageTime(float64(bytes), across), c.ReduceTime(float64(bytes))
	s := server{exchange: 2*message + add}
	s.busy = s.exchange
	if hogwild {
		s.busy = max(message, add)
	}
	return s
}

// times returns the server with all times multiplied by a factor.
func (s server) times(by topology.VTime) server { return server{by * s.exchange, by * s.busy} }

// round is the mean time between two exchanges of a worker that computes for the time work in between. If the server keeps up, it is work
// plus exchange; if not, it is the exchanges of all workers. All times are equal, so that workers fall into a rhythm without unnecessary
// waits.
func (s server) round(workers int, work topology.VTime) topology.VTime {
	return max(work+s.exchange, topology.VTime(workers)*s.busy)
}
