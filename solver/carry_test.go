package solver

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/topology"
)

// TestCarry: a training whose teams lose and gain workers in the middle of iterations, and carries its state in memory, ends with the weights of one
// worker up to rounding, for every strategy whose workers hold the whole state; of EASGD's, the centre goes on.
func TestCarry(t *testing.T) {
	text := unevenNet + "max_iter: 12 test_interval: 0"
	var want []float32
	if err := (crew{text: text}).run(t, func(_ int, s *Solver) error {
		defer func() { want = weights(s) }()
		return s.Solve()
	}); err != nil {
		t.Fatal(err)
	}
	lost := errors.New("lost")
	for _, strategy := range []string{Sync, "sync_easgd1", "sync_easgd3", "decentralised_easgd"} {
		var bytes []byte
		var got []float32
		at := 0
		for _, size := range []int{3, 2, 4, 1, 3} {
			until := at + 3
			c := crew{workers: size, text: text, team: Team{Strategy: strategy}}
			c.options = func(rank int, o *Options) {
				o.Carries = func(err error) bool { return errors.Is(err, lost) || errors.Is(err, topology.ErrAborted) }
				calls := at
				o.OnGradients = func() error {
					if calls++; rank == size-1 && calls > until && until < 12 {
						return lost
					}
					return nil
				}
			}
			err := c.run(t, func(rank int, s *Solver) error {
				if bytes != nil {
					carried, err := UnmarshalCarried(bytes)
					if err == nil {
						err = s.Resume(carried)
					}
					if err != nil {
						return err
					}
				}
				err := s.Solve()
				if rank > 0 {
					return err
				}
				carried, failed := s.Carry()
				if failed != nil {
					return failed
				}
				if carried.Iter() < min(until, 12) {
					t.Errorf("%s, %d workers: iteration %d is carried, want %d", strategy, size, carried.Iter(), until)
				}
				at = carried.Iter()
				bytes, failed = carried.Marshal()
				got = weights(s)
				return errors.Join(err, failed)
			})
			if until < 12 && !errors.Is(err, lost) {
				t.Fatalf("%s, %d workers: %v", strategy, size, err)
			}
			if err == nil {
				break
			}
		}
		if at != 12 {
			t.Errorf("%s: ended at iteration %d", strategy, at)
		}
		for i := range want {
			if strategy == Sync && math.Abs(float64(got[i]-want[i])) > 1e-5 {
				t.Errorf("%s: weight %d is %g, want %g", strategy, i, got[i], want[i])
			}
		}
	}
	if _, err := UnmarshalCarried(slices.Repeat([]byte{255}, 9)); err == nil {
		t.Error("a state that is not whole was read")
	}
}
