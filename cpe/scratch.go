package cpe

// Scratch is main memory that a kernel works in while it runs, in values: Common is what all core groups see, Group what each has
// to itself.
type Scratch struct{ Common, Group int }

// line is a cache line, in values.
const line = 16

// WholeLines returns the least number of values, n or more, that fills cache lines.
func WholeLines(n int) int { return padded(n, line) }

// values is how many values scratch takes on a number of core groups: a multiple of a cache line.
func (s Scratch) values(groups int) int { return WholeLines(s.Common) + groups*WholeLines(s.Group) }

// keeps reports whether core groups have room of their own for what each has to itself: on the host, where it fits a core's L2 cache. It stays in
// there from kernel to kernel, while memory that one core has written last and another writes next passes between their caches, line by line.
func (m *Machine) keeps(s Scratch) bool {
	return m.Native() && s.Group > 0 && 4*s.Group <= m.spec.LDMBytes
}

// Needs returns how many values of memory that is lent a kernel's scratch takes.
func (m *Machine) Needs(s Scratch) int {
	if m.keeps(s) {
		s.Group = 0
	}
	return s.values(len(m.groups))
}

// Lend lets kernels have memory, whatever its length, for scratch until the next Lend; nil takes it back.
func (m *Machine) Lend(memory []float32) { m.lent = memory }

// TakeScratch gives the kernel that will run next its scratch, of undefined contents, until the next TakeScratch: of the memory that
// was lent, or, where that is too little, of the machine's own, which then is kept. It allocates only if no kernel has taken as much
// before.
func (m *Machine) TakeScratch(s Scratch) {
	if !m.Values() {
		return
	}
	memory, n := m.lent, m.Needs(s)
	if len(memory) < n {
		m.own = room(m.own, n)
		memory = m.own
	}
	m.common, memory = memory[:s.Common], memory[WholeLines(s.Common):]
	each := WholeLines(s.Group)
	if m.keeps(s) {
		each = WholeLines(m.spec.LDMFloats())
		m.kept = room(m.kept, len(m.groups)*each)
		memory = m.kept
	}
	for i, g := range m.groups {
		g.memory = memory[i*each:][:s.Group]
	}
}

// Common returns n values of the scratch that all core groups see. What is written there stays until the next TakeScratch.
func (m *Machine) Common(n int) []float32 {
	if !m.Values() {
		return nil
	}
	return m.common[:n]
}
