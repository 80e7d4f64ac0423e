package cpe

import (
	"runtime"
	"strings"
	"testing"
)

// TestHostOfSomeCores: a machine of this computer has as many core groups as it was asked for, as many as Go uses by default, and a number that
// cannot be is an error with it.
func TestHostOfSomeCores(t *testing.T) {
	for cores, want := range map[int]int{0: runtime.GOMAXPROCS(0), 1: 1, 3: 3} {
		m, err := NewHost(cores)
		if err != nil {
			t.Fatal(err)
		}
		p := &counting{make([]int, 64)}
		if err := m.Run(p, 0); err != nil {
			t.Fatal(err)
		}
		m.Close()
		ran := 0
		for _, n := range p.runs {
			ran += n
		}
		if got := m.Spec().CoreGroups; got != want || ran != want {
			t.Errorf("%d cores: %d core groups, of which %d ran; want %d", cores, got, ran, want)
		}
	}
	for cores, want := range map[int]string{-1: "-1: the number of cores cannot be negative", 1 << 30: "1073741824: this computer has"} {
		if _, err := NewHost(cores); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d cores: %v, want %q", cores, err, want)
		}
	}
}
