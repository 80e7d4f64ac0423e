package cpe

import (
	"fmt"
	"slices"
	"time"
)

// shares are the core groups' parts of the work on a native machine. Other programs on a processor, or on its other hyper-thread, slow a core
// group down for milliseconds to minutes, and a program ends with its slowest group. Each group therefore gets a part in proportion to its
// pace in the last programs. Results do not depend on the parts, since the result of a unit of work does not depend on who computes it.
type shares struct {
	before []float64 // for each group, the sum of the parts of the groups before it; the last entry is 1
	pace   []float64 // each group's pace, relative to the sum
	fixed  bool      // set by FixShares
}

const (
	// pursuit is the fraction of the way that shares move towards the paces of the last program.
	pursuit = 0.2
	// telling is the shortest program whose paces count.
	telling = 20 * time.Microsecond
	// leastShare is the smallest part of a group, relative to an even share. With less, its pace could not be measured.
	leastShare = 0.3
)

func newShares(groups int) shares {
	s := shares{before: make([]float64, groups+1), pace: make([]float64, groups)}
	for i := range groups {
		s.before[i+1] = float64(i+1) / float64(groups)
	}
	return s
}

// FixShares fixes each core group's part of all work on a native machine, whatever its pace. Parts are not negative; a group with part 0 gets
// nothing at all. It is for tests: results must not depend on shares.
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

// part returns a group's part lo <= i < hi of n units: at least one, if there are enough for all groups and shares are not fixed.
func (s *shares) part(group, n int) (lo, hi int) {
	return s.bound(group, n), s.bound(group+1, n)
}

// bound returns the number of units of the groups before a group.
func (s *shares) bound(group, n int) int {
	at, groups := int(s.before[group]*float64(n)+0.5), len(s.pace)
	if n < groups || s.fixed {
		return min(at, n)
	}
	return min(max(at, group), n-groups+group)
}

// learn moves the shares towards the groups' paces in a program in which all took part.
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
