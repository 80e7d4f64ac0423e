//go:build unix

package cpe

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAsleep: workers that have nothing to do take no processor time.
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
	var ms int64
	for range 5 { // the collector may work in one of them
		before := used(t)
		time.Sleep(200 * time.Millisecond)
		if ms = (used(t) - before).Milliseconds(); ms < 5 {
			return
		}
	}
	t.Errorf("three workers take %d ms of processor time in 200 ms without a program", ms)
}

// used returns the processor time of all threads of this process.
func used(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}
