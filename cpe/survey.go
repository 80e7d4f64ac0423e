package cpe

import "time"

// Units is work that a program divides among core groups, as it told Share or Claim.
type Units struct {
	N    int // number of units
	Most int // Claim: the most that a core group takes at once; 0: Share
}

// Longest returns the units of the core group that has most of them when a number of core groups work at the same pace, relative to their
// mean: 1 is an even division, and groups if one core group has all.
func (u Units) Longest(groups int) float64 {
	if u.N <= 0 {
		return 1
	}
	return float64((u.N+groups-1)/groups*groups) / float64(u.N)
}

// Work is how a program's work is divided, as a survey found it.
type Work struct {
	Program string
	Groups  int     // the core groups that the program asks for
	Units   []Units // in the order in which core groups ask for them; none: every core group does the same
	// Began and Took say when the program ran, and for how long on one core group, on a native machine that computes.
	Began time.Time
	Took  time.Duration
}

// Longest returns the longest core group's part of the program's work, relative to the mean over a number of core groups of the machine. A
// program that divides nothing, or runs on one core group, is that core group's alone. Of several divisions the most uneven counts.
func (w *Work) Longest(groups int) float64 {
	if len(w.Units) == 0 {
		return float64(groups)
	}
	used, longest := min(w.Groups, groups), 1.0
	for _, u := range w.Units {
		longest = max(longest, u.Longest(used))
	}
	return longest * float64(groups) / float64(used)
}

// survey is how a machine's programs are looked at; see Survey.
type survey struct {
	found func(*Work) // nil: none
	work  Work
}

// Survey has every program run on one core group, which does the work of all, and has found called after it with the program's division; nil
// ends that. The argument is valid during the call. On a Surveyed machine programs are handed no units, so that nothing is computed; on a
// Native one the results are the same as without a survey. Survey must not be called while a program runs.
func (m *Machine) Survey(found func(*Work)) { m.survey.found = found }

// surveys reports whether programs run on one core group.
func (m *Machine) surveys() bool { return m.mode == Surveyed || m.survey.found != nil }

// units records units of the current program.
func (s *survey) units(u Units) {
	if s.found != nil {
		s.work.Units = append(s.work.Units, u)
	}
}

// tell tells of a program that asked for a number of core groups and ran on g.
func (s *survey) tell(p Program, groups int, g *CoreGroup) {
	if s.found == nil {
		return
	}
	s.work.Program, s.work.Groups, s.work.Began, s.work.Took = p.Name(), groups, g.begun, g.spent
	s.found(&s.work)
	s.work.Units = s.work.Units[:0]
}
