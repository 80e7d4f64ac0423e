package elastic

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// simulated is a network in memory. Messages take drawn times. A host may stall, when it neither sends nor receives, or be lost.
type simulated struct {
	mu        sync.Mutex
	seed      uint64
	longest   time.Duration
	made      map[string]int // connections between two hosts
	listeners map[string]*simListener
}

// draws returns the random numbers of the next connection between two hosts, in one direction. No other connection draws from them, so that they do
// not depend on the order in which goroutines run.
func (n *simulated) draws(from, to string) *rand.Rand {
	n.mu.Lock()
	defer n.mu.Unlock()
	pair := from + " to " + to
	n.made[pair]++
	h := fnv.New64a()
	fmt.Fprint(h, pair, n.made[pair])
	return rand.New(rand.NewPCG(n.seed, h.Sum64()))
}

// host is one process's access to the network.
type host struct {
	net     *simulated
	name    string
	mu      sync.Mutex
	lost    bool
	stalled time.Time // until then
	conns   []net.Conn
}

type simListener struct {
	host   *host
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *simListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *simListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

type simAddr string

func (simAddr) Network() string       { return "simulated" }
func (a simAddr) String() string      { return string(a) }
func (l *simListener) Addr() net.Addr { return simAddr(l.host.name) }

func (h *host) Listen() (net.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	l := &simListener{host: h, conns: make(chan net.Conn, 64), closed: make(chan struct{})}
	h.net.listeners[h.name] = l
	return l, nil
}

func (h *host) Dial(address string) (net.Conn, error) {
	there, back := h.net.draws(h.name, address), h.net.draws(address, h.name)
	time.Sleep(time.Duration(there.Int64N(int64(h.net.longest))))
	h.net.mu.Lock()
	l := h.net.listeners[address]
	h.net.mu.Unlock()
	if l == nil {
		return nil, errors.New("no such host")
	}
	select {
	case <-l.closed:
		return nil, errors.New("connection refused")
	default:
	}
	a, b := net.Pipe()
	mine, other := &simConn{Conn: a, host: h, draws: there, reads: h.net.draws(h.name, address)}, &simConn{Conn: b, host: l.host, draws: back, reads: h.net.draws(address, h.name)}
	if !h.keep(mine) || !l.host.keep(other) {
		a.Close()
		b.Close()
		return nil, errors.New("connection reset")
	}
	l.conns <- other
	return mine, nil
}

// keep remembers a connection, unless the host is lost.
func (h *host) keep(c net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = append(h.conns, c)
	return !h.lost
}

// lose ends the host.
func (h *host) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
	for i, c := range h.conns { // one after another, so that the order is always the same
		time.AfterFunc(time.Duration(1+137*i)*time.Microsecond, func() { c.Close() })
	}
}

func (h *host) stall(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stalled = time.Now().Add(d)
}

// pause waits while the host is stalled, and then for a drawn moment: its goroutines do not wake together, when their order would be open.
func (h *host) pause(draws *rand.Rand) {
	h.mu.Lock()
	wait := time.Until(h.stalled)
	h.mu.Unlock()
	if wait > 0 {
		time.Sleep(wait + time.Duration(draws.Int64N(int64(time.Millisecond))))
	}
}

type simConn struct {
	net.Conn
	host  *host
	draws *rand.Rand // one goroutine writes at a time,
	reads *rand.Rand // and one reads
}

func (c *simConn) Read(b []byte) (int, error) {
	c.host.pause(c.reads)
	return c.Conn.Read(b)
}

func (c *simConn) Write(b []byte) (int, error) {
	time.Sleep(time.Duration(c.draws.Int64N(int64(c.host.net.longest))))
	c.host.pause(c.draws)
	return c.Conn.Write(b)
}
