package tcp

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/topology"
	"github.com/swcaffe/swcaffe/topology/commtest"
)

// meshes returns the meshes of some ranks, over TCP on this computer.
func meshes(t *testing.T, size int) []*Mesh {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	defer l.Close()
	conns, names := make([][]net.Conn, size), make([]string, size)
	for r := range conns {
		conns[r], names[r] = make([]net.Conn, size), "here"
	}
	for a := range size {
		for b := range a {
			if conns[a][b], err = net.Dial("tcp", l.Addr().String()); err != nil {
				t.Fatal(err)
			}
			if conns[b][a], err = l.Accept(); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := make([]*Mesh, size)
	for r := range all {
		all[r] = New(r, conns[r], names)
		t.Cleanup(all[r].Close)
	}
	return all
}

// each runs work on every rank and returns the errors.
func each(all []*Mesh, work func(m *Mesh) error) []error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for r, m := range all {
		wg.Go(func() { errs[r] = work(m) })
	}
	wg.Wait()
	return errs
}

// TestCollectives holds every algorithm against the contract, with messages longer than what a connection stores.
func TestCollectives(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		all := meshes(t, size)
		for _, name := range topology.Fixed() {
			for _, err := range each(all, func(m *Mesh) error { return commtest.Check(m, topology.Flat(size), name, 1<<20) }) {
				if err != nil {
					t.Errorf("%s of %d ranks: %v", name, size, err)
				}
			}
		}
	}
}

// TestClose: when a rank closes its mesh, calls of all others fail, with the rank in their error.
func TestClose(t *testing.T) {
	all := meshes(t, 4)
	errs := each(all, func(m *Mesh) error {
		defer m.Close()
		if m.Rank() == 2 {
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		reduce := topology.NewAllReduce(m, topology.NewSchedule("ring", topology.Flat(4), 1<<20))
		return reduce.Run(make([]float32, 1<<20))
	})
	for r, err := range errs {
		if r != 2 && !errors.Is(err, topology.ErrAborted) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// TestBytes: messages of bytes and of values may follow one another, empty ones too, and another length is an error.
func TestBytes(t *testing.T) {
	for r, err := range each(meshes(t, 2), func(m *Mesh) error {
		if m.Rank() == 0 {
			return errors.Join(m.SendBytes(1, []byte("words")), m.SendBytes(1, nil), m.Send(1, []float32{1}), m.Send(1, []float32{1, 2}))
		}
		text, err := m.RecvBytes(0)
		none, err1 := m.RecvBytes(0)
		one := make([]float32, 1)
		err2 := m.Recv(0, one)
		if string(text) != "words" || len(none) > 0 || one[0] != 1 || m.Recv(0, one) == nil {
			t.Errorf("got %q, %q and %g", text, none, one)
		}
		return errors.Join(err, err1, err2)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
