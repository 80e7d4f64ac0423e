package events

// Break is a stretch of iterations in which a column is NaN or infinite.
type Break struct {
	Column int    `json:"column"`
	From   int    `json:"from"`  // the first such iteration
	To     int    `json:"to"`    // the last one so far
	Value  Number `json:"value"` // at From
}

// Best is the best value of a column: of a loss the lowest, of anything else the highest. A value counts only if all values of its point are
// finite: a net whose weights are NaN can have an accuracy of 1.
type Best struct {
	Iteration int    `json:"iteration"` // -1: there is none
	Value     Number `json:"value"`
}

// maxBreaks limits the breaks of a table. The last one is always the latest.
const maxBreaks = 100

// marks are what a table's rows do not tell once they are means: the iterations at which values became NaN or infinite, and the best values.
type marks struct {
	losses []bool // by column
	breaks []Break
	open   []int // by column: the number of the break that the last point is in; -1: none
	best   []Best
}

func newMarks(columns int, losses []bool) marks {
	m := marks{losses: losses, open: make([]int, columns), best: make([]Best, columns)}
	for i := range m.open {
		m.open[i] = -1
		m.best[i] = Best{Iteration: -1}
	}
	return m
}

// add takes a point. counts is false if its net is known not to be finite.
func (m *marks) add(iteration int, values []float64, counts bool) {
	for i, v := range values {
		if v-v == 0 {
			m.open[i] = -1
			continue
		}
		counts = false
		if k := m.open[i]; k >= 0 && m.breaks[k].Column == i {
			m.breaks[k].To = iteration
			continue
		}
		if len(m.breaks) == maxBreaks {
			m.breaks = m.breaks[:maxBreaks-1]
		}
		m.open[i] = len(m.breaks)
		m.breaks = append(m.breaks, Break{i, iteration, iteration, Number(v)})
	}
	if counts {
		m.improve(iteration, values)
	}
}

// improve takes the values that are better than all before.
func (m *marks) improve(iteration int, values []float64) {
	for i, v := range values {
		b := &m.best[i]
		if b.Iteration < 0 || v != float64(b.Value) && (v < float64(b.Value)) == m.losses[i] {
			*b = Best{iteration, Number(v)}
		}
	}
}

// broken reports whether a column's value at an iteration was NaN or infinite.
func (m *marks) broken(column, iteration int) bool {
	for _, b := range m.breaks {
		if b.Column == column && b.From <= iteration && iteration <= b.To {
			return true
		}
	}
	return false
}

// cut forgets what happened at and after an iteration.
func (m *marks) cut(iteration int, rows []Row, counts func(iteration int) bool) {
	kept := m.breaks[:0]
	for _, b := range m.breaks {
		if b.From < iteration {
			b.To = min(b.To, iteration-1)
			kept = append(kept, b)
		}
	}
	m.breaks = kept
	for i := range m.open {
		m.open[i] = -1
	}
	m.lose(iteration, rows, counts)
}

// lose forgets the best values at and after an iteration. The rows have those before, or means of them.
func (m *marks) lose(iteration int, rows []Row, counts func(iteration int) bool) {
	old := append([]Best(nil), m.best...)
	for i := range m.best {
		m.best[i] = Best{Iteration: -1}
	}
	for _, r := range rows {
		if r.Iteration < iteration && counts(r.Iteration) && allFinite(r.Values) {
			m.improve(r.Iteration, r.Values)
		}
	}
	for i, b := range old {
		if b.Iteration >= 0 && b.Iteration < iteration {
			m.best[i] = b
		}
	}
}

func allFinite(values []float64) bool {
	for _, v := range values {
		if v-v != 0 {
			return false
		}
	}
	return true
}
