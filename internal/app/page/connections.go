package page

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxConnections is the most connections of a server. Where the process may open few files, a quarter of them is the limit: the run needs the
// others for data and snapshots.
const maxConnections = 256

// connectionLimit returns the most connections for a process that may open files files.
func connectionLimit(files uint64) int { return int(min(maxConnections, max(4, files/4))) }

// connections closes connections beyond a limit, of those without a request the one that has waited longest.
type connections struct {
	most int

	mu      sync.Mutex
	open    int
	waiting []net.Conn // new or idle ones, in the order of their waiting
}

// follow is the http.Server's ConnState.
func (c *connections) follow(conn net.Conn, state http.ConnState) {
	if surplus := c.count(conn, state); surplus != nil {
		surplus.Close()
	}
}

// count records a connection's new state and returns the connection to close, or nil.
func (c *connections) count(conn net.Conn, state http.ConnState) (surplus net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiting, conn); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	switch state {
	case http.StateNew:
		c.open++
		c.waiting = append(c.waiting, conn)
		if c.open > c.most {
			surplus, c.waiting = c.waiting[0], c.waiting[1:]
		}
	case http.StateIdle:
		c.waiting = append(c.waiting, conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	return surplus
}
