package topology

import (
	"slices"
	"sync"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// TestWatch: a watched all-reduce has the bits of one that is not watched, in the same way; and every message is seen by both ranks with the
// same number and length.
func TestWatch(t *testing.T) {
	type half struct {
		from, to int
		number   int64
		bytes    int
	}
	const ranks, n = 3, 1029
	var mu sync.Mutex
	var sent, received []half
	sums := make([][]float32, 2*ranks)
	for k, wrap := range []func(Transport) Transport{
		func(t Transport) Transport { return t },
		func(t Transport) Transport {
			rank := t.Rank()
			return Watch(t, func(c Call) {
				mu.Lock()
				defer mu.Unlock()
				if c.To != None {
					sent = append(sent, half{rank, c.To, c.Sent, c.SendBytes})
				}
				if c.From != None {
					received = append(received, half{c.From, rank, c.Received, c.RecvBytes})
				}
				if c.End.Before(c.Begin) || c.Begin.IsZero() {
					panic("a call ends before it begins")
				}
			})
		},
	} {
		err := NewLocal(ranks).Run(func(own Transport) error {
			tr := wrap(own)
			a := NewAllReduce(tr, NewSchedule("ring", Flat(ranks), n))
			if a.adder == nil {
				panic("ranks that share memory do not add in place")
			}
			data := make([]float32, n)
			for i := range data {
				data[i] = 1 / float32(1+i+n*tr.Rank())
			}
			for range 2 {
				if err := a.Run(data); err != nil {
					return err
				}
				vec.Scale(data, data, 0.3)
			}
			sums[ranks*k+tr.Rank()] = data
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for r := range ranks {
		if !slices.Equal(sums[r], sums[ranks+r]) {
			t.Errorf("rank %d: the watched sum differs", r)
		}
	}
	if len(sent) != 2*ranks*2*(ranks-1) || len(received) != len(sent) { // each rank sends 2(P-1) messages in a ring
		t.Fatalf("%d messages sent, %d received", len(sent), len(received))
	}
	for _, s := range sent {
		if !slices.Contains(received, s) {
			t.Errorf("message %+v is not seen by its receiver", s)
		}
	}
}
