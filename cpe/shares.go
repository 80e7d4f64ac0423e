package cpe

import (
	"fmt"
	"slices"
	"time"
)

// shares are the parts of the work that a native machine's core groups get. Other work on a processor, or on its other hyper-thread,
// takes much of its time or of its pace, for milliseconds to minutes, and a program ends with its slowest group: so each gets as much
// as its pace in the last programs says. Results do not depend on it, since what a unit of work gives does not depend on who does it.
type shares struct {
	before []float64 // of each group: the part of those before it; one more
	pace   []float64 // of each group, as parts of the sum
	fixed  bool      // by FixShares
}

const (
	// pursuit is how much of the way to what a program shows shares move with it.
	pursuit = 0.2
	// telling is the least duration of a program that shows something.
	telling = 20 * time.Microsecond
	// leastShare is the least part of an even share that a group gets, lest it shows nothing.
	leastShare = 0.3
)

func newShares(groups int) shares {
	s := shares{before: make([]float64, groups+1), pace: make([]float64, groups)}
	for i := range groups {
		s.before[i+1] = float64(i+1) / float64(groups)
	}
	return s
}

// FixShares gives each core group of a native machine the part of all work that parts says, from now on, whatever its pace. Parts are
// positive or 0, and 0 gives a group nothing at all. It is for tests: results must not depend on shares.
func (m *Machine) FixShares(parts []float64) error {
	if m.mode != Native || len(parts) != len(m.groups) {
		return fmt.Errorf("cpe: %d shares for a %v machine of %d core groups", len(parts), m.mode, len(m.groups))
	}
	var sum float64
	for _, p := range parts {
		sum += p
	}
	if !(sum > 0) || slices.Min(parts) < 0 {
		return fmt.Errorf("cpe: shares %v: none may be negative, nor all 0", parts)
	}
	var before float64
	for i, p := range parts {
		before += p / sum
		m.shares.before[i+1] = before
	}
	m.shares.before[len(parts)] = 1
	m.shares.fixed = true
	return nil
}

// part is the part lo <= i < hi of n units that a group gets: at least one, if there is one for each and shares are not fixed.
func (s *shares) part(group, n int) (lo, hi int) {
	return s.bound(group, n), s.bound(group+1, n)
}

// bound is the number of units of the groups before one.
func (s *shares) bound(group, n int) int {
	at, groups := int(s.before[group]*float64(n)+0.5), len(s.pace)
	if n < groups || s.fixed {
		return min(at, n)
	}
	return min(max(at, group), n-groups+group)
}

// learn moves the shares towards the pace that groups had in a program which they have all taken part in.
func (s *shares) learn(groups []*CoreGroup) {
	if s.fixed {
		return
	}
	var sum float64
	for i, g := range groups {
		if g.got == 0 || g.spent < telling {
			return
		}
		s.pace[i] = float64(g.got) / float64(g.shared) / float64(g.spent)
		sum += s.pace[i]
	}
	least := leastShare / float64(len(groups))
	var all float64
	for i, pace := range s.pace {
		share := s.before[i+1] - s.before[i]
		s.pace[i] = max(least, share+pursuit*(pace/sum-share))
		all += s.pace[i]
	}
	var before float64
	for i, share := range s.pace {
		before += share / all
		s.before[i+1] = before
	}
	s.before[len(groups)] = 1
}
