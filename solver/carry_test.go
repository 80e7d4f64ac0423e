package solver

import (
	"errors"
	"math"
	"slices"
	"sync"
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

// TestCarryCentre: what a worker carries of a centre that another one holds is the centre itself, momentum included, as of the worker's last message.
func TestCarryCentre(t *testing.T) {
	for _, strategy := range Strategies() {
		if !HasCentre(strategy) {
			continue
		}
		c := crew{workers: 3, text: unevenNet + "max_iter: 6 test_interval: 0", team: Team{Strategy: strategy}}
		c.options = func(_ int, o *Options) { o.Carries = func(error) bool { return true } }
		all := make([]*Carried, c.workers)
		if err := c.run(t, func(rank int, s *Solver) error {
			err := s.Solve()
			if err == nil {
				all[rank], err = s.Carry()
			}
			return err
		}); err != nil {
			t.Fatalf("%s: %v", strategy, err)
		}
		if got := all[0].Version(); got != 2*3*6 {
			t.Errorf("%s: the centre has version %d after 6 messages of each of 3 workers", strategy, got)
		}
		last := 1 // of the other two
		if all[2].Version() > all[1].Version() {
			last = 2
		}
		if all[last].Version() != all[0].Version()-1 {
			continue // the first worker's message was the last one
		}
		near := func(what string, got, want []float32) {
			if len(got) != len(want) || len(want) == 0 {
				t.Errorf("%s: %d values of %s, want %d", strategy, len(got), what, len(want))
				return
			}
			for i := range want {
				if math.Abs(float64(got[i]-want[i])) > 1e-6 {
					t.Errorf("%s: %s %d is %g in the copy, %g in the centre", strategy, what, i, got[i], want[i])
					return
				}
			}
		}
		for i, l := range all[0].weights.GetLayer() {
			for j, b := range l.GetBlobs() {
				near("a weight of "+l.GetName(), all[last].weights.GetLayer()[i].GetBlobs()[j].GetData(), b.GetData())
			}
		}
		if strategy == "async_msgd" {
			for i, b := range all[0].state.GetHistory() {
				near("momentum", all[last].state.GetHistory()[i].GetData(), b.GetData())
			}
		}
	}
}

// TestCarryWithoutCentre: a team that loses the worker with the centre goes on from the copies of the others, with other numbers of workers, to the end.
func TestCarryWithoutCentre(t *testing.T) {
	lost := errors.New("lost")
	for _, strategy := range Strategies() {
		if !HasCentre(strategy) {
			continue
		}
		text := unevenNet + "max_iter: 12 test_interval: 0"
		var best *Carried
		for round := 0; ; round++ {
			size, begun := []int{3, 2, 4, 2}[round%4], 0
			if best != nil {
				begun = best.Iter()
			}
			leaves := []int{0, size - 1}[round%2]
			c := crew{workers: size, text: text, team: Team{Strategy: strategy}}
			c.options = func(rank int, o *Options) {
				o.Carries = func(error) bool { return true }
				calls := 0
				o.OnGradients = func() error {
					if calls++; rank == leaves && calls > 2 && round < 4 {
						return lost
					}
					return nil
				}
			}
			var mu sync.Mutex
			from := best
			err := c.run(t, func(rank int, s *Solver) error {
				if from != nil {
					bytes, err := from.Marshal()
					if err != nil {
						return err
					}
					own, err := UnmarshalCarried(bytes)
					if err == nil {
						err = s.Resume(own)
					}
					if err != nil {
						return err
					}
				}
				err := s.Solve()
				if rank == leaves && round < 4 {
					return err // what it has is lost
				}
				carried, failed := s.Carry()
				mu.Lock()
				defer mu.Unlock()
				if failed == nil && (best == from || carried.Version() > best.Version()) {
					best = carried
				}
				return errors.Join(err, failed)
			})
			if err == nil {
				break
			}
			if round >= 4 || !errors.Is(err, lost) {
				t.Fatalf("%s, %d workers: %v", strategy, size, err)
			}
			if from != nil && best.Version() < from.Version() {
				t.Errorf("%s: went on from version %d, then had %d", strategy, from.Version(), best.Version())
			}
			if strategy == "easgd" && best.Iter() < begun+1 {
				t.Errorf("%s, %d workers: from iteration %d to %d, though the lost worker had completed two", strategy, size, begun, best.Iter())
			}
		}
		if best.Iter() != 12 {
			t.Errorf("%s: ended at iteration %d", strategy, best.Iter())
		}
	}
}

// TestCarriedBest: a training that goes on from the state of another worker than the first knows the best value so far, and for how many tests it has been
// the best. Where no test has been yet, the best snapshot is another training's.
func TestCarriedBest(t *testing.T) {
	for _, strategy := range []string{Sync, "sync_easgd1", "easgd"} {
		c := crew{workers: 3, dir: t.TempDir(), text: wanderingNet, team: Team{Strategy: strategy}}
		c.options = func(_ int, o *Options) { o.Carries = func(error) bool { return true } }
		for _, iterations := range []int{11, 12, 0} {
			var want best
			states := make([][]byte, c.workers)
			if iterations > 0 {
				if err := c.run(t, func(rank int, s *Solver) error {
					err := s.Step(iterations)
					if rank == 0 {
						want = s.best
					}
					carried, failed := s.Carry()
					if err = errors.Join(err, failed); err == nil {
						states[rank], err = carried.Marshal()
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.run(t, func(rank int, s *Solver) error {
				s.footing.take(s, 0)
				carried, err := s.Carry()
				if iterations > 0 {
					carried, err = UnmarshalCarried(states[1])
				}
				if err == nil {
					err = s.Resume(carried)
				}
				if got := s.best; rank == 0 && (got.known != want.known || got.value != want.value || got.iter != want.iter || got.since != want.since) {
					t.Errorf("%s, %d iterations: %+v, want %+v", strategy, iterations, got, want)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
