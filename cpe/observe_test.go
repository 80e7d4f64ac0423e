package cpe

import (
	"slices"
	"testing"
	"time"
)

// rising makes core group i multiply i+1 times.
type rising struct{}

func (rising) Name() string { return "rising" }

func (rising) RunGroup(g *CoreGroup) error {
	for range g.Index() + 1 {
		g.Multiply(8, 8, 8, true, Scheduled, 8*8*8*2*64)
	}
	return nil
}

// TestObserve: an observer has every run with its core groups' times, which begin where those of the run before end; without one nothing is told.
func TestObserve(t *testing.T) {
	m := started(t)
	var got []Stint
	runs := 0
	m.Observe(func(program string, list []Stint) {
		if runs++; program != "rising" {
			t.Errorf("program %q", program)
		}
		got = append(got, slices.Clone(list)...)
	})
	for _, groups := range []int{4, 3} {
		if err := m.Run(rising{}, groups); err != nil {
			t.Fatal(err)
		}
	}
	m.Observe(nil)
	total := m.Ledger().Time
	if err := m.Run(rising{}, 4); err != nil {
		t.Fatal(err)
	}
	one := got[0].Lasted
	if runs != 2 || len(got) != 7 || one == 0 {
		t.Fatalf("%d runs, %+v; want 4 stints and 3", runs, got)
	}
	for i, s := range got {
		want := Stint{Group: i % 4, Lasted: one * VTime(i%4+1)}
		if i >= 4 {
			want.From = 4 * one
		}
		if s != want {
			t.Errorf("stint %d is %+v, want %+v", i, s, want)
		}
	}
	if total != 7*one {
		t.Errorf("the ledger has %v, want %v", total, 7*one)
	}
}

// TestObserveNative: stints lie inside of the run.
func TestObserveNative(t *testing.T) {
	spec := load(t, "host")
	spec.CoreGroups = 3
	m, err := New(spec, Native)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var list []Stint
	m.Observe(func(_ string, l []Stint) { list = slices.Clone(l) })
	before := time.Now()
	if err := m.Run(&counting{make([]int, 3)}, 3); err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	if len(list) != 3 {
		t.Fatalf("%d stints, want 3", len(list))
	}
	for i, s := range list {
		if s.Group != i || s.Begun.Before(before) || s.Begun.Add(s.Took).After(after) || s.Lasted != 0 {
			t.Errorf("stint %d is %+v", i, s)
		}
	}
}
