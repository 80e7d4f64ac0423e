package cpe

import (
	"testing"
	"time"
)

// counting notes what each core group did.
type counting struct{ runs []int }

func (*counting) Name() string { return "counting" }

func (c *counting) RunGroup(g *CoreGroup) error {
	c.runs[g.Index()]++
	return nil
}

// TestBell: rings before the wait, while the waiting goroutine looks, yields and sleeps.
func TestBell(t *testing.T) {
	for _, pause := range []time.Duration{0, 3 * time.Microsecond, patience / 3, patience, 20 * patience} {
		var there, back bell
		there.init()
		back.init()
		const turns = 50
		go func() {
			for range turns {
				there.await(nil)
				back.ring()
			}
		}()
		for turn := range turns {
			time.Sleep(pause)
			there.ring()
			back.await(nil)
			if n := back.rings.Load(); n != uint32(turn+1) {
				t.Fatalf("pause %v: turn %d ended after %d answers", pause, turn, n)
			}
		}
	}
}

// TestWorkers: programs one after the other on all, some and one of the core groups, more of them than processors, workers awake and
// asleep.
func TestWorkers(t *testing.T) {
	spec, err := Load("host")
	if err != nil {
		t.Fatal(err)
	}
	for _, groups := range []int{1, 2, 3, 9} {
		spec.CoreGroups = groups
		m, err := New(spec, Native)
		if err != nil {
			t.Fatal(err)
		}
		p := &counting{make([]int, groups)}
		want := make([]int, groups)
		for turn := range 300 {
			n := 1 + turn%groups
			if err := m.Run(p, n); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				want[i]++
			}
			for i, runs := range p.runs {
				if runs != want[i] {
					t.Fatalf("%d groups, turn %d: group %d ran %d times, want %d", groups, turn, i, runs, want[i])
				}
			}
			if turn%30 == 0 {
				time.Sleep(2 * patience)
			}
		}
		m.Close()
	}
}
