package cpe

import "testing"

// TestStart: a run costs one start of the CPEs' threads, in both modes, however many core groups it has; one that resumes costs none, nor does one
// that leaves all its work to the management cores. Further starts add up. Stints begin when the threads run.
func TestStart(t *testing.T) {
	s := load(t, "sw26010")
	start := s.StartTime()
	if start != fromNs(28000) {
		t.Fatalf("a start takes %v, want 28 us", start)
	}
	leave := func(g *CoreGroup) error { return g.LeaveToMPE(11600, 0, func() error { return nil }) }
	multiply := func(g *CoreGroup) error { return rising{}.RunGroup(g) }
	for _, c := range []struct {
		name   string
		run    program
		groups int
		starts VTime
	}{
		{"one core group", multiply, 1, 1},
		{"all core groups", multiply, 0, 1},
		{"nothing to do", func(*CoreGroup) error { return nil }, 0, 1},
		{"all left to the management cores", leave, 0, 0},
		{"some left by one core group", func(g *CoreGroup) error {
			if g.Index() > 0 {
				return multiply(g)
			}
			return leave(g)
		}, 0, 1},
		{"left by one core group, nothing to do for the others", func(g *CoreGroup) error {
			if g.Index() > 0 {
				return nil
			}
			return leave(g)
		}, 0, 0},
		{"CPEs first", func(g *CoreGroup) error {
			g.Multiply(8, 8, 8, true, Scheduled, 0)
			return leave(g)
		}, 0, 1},
		{"two more", func(g *CoreGroup) error { g.StartAgain(2); return nil }, 0, 3},
		{"none more", func(g *CoreGroup) error { g.StartAgain(-1); return nil }, 0, 1},
	} {
		for _, mode := range []Mode{CostOnly, Functional} {
			m, err := New(s, mode)
			if err != nil {
				t.Fatal(err)
			}
			var from VTime
			m.Observe(func(_ string, list []Stint) { from = list[0].From })
			if err := m.Resume(c.run, c.groups); err != nil {
				t.Fatal(err)
			}
			resumed := m.Ledger()
			if from != 0 {
				t.Errorf("%s, mode %v: resumed, its stints begin at %v", c.name, mode, from)
			}
			if err := m.Run(c.run, c.groups); err != nil {
				t.Fatal(err)
			}
			ran := m.Ledger().Sub(resumed)
			first := min(c.starts, 1)
			if got, want := ran.Time-resumed.Time, first*start; got != want || ran.Latency-resumed.Latency != want {
				t.Errorf("%s, mode %v: starting takes %v, of latency %v, want %v", c.name, mode, got, ran.Latency-resumed.Latency, want)
			}
			if want := resumed.Time + first*start; from != want {
				t.Errorf("%s, mode %v: stints begin at %v, want %v", c.name, mode, from, want)
			}
			if c.starts > 1 && resumed.Time != (c.starts-1)*start {
				t.Errorf("%s, mode %v: further starts take %v, want %v", c.name, mode, resumed.Time, (c.starts-1)*start)
			}
			m.Close()
		}
	}
}
