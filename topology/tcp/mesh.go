// Package tcp is a transport over one connection between every two ranks. Unlike MPI's, it survives a lost rank: calls fail at once when a
// connection is closed, and the ranks that are left can make another mesh.
package tcp

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"unsafe"

	"github.com/swcaffe/swcaffe/topology"
)

// Mesh is a rank's connections to all others. It implements topology.Transport.
type Mesh struct {
	rank   int
	names  []string // of the ranks' computers, for messages
	peers  []*peer  // nil for the rank itself
	once   sync.Once
	closed chan struct{}
}

// headerBytes is the length of what precedes a message: its number of bytes.
const headerBytes = 8

// peer is the connection to another rank. Its goroutine writes, so that a rank can send and receive at the same time.
type peer struct {
	header  [headerBytes]byte // of the message that is received
	conn    net.Conn
	send    chan []byte
	written chan error
}

// New returns the mesh of a rank. conns are the connections to the other ranks, by rank, names those of the ranks' computers.
func New(rank int, conns []net.Conn, names []string) *Mesh {
	m := &Mesh{rank: rank, names: names, peers: make([]*peer, len(conns)), closed: make(chan struct{})}
	for r, c := range conns {
		if r != rank {
			m.peers[r] = &peer{conn: c, send: make(chan []byte), written: make(chan error, 1)}
			go m.peers[r].write(m.closed)
		}
	}
	return m
}

// write writes messages until the mesh is closed.
func (p *peer) write(closed <-chan struct{}) {
	var header [headerBytes]byte
	for {
		select {
		case data := <-p.send:
			binary.LittleEndian.PutUint64(header[:], uint64(len(data)))
			_, err := p.conn.Write(header[:])
			if err == nil && len(data) > 0 {
				_, err = p.conn.Write(data)
			}
			p.written <- err
		case <-closed:
			return
		}
	}
}

// Close closes all connections; calls that wait, and all later ones, fail. It may be called at any time, more than once.
func (m *Mesh) Close() {
	m.once.Do(func() {
		close(m.closed)
		for _, p := range m.peers {
			if p != nil {
				p.conn.Close()
			}
		}
	})
}

// Rank implements topology.Transport.
func (m *Mesh) Rank() int { return m.rank }

// Size implements topology.Transport.
func (m *Mesh) Size() int { return len(m.peers) }

// bytesOf is the memory of values. All computers of a mesh have the same order of bytes: they run the same program.
func bytesOf(values []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values))
}

// Send implements topology.Transport.
func (m *Mesh) Send(to int, data []float32) error { return m.SendBytes(to, bytesOf(data)) }

// Recv implements topology.Transport.
func (m *Mesh) Recv(from int, data []float32) error {
	if err := m.check(from, "receive from"); err != nil {
		return err
	}
	n, err := m.length(from)
	if err != nil {
		return err
	}
	if n != uint64(4*len(data)) {
		return fmt.Errorf("tcp: rank %d sends %d bytes to rank %d, which expects %d", from, n, m.rank, 4*len(data))
	}
	return m.read(from, bytesOf(data))
}

// SendRecv implements topology.Transport.
func (m *Mesh) SendRecv(to int, send []float32, from int, recv []float32) error {
	if err := m.check(to, "send to"); err != nil {
		return err
	}
	if err := m.post(to, bytesOf(send)); err != nil {
		return err
	}
	failed := m.Recv(from, recv)
	if failed != nil {
		m.Close() // so that the write below ends
	}
	if err := m.lost(to, <-m.peers[to].written); failed == nil {
		return err
	}
	return failed
}

// SendBytes sends bytes, which RecvBytes receives.
func (m *Mesh) SendBytes(to int, data []byte) error {
	if err := m.check(to, "send to"); err != nil {
		return err
	}
	if err := m.post(to, data); err != nil {
		return err
	}
	return m.lost(to, <-m.peers[to].written)
}

// post hands bytes to the goroutine that writes them; its result follows in written.
func (m *Mesh) post(to int, data []byte) error {
	select {
	case m.peers[to].send <- data:
		return nil
	case <-m.closed:
		return m.lost(to, net.ErrClosed)
	}
}

// RecvBytes receives what SendBytes sends.
func (m *Mesh) RecvBytes(from int) ([]byte, error) {
	if err := m.check(from, "receive from"); err != nil {
		return nil, err
	}
	n, err := m.length(from)
	if err != nil {
		return nil, err
	}
	data := make([]byte, n)
	return data, m.read(from, data)
}

func (m *Mesh) check(peer int, verb string) error {
	if peer < 0 || peer >= len(m.peers) || peer == m.rank {
		return fmt.Errorf("tcp: rank %d cannot %s rank %d of %d", m.rank, verb, peer, len(m.peers))
	}
	return nil
}

func (m *Mesh) length(from int) (uint64, error) {
	header := &m.peers[from].header
	if err := m.read(from, header[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(header[:]), nil
}

func (m *Mesh) read(from int, into []byte) error {
	_, err := io.ReadFull(m.peers[from].conn, into)
	return m.lost(from, err)
}

// lost is the error of a call whose connection has failed.
func (m *Mesh) lost(peer int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: the connection to rank %d on %s: %w", topology.ErrAborted, peer, m.names[peer], err)
}
