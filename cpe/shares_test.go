package cpe

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestSharesFollowPace: a group that is four times as slow gets a fourth of the others' work, and as much once it has caught up.
func TestSharesFollowPace(t *testing.T) {
	const n = 900
	s := newShares(3)
	groups := []*CoreGroup{{}, {}, {}}
	run := func(each [3]time.Duration, want int) {
		t.Helper()
		for range 40 {
			for i, g := range groups {
				lo, hi := s.part(i, n)
				g.shared, g.got, g.spent = n, hi-lo, time.Duration(hi-lo)*each[i]
			}
			s.learn(groups)
		}
		if lo, hi := s.part(1, n); hi-lo < want-2 || hi-lo > want+2 {
			t.Errorf("%d units of %d, want %d", hi-lo, n, want)
		}
	}
	const unit = 40 * time.Microsecond
	run([3]time.Duration{unit, 4 * unit, unit}, 100)
	run([3]time.Duration{unit, unit, unit}, 300)
}

// lagging is a program whose core group 1 takes its time.
type lagging struct{ got [2]int }

func (*lagging) Name() string { return "lagging" }

func (l *lagging) RunGroup(g *CoreGroup) error {
	lo, hi := g.Share(1000)
	l.got[g.Index()] = hi - lo
	if g.Index() == 1 {
		time.Sleep(20 * time.Millisecond) // longer than other programs take a processor away
	}
	for start := time.Now(); time.Since(start) < 2*telling; {
	}
	return nil
}

// TestRunLearns: a machine shares by the pace of the programs that it has run.
func TestRunLearns(t *testing.T) {
	l := &lagging{}
	m := native(t, 2)
	for range 20 {
		if err := m.Run(l, 0); err != nil {
			t.Fatal(err)
		}
	}
	if l.got[1] > l.got[0]/2 {
		t.Errorf("the slow core group gets %d units, the other %d", l.got[1], l.got[0])
	}
}

// claiming is a program that counts how often each unit is claimed.
type claiming struct {
	most int
	done []atomic.Int32
}

func (*claiming) Name() string { return "claiming" }

func (p *claiming) RunGroup(g *CoreGroup) error {
	for lo, hi := g.Claim(len(p.done), p.most); lo < hi; lo, hi = g.Claim(len(p.done), p.most) {
		if hi-lo > p.most {
			return fmt.Errorf("%d units at once, want %d at most", hi-lo, p.most)
		}
		for i := lo; i < hi; i++ {
			p.done[i].Add(1)
		}
	}
	return nil
}

// TestClaim: core groups together get every unit once, each time that they run, also when turns begin anew.
func TestClaim(t *testing.T) {
	m := native(t, 3)
	m.claims.turn = lastTurn - 4
	for _, units := range []int{0, 1, 2, 7, 100} {
		for _, most := range []int{1, 5, 1000} {
			p := &claiming{most, make([]atomic.Int32, units)}
			for run := range 3 {
				if err := m.Run(p, 0); err != nil {
					t.Fatal(err)
				}
				for i := range p.done {
					if n := int(p.done[i].Load()); n != run+1 {
						t.Errorf("unit %d of %d was claimed %d times in %d runs", i, units, n, run+1)
					}
				}
			}
		}
	}
}

// native is this computer with a number of core groups.
func native(t *testing.T, groups int) *Machine {
	t.Helper()
	spec, err := Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = groups
	m, err := New(spec, Native)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
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
	for _, paces := range [][2]pace{
		{{shared: 10, got: 10, spent: long}, {shared: 10, spent: long}},
		{{shared: 10, got: 5, spent: long}, {shared: 10, got: 5, spent: telling / 2}},
		{{spent: long}, {spent: 2 * long}},
	} {
		s.learn([]*CoreGroup{{pace: paces[0]}, {pace: paces[1]}})
		if s.before[1] != 0.5 {
			t.Errorf("%v", s.before)
		}
	}
	for range 100 {
		s.learn([]*CoreGroup{{pace: pace{shared: 10, got: 5, spent: long}}, {pace: pace{shared: 10, got: 5, spent: 1000 * long}}})
	}
	if rest := 1 - s.before[1]; rest < leastShare/2*0.8 || rest > leastShare/2 {
		t.Errorf("a group that hardly moves gets %g", rest)
	}
}

// TestClaimsOwnPartFirst: a group claims its own part in order, half of what is left at a time at most, and then the others' parts.
func TestClaimsOwnPartFirst(t *testing.T) {
	m := native(t, 3)
	m.of = 3
	m.claims.begin()
	for _, want := range [][2]int{{10, 14}, {14, 17}, {17, 18}, {18, 19}, {19, 20}, {20, 24}} {
		if lo, hi := m.groups[1].Claim(30, 4); lo != want[0] || hi != want[1] {
			t.Errorf("the second of three groups claims [%d %d), want %v", lo, hi, want)
		}
	}
	if lo, hi := m.groups[2].Claim(30, 4); lo != 24 || hi != 27 {
		t.Errorf("the third group claims [%d %d), want [24 27): the second took four units of its part", lo, hi)
	}
}
