package cpe

import "testing"

// TestScratch: a kernel's scratch is apart for all and for each core group. It is of what was lent, if that is enough, but where what a core group
// has to itself fits its cache it has room of its own for that.
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
	if m.TakeScratch(Scratch{Common: 17}); m.kept != nil {
		t.Errorf("core groups keep %d values for scratch that they share", len(m.kept))
	}
	few, many := Scratch{Common: 17, Group: 5}, Scratch{Common: 17, Group: spec.LDMFloats() + 1}
	if n := m.Needs(few); n != 32 {
		t.Fatalf("%v needs %d values that are lent, expected 32", few, n)
	}
	if n, want := m.Needs(many), 32+WholeLines(many.Group)*len(m.groups); n != want {
		t.Fatalf("%v needs %d values that are lent, expected %d", many, n, want)
	}
	for _, s := range []Scratch{few, many, few} {
		testScratch(t, m, s)
	}
	m.Lend(nil)
	if a := testing.AllocsPerRun(10, func() { m.TakeScratch(few); m.TakeScratch(many) }); a != 0 {
		t.Errorf("taking scratch allocates %g times", a)
	}
}

func testScratch(t *testing.T, m *Machine, s Scratch) {
	n, lentTo := m.Needs(s), 17
	if s.Group > m.spec.LDMFloats() {
		lentTo += s.Group * len(m.groups)
	}
	for _, c := range []struct{ lent, used int }{{n, lentTo}, {n - 1, 0}, {0, 0}, {n + 7, lentTo}} {
		memory := make([]float32, c.lent)
		m.Lend(memory)
		m.TakeScratch(s)
		parts := [][]float32{m.Common(17)}
		for _, g := range m.groups {
			parts = append(parts, g.Memory(s.Group))
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
		if written != c.used {
			t.Errorf("%d lent, %d of it written, expected %d", c.lent, written, c.used)
		}
	}
}
