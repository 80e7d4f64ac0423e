package cpe

import "testing"

// TestScratch: a kernel's scratch is apart for all and for each core group, and of what was lent, if that is enough.
func TestScratch(t *testing.T) {
	spec, err := Load("host")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(spec, Native)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := Scratch{Common: 17, Group: 5}
	n := s.Values(len(m.groups))
	if want := 32 + 16*len(m.groups); n != want {
		t.Fatalf("scratch takes %d values, expected %d", n, want)
	}
	for _, c := range []struct{ lent, used int }{{n, n}, {n - 1, 0}, {0, 0}, {n + 7, n}} {
		memory := make([]float32, c.lent)
		m.Lend(memory)
		m.TakeScratch(s)
		parts := [][]float32{m.Common(17)}
		for _, g := range m.groups {
			parts = append(parts, g.Memory(5))
		}
		for i, p := range parts {
			for k := range p {
				p[k] = float32(i + 1)
			}
		}
		for i, p := range parts {
			if p[0] != float32(i+1) || p[len(p)-1] != float32(i+1) {
				t.Errorf("%d lent: part %d of the scratch holds %v", c.lent, i, p)
			}
		}
		written := 0
		for _, v := range memory {
			if v != 0 {
				written++
			}
		}
		if want := min(c.used, 17+5*len(m.groups)); written != want {
			t.Errorf("%d lent, %d of it written, expected %d", c.lent, written, want)
		}
	}
	m.Lend(nil)
	if a := testing.AllocsPerRun(10, func() { m.TakeScratch(s) }); a != 0 {
		t.Errorf("taking scratch allocates %g times", a)
	}
}
