package faultnet

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/swcaffe/swcaffe/solver/centre"
	"github.com/swcaffe/swcaffe/topology"
)

// exchanger is a worker's connection to the centre, as the solver has it.
type exchanger interface {
	Exchange(m centre.Message) error
	Leave(m centre.Message) error
	Kept(m centre.Message) error
	Fail(err error)
}

// centres are the messages of the strategies with a centre: rounds of requests, a snapshot at some of them if workers take turns, and the
// leave. A worker may leave after a stop that a signal has asked of another.
func centres(s schedule) (trace uint64, err error) {
	kind := centre.Kind{Order: centre.Order(s.random.IntN(3)), Rule: centre.Rule(s.random.IntN(2))}
	kind.Momentum = kind.Rule == centre.Descend && kind.Order != centre.Unlocked && s.random.IntN(2) == 0
	n, rounds := 1+s.random.IntN(20), 1+s.random.IntN(5)
	snapshotAt := -1
	if kind.Order == centre.InTurn && s.random.IntN(2) == 0 {
		snapshotAt = s.random.IntN(rounds)
	}
	stopAt, stopBy := -1, s.random.IntN(s.size)
	if s.random.IntN(4) == 0 {
		stopAt = s.random.IntN(rounds)
	}
	c := centre.New(kind, s.size, 0, make([]float32, n), n)
	net := New(s.size, s.faults)
	done := make([]int, s.size)
	errs := net.Run(func(t topology.Transport) error {
		var way exchanger = centre.Remote{Transport: t}
		if t.Rank() == 0 {
			c.Begin()
			way = centre.Serve(c, t)
		}
		err := exchanges(way, t.Rank(), n, rounds, snapshotAt, s.pauses(t.Rank()), func(round int) centre.Action {
			if round == stopAt && t.Rank() == stopBy {
				return centre.Stop
			}
			return centre.None
		}, &done[t.Rank()])
		if err != nil {
			way.Fail(err)
		}
		return err
	})
	if err := judge(s.faults, errs); err != nil {
		return 0, err
	}
	if s.faults.Lost == nil {
		err = checkCentre(c, kind, done, rounds, stopAt < 0)
	}
	return net.Trace(), err
}

// pauses returns what a worker calls in place of its passes.
func (s schedule) pauses(rank int) func() {
	random := rand.New(rand.NewPCG(s.faults.Seed, uint64(rank)))
	return func() { time.Sleep(upTo(random.Uint64(), time.Minute)) }
}

func exchanges(way exchanger, rank, n, rounds, snapshotAt int, pause func(), asks func(round int) centre.Action, done *int) error {
	m := centre.NewMessage(n)
	for round := range rounds {
		pause()
		for i := range m.Body() {
			m.Body()[i] = float32(rank + 1)
		}
		m.Request(0.5, asks(round))
		if err := way.Exchange(m); err != nil {
			return err
		}
		*done++
		stops := m.Agreed() == centre.Stop
		if round == snapshotAt {
			if err := way.Kept(m); err != nil {
				return err
			}
		}
		if stops {
			break
		}
	}
	return way.Leave(m)
}

// checkCentre compares the centre's weights with the sum of all steps, which are whole numbers, and the rounds of workers in turn with one
// another. Without a stop every worker has done all rounds.
func checkCentre(c *centre.Centre, kind centre.Kind, done []int, rounds int, whole bool) error {
	var want float32
	for rank, rounds1 := range done {
		if whole && rounds1 != rounds || kind.Order == centre.InTurn && rounds1 != done[0] {
			return fmt.Errorf("rank %d has done %d rounds of %d; rank 0 %d", rank, rounds1, rounds, done[0])
		}
		want -= float32(rounds1 * (rank + 1))
	}
	if kind.Rule == centre.Elastic {
		if kind.Order != centre.InTurn {
			return nil
		}
		want = 0
		for range done[0] {
			for rank := range done {
				want += 0.5 * (float32(rank+1) - want)
			}
		}
	}
	for i, w := range c.Weights {
		if w != want {
			return fmt.Errorf("weight %d of the centre is %g, want %g", i, w, want)
		}
	}
	return nil
}
