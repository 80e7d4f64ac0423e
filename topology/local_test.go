package topology

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// TestLowestErrorCounts: which error ranks end with does not depend on which of them is first. Ranks that the failure of another one
// does not keep from their own work go on to it, and get what that one sent before.
func TestLowestErrorCounts(t *testing.T) {
	mine, early := errors.New("of rank 0"), errors.New("of rank 1")
	err := NewLocal(3).Run(func(tr Transport) error {
		data := []float32{float32(tr.Rank())}
		switch tr.Rank() {
		case 0:
			if err := tr.Recv(1, data); err != nil || data[0] != 1 {
				t.Errorf("rank 1 sent %g before it failed, and %v came", data[0], err)
			}
			if err := tr.Recv(1, data); !errors.Is(err, ErrAborted) {
				t.Errorf("of rank 1, which has failed, came error %v, want %v", err, ErrAborted)
			}
			if err := tr.SendRecv(2, []float32{0}, 2, data); err != nil || data[0] != 2 {
				t.Errorf("rank 2, which has not failed, sent %g: %v", data[0], err)
			}
			return mine
		case 1:
			if err := tr.Send(0, data); err != nil {
				t.Error(err)
			}
			return early
		}
		if err := tr.SendRecv(0, slices.Clone(data), 0, data); err != nil || data[0] != 0 {
			t.Errorf("rank 0, which has not failed, sent %g: %v", data[0], err)
		}
		return tr.Send(1, data)
	})
	if !errors.Is(err, mine) {
		t.Errorf("got %v, want the error of rank 0", err)
	}
}

// TestRankEnds: to wait for a rank whose work is done is an error.
func TestRankEnds(t *testing.T) {
	for _, call := range []func(tr Transport) error{
		func(tr Transport) error { return tr.Recv(1, []float32{0}) },
		func(tr Transport) error { return tr.Send(1, []float32{0}) },
		func(tr Transport) error { return tr.SendRecv(1, []float32{0}, 1, []float32{0}) },
	} {
		err := NewLocal(2).Run(func(tr Transport) error {
			if tr.Rank() == 1 {
				return nil
			}
			return call(tr)
		})
		if err == nil || !strings.Contains(err.Error(), "rank 1 has ended") {
			t.Errorf("got %v", err)
		}
	}
}

// TestRankPanics: Run raises the panic of a rank, the lowest one's, with its stack. Ranks that wait for it get an error, and the others
// finish their work.
func TestRankPanics(t *testing.T) {
	spec, err := LoadSpec("taihulight")
	if err != nil {
		t.Fatal(err)
	}
	work := func(tr Transport) error {
		switch tr.Rank() {
		case 0:
			if err := tr.Recv(1, []float32{0}); !errors.Is(err, ErrAborted) {
				t.Errorf("of rank 1, which has panicked, came error %v, want %v", err, ErrAborted)
				return nil
			}
			return errors.New("of rank 0")
		case 3:
			return nil
		}
		panic(tr.Rank())
	}
	for name, run := range map[string]func() error{
		"local": func() error { return NewLocal(4).Run(work) },
		"sim":   func() error { return NewSim(spec, Flat(4)).Run(func(t *SimRank) error { return work(t) }) },
	} {
		var p *relay.Panic
		func() {
			defer relay.Catch(&p)
			t.Errorf("%s: Run returned %v", name, run())
		}()
		if p == nil || p.Value != 1 || !strings.Contains(string(p.Stack), "TestRankPanics") {
			t.Errorf("%s: Run raised %v, want the panic of rank 1", name, p)
		}
	}
}
