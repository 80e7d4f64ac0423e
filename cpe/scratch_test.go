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

// TestKeptScratch: the first kernel that takes scratch memory of its core groups' own allocates it for all kernels whose scratch fits L2.
func TestKeptScratch(t *testing.T) {
	spec, err := Load("host")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(spec, Native)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.TakeScratch(Scratch{Group: 17})
	if want := spec.LDMFloats() * len(m.groups); len(m.kept) != want {
		t.Errorf("core groups keep %d values, expected %d", len(m.kept), want)
	}
}

// carver takes all storage that is reserved for tiles.
type carver struct{ values []float32 }

func (c *carver) Name() string { return "carver" }

func (c *carver) RunGroup(g *CoreGroup) error {
	g.Free()
	c.values = g.carve(9000)
	return nil
}

// TestReserve: planning kernels allocates no storage for tiles; the next run does, for the largest.
func TestReserve(t *testing.T) {
	spec, err := Load("host")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(spec, Native)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, n := range []int{4000, 9000, 500} {
		if m.Reserve(n); m.groups[0].tiles != nil {
			t.Fatalf("reserving %d values allocates %d", n, len(m.groups[0].tiles))
		}
	}
	c := &carver{}
	if err := m.Run(c, 1); err != nil {
		t.Fatal(err)
	}
	if len(c.values) != 9000 {
		t.Errorf("a core group stores %d values for tiles, expected 9000", len(c.values))
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
