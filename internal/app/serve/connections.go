package serve

import (
	"net"
	"sync/atomic"
)

// limited is a listener that closes connections at once while there are as many as it takes.
type limited struct {
	net.Listener
	open *atomic.Int64 // connections of all addresses
	most int64
}

func (l limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &counted{Conn: c, open: l.open}, nil
		}
		l.open.Add(-1)
		c.Close()
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *counted) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}
