package cpe

import "sync/atomic"

// claims counts the units of the current program that have been claimed, of each core group's part.
type claims struct {
	turn uint64 // the number of the current program, from 1 to lastTurn
	from []claimed
}

// claimed counts units of one part. A count that begins with another turn is of an earlier program, and counts nothing.
type claimed struct {
	units atomic.Uint64
	_     [lineBytes]byte
}

const (
	unitBits = 48
	lastTurn = 1<<(64-unitBits) - 1
)

func newClaims(groups int) claims { return claims{from: make([]claimed, groups)} }

// begin begins a program. It writes to the lines of the core groups only when turns begin anew.
func (c *claims) begin() {
	if c.turn++; c.turn > lastTurn {
		c.turn = 1
		for i := range c.from {
			c.from[i].units.Store(0)
		}
	}
}

// count returns the number of units of a group's part that have been claimed, and what stands for it.
func (c *claims) count(group int) (units int, word uint64) {
	word = c.from[group].units.Load()
	if word>>unitBits != c.turn {
		return 0, word
	}
	return int(word & (1<<unitBits - 1)), word
}

// take claims the next units of a group's part of n units: at most most, and fewer towards the end.
func (c *claims) take(group, n, most int) (first, some int) {
	for {
		units, word := c.count(group)
		some := min(n-units, most, max(1, (n-units)/2))
		if some == 0 || c.from[group].units.CompareAndSwap(word, c.turn<<unitBits|uint64(units+some)) {
			return units, some
		}
	}
}

// Claim is dynamic scheduling with affinity: a group computes the units of its part (Share) first, in order, and then takes units that others have not begun. A group
// that is slowed down by other programs computes fewer. In all programs of a net a group computes about the same parts of images, which are in its own cache: between
// cores without a common one, a cache line takes a third of a microsecond there and back. Claim returns units lo <= i < hi of n: at most most; lo = hi if none
// are left. Results must not depend on which group computes a unit. (Affinity scheduling, Markatos and LeBlanc, Supercomputing '92.)
func (g *CoreGroup) Claim(n, most int) (lo, hi int) {
	m := g.machine
	if m.surveys() {
		if units, _ := m.claims.count(g.index); units == 0 {
			m.survey.units(Units{n, most})
		}
		if m.mode == Surveyed {
			return 0, 0
		}
	}
	for i := range m.of {
		group := (g.index + i) % m.of
		lo, hi := m.part(group, n)
		if first, some := m.claims.take(group, hi-lo, most); some > 0 {
			return lo + first, lo + first + some
		}
	}
	return n, n
}
