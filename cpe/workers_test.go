package cpe

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/base/relay"
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
		var asked, answered atomic.Int32
		there.init()
		back.init()
		const turns = 50
		go func() {
			for turn := range int32(turns) {
				there.await(func() bool { return asked.Load() > turn }, nil)
				answered.Add(1)
				back.ring()
			}
		}()
		for turn := range int32(turns) {
			time.Sleep(pause)
			asked.Add(1)
			there.ring()
			back.await(func() bool { return answered.Load() > turn }, nil)
			if n := answered.Load(); n != turn+1 {
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
	for _, groups := range []int{1, 2, 3, 9, 10, 26} { // one to four teams
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

// TestHelp: the caller does the parts of workers that have not begun: of all three and, as they begin one after the other, of fewer. A worker that begins late
// runs no earlier program.
func TestHelp(t *testing.T) {
	const groups = 4
	m := native(t, groups)
	for i, g := range m.groups[1:] {
		m.workers.all[i].place = groups // takes part in no call
		one := &worker{group: g, place: i}
		one.start.init()
		m.workers.all[i] = one
	}
	p := &counting{make([]int, groups)}
	for turn := 1; turn <= 60; turn++ {
		if turn%20 == 0 {
			go m.workers.work(m.workers.all[turn/20-1], groups)
		}
		if err := m.Run(p, groups); err != nil {
			t.Fatal(err)
		}
		if want := slices.Repeat([]int{turn}, groups); !slices.Equal(p.runs, want) {
			t.Fatalf("core groups ran %v times, want %v", p.runs, want)
		}
		for i, g := range m.groups[1:] {
			if first := m.groups[0]; turn < 20 && (!g.begun.Equal(first.begun) || g.spent < first.spent) {
				t.Errorf("turn %d: core group %d took %v from %v after the program's beginning, the caller %v", turn, i+1, g.spent, g.begun.Sub(first.begun), first.spent)
			}
		}
		if turn%7 == 0 {
			time.Sleep(2 * patience)
		}
	}
}

// TestAsleep: workers that have nothing to do sleep, and leave their processors to other programs.
func TestAsleep(t *testing.T) {
	spec, err := Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = 4
	m, err := New(spec, Native)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Run(&counting{make([]int, 4)}, 4); err != nil {
		t.Fatal(err)
	}
	for i, one := range m.workers.all {
		for begin := time.Now(); !one.start.asleep.Load(); time.Sleep(time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("worker %d has polled for 10 s", i)
			}
		}
	}
}

// TestGroupsFor: a core group for each half of the least work, from two on.
func TestGroupsFor(t *testing.T) {
	m := native(t, 9)
	for work, want := range map[int]int{0: 1, 99: 1, 100: 2, 299: 4, 300: 6, 400: 8, 500: 9, 1 << 30: 9} {
		if got := m.GroupsFor(work, 100); got != want {
			t.Errorf("%d core groups for %d, want %d", got, work, want)
		}
	}
	if one := native(t, 1).GroupsFor(1<<30, 100); one != 1 {
		t.Errorf("%d core groups of one", one)
	}
}

// broken fails on one core group, in one of some ways.
type broken struct {
	group int
	way   func()
}

func (broken) Name() string { return "broken" }

func (b broken) RunGroup(g *CoreGroup) error {
	if g.Index() == b.group {
		b.way()
	}
	return nil
}

// TestWorkersPanic: a panic on any core group, whatever its kind, is raised in the caller's goroutine with the group's stack, and the machine
// then runs other programs.
func TestWorkersPanic(t *testing.T) {
	overrun := func() {
		list := make([]int, 3)
		list[len(os.Args)+3]++
	}
	outside := uintptr(0xfffff000)
	ways := map[string]func(){
		"shape 3 x 4":    func() { panic("cpe: shape 3 x 4, have 5 x 6") },
		"out of range":   overrun,
		"nil pointer":    func() { *(*[]int)(nil) = nil },
		"memory address": func() { **(**int)(unsafe.Pointer(&outside)) = 1 }, // no memory is there
	}
	for _, name := range []string{"host", "sw26010"} {
		spec, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		spec.CoreGroups = 3
		m, err := New(spec, DefaultMode(spec))
		if err != nil {
			t.Fatal(err)
		}
		for words, way := range ways {
			for group := range 3 {
				if words == "memory address" && (name != "host" || group == 0) {
					continue // the caller decides for its own goroutine
				}
				p := caught(func() { t.Errorf("%s: no panic: %v", words, m.Run(broken{group, way}, 0)) })
				if p == nil {
					continue
				}
				if text := p.Error(); !strings.Contains(text, words) || !strings.Contains(text, "broken.RunGroup") {
					t.Errorf("%s, %s, group %d: %v", name, words, group, text)
				}
				ran := &counting{make([]int, 3)}
				if err := m.Run(ran, 0); err != nil || !slices.Equal(ran.runs, []int{1, 1, 1}) {
					t.Fatalf("%s, %s, group %d: the next program ran %v times, error %v", name, words, group, ran.runs, err)
				}
			}
		}
		m.Close()
	}
}

// caught returns the panic of f.
func caught(f func()) (p *relay.Panic) {
	defer relay.Catch(&p)
	f()
	return nil
}

// BenchmarkRunNothing measures what a program costs that does nothing.
func BenchmarkRunNothing(b *testing.B) {
	spec, err := Load("host")
	if err != nil {
		b.Fatal(err)
	}
	for _, groups := range []int{1, 2} {
		spec.CoreGroups = groups
		m, err := New(spec, Native)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d groups", groups), func(b *testing.B) {
			p := &counting{make([]int, groups)}
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Run(p, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		m.Close()
	}
}
