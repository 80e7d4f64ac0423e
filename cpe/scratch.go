package cpe

// Scratch is a kernel's need of scratch memory while it runs, in values: Common is shared by all core groups, Group is for each core group.
type Scratch struct{ Common, Group int }

// scratch is a machine's scratch memory.
type scratch struct {
	lent, own []float32 // memory lent by Lend, and the machine's own
	common    []float32 // the part that all core groups share
	kept      []float32 // the core groups' own parts, if these are separate; see keeps
}

// line is the number of values in a cache line.
const line = 16

// WholeLines rounds n up to whole cache lines.
func WholeLines(n int) int { return padded(n, line) }

// values is the total number of values for a number of core groups, in whole cache lines.
func (s Scratch) values(groups int) int { return WholeLines(s.Common) + groups*WholeLines(s.Group) }

// keeps reports whether the core groups' own scratch memory is separate from lent memory: on cores with caches, if it fits L2. It then stays
// in that cache from kernel to kernel. Memory that different cores write in turn moves between their caches line by line.
func (m *Machine) keeps(s Scratch) bool {
	return !m.HasDMA() && s.Group > 0 && 4*s.Group <= m.spec.LDMBytes
}

// Needs returns how many values of lent memory a kernel's scratch takes.
func (m *Machine) Needs(s Scratch) int {
	if m.keeps(s) {
		s.Group = 0
	}
	return s.values(len(m.groups))
}

// Lend provides memory of any length for kernels' scratch until the next Lend; nil takes it back.
func (m *Machine) Lend(memory []float32) { m.lent = memory }

// TakeScratch gives the next kernel its scratch memory, with undefined contents, until the next TakeScratch. It uses the lent memory or, if
// that is too small, the machine's own, which is then kept. It allocates only if no kernel has needed as much before.
func (m *Machine) TakeScratch(s Scratch) {
	if !m.mode.memory() {
		return
	}
	memory, n := m.lent, m.Needs(s)
	if len(memory) < n {
		m.own = room(m.own, n)
		memory = m.own
	}
	m.common, memory = memory[:s.Common], memory[WholeLines(s.Common):]
	each := WholeLines(s.Group)
	if m.keeps(s) { // room for any kernel that fits L2; two cores' room fills a large page (pages.Floats)
		each = WholeLines(m.spec.LDMFloats())
		m.kept = room(m.kept, len(m.groups)*each)
		memory = m.kept
	}
	for i, g := range m.groups {
		g.memory = memory[i*each:][:s.Group]
	}
}

// Common returns n values of the scratch memory that all core groups share. Its contents stay until the next TakeScratch.
func (m *Machine) Common(n int) []float32 {
	if !m.mode.memory() {
		return nil
	}
	return m.common[:n]
}
