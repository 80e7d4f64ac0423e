package cpe

// Mode is how a machine executes kernels.
type Mode int

const (
	// Native runs on this computer's cores and charges nothing.
	Native Mode = iota
	// Functional moves real tiles through LDM-sized buffers and charges their costs.
	Functional
	// CostOnly charges the same costs without moving values.
	CostOnly
	// Planned is a Native machine that plans kernels and runs none.
	Planned
	// Surveyed is a Planned machine whose programs run without any units of work, to tell how they divide it; see Machine.Survey.
	Surveyed
)

// String returns the mode's name.
func (m Mode) String() string {
	return [...]string{"native", "functional", "cost only", "planned", "surveyed"}[m]
}

// native reports whether this is a mode of the machine that describes this computer.
func (m Mode) native() bool { return m == Native || m == Planned || m == Surveyed }

// values reports whether programs read and write values.
func (m Mode) values() bool { return m == Native || m == Functional }

// memory reports whether programs have scratch memory and tiles, which they cut before they know their units.
func (m Mode) memory() bool { return m.values() || m == Surveyed }

// DefaultMode is Native for the machine that describes this computer and Functional for all others.
func DefaultMode(s Spec) Mode {
	if s.native {
		return Native
	}
	return Functional
}
