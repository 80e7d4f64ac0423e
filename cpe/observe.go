package cpe

import "time"

// Stint is one core group's part of a run of a program: in real time on a native machine, in modelled time on another.
type Stint struct {
	Group  int
	Begun  time.Time // native
	Took   time.Duration
	From   VTime // modelled: charged before the group's threads ran, their start included
	Lasted VTime
}

// observed holds how a machine's work is watched; see Observe and StartTrace.
type observed struct {
	tracing  bool
	observer func(program string, list []Stint) // nil: none
	stints   []Stint
}

// Observe has f called after every run of a program, by the goroutine that runs it; nil ends that. The list is valid during the call. It must
// not be called while a program runs.
func (m *Machine) Observe(f func(program string, list []Stint)) { m.observer = f }

// tell tells the observer of a run on the first core groups. begun is what had been charged when their threads had started.
func (m *Machine) tell(p Program, groups int, begun VTime) {
	if m.observer == nil {
		return
	}
	m.stints = m.stints[:0]
	for _, g := range m.groups[:groups] {
		s := Stint{Group: g.index}
		if m.mode == Native {
			s.Begun, s.Took = g.begun, g.spent
		} else {
			s.From, s.Lasted = begun, g.ledger.Time
		}
		m.stints = append(m.stints, s)
	}
	m.observer(p.Name(), m.stints)
}
