package cpe

import (
	"testing"
	"time"
)

// paced is a work of n units, each of which takes a core group as long as said.
type paced struct {
	n    int
	each []time.Duration
	got  []int
}

func (*paced) Name() string { return "paced" }

func (p *paced) RunGroup(g *CoreGroup) error {
	lo, hi := g.Share(p.n)
	p.got[g.Index()] = hi - lo
	time.Sleep(time.Duration(hi-lo) * p.each[g.Index()])
	return nil
}

// TestSharesFollowPace: a group that is four times as slow gets about a fourth of the others' work, and as much once it has caught up.
func TestSharesFollowPace(t *testing.T) {
	spec, err := Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = 3
	m, err := New(spec, Native)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const unit = 40 * time.Microsecond
	p := &paced{900, []time.Duration{unit, 4 * unit, unit}, make([]int, 3)}
	run := func(least, most int) {
		t.Helper()
		for range 25 {
			if err := m.Run(p, 0); err != nil {
				t.Fatal(err)
			}
		}
		if got := p.got[1]; got < least || got > most {
			t.Errorf("%d units of %d, want %d to %d", got, p.n, least, most)
		}
	}
	run(90, 140)
	p.each[1] = unit
	run(240, 360)
}

// TestSharesCoverAll: shares lie behind each other and leave nothing out; each has a unit if there is one for each.
func TestSharesCoverAll(t *testing.T) {
	s := newShares(4)
	for _, before := range [][]float64{{0, .25, .5, .75, 1}, {0, .07, .5, .93, 1}, {0, .31, .62, .93, 1}} {
		copy(s.before, before)
		for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 1001} {
			next := 0
			for group := range 4 {
				lo, hi := s.part(group, n)
				if lo != next || hi < lo || n >= 4 && hi == lo {
					t.Errorf("%v: group %d gets %d to %d of %d", before, group, lo, hi, n)
				}
				next = hi
			}
			if next != n {
				t.Errorf("%v: %d of %d", before, next, n)
			}
		}
	}
}

// TestSharesNeedTelling: programs that are short, or in which a group gets nothing, change nothing.
func TestSharesNeedTelling(t *testing.T) {
	s := newShares(2)
	long := 10 * telling
	for _, groups := range [][]*CoreGroup{
		{{shared: 10, got: 10, spent: long}, {shared: 10, spent: long}},
		{{shared: 10, got: 5, spent: long}, {shared: 10, got: 5, spent: telling / 2}},
		{{spent: long}, {spent: 2 * long}},
	} {
		s.learn(groups)
		if s.before[1] != 0.5 {
			t.Errorf("%v", s.before)
		}
	}
	for range 100 {
		s.learn([]*CoreGroup{{shared: 10, got: 5, spent: long}, {shared: 10, got: 5, spent: 1000 * long}})
	}
	if rest := 1 - s.before[1]; rest < leastShare/2*0.8 || rest > leastShare/2 {
		t.Errorf("a group that hardly moves gets %g", rest)
	}
}
