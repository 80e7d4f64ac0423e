package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// figures are the contents of a table.
type figures struct {
	own       int    // the seed in the solvers
	seeds     []int  // the seeds of the ranges in ascending order, own among them
	processor string // the processors of all runs
	lines     []line
}

// line is a row's label with one figure per column.
type line struct {
	label string
	cells []cell
}

// cell is a figure for the own seed, and the smallest and largest figure of any seed.
type cell struct{ own, least, greatest string }

// collect collects a table's figures, from the seeds with which all of its solvers have finished. missing names the absent runs
// with the solver's own seed, which every table needs.
func (t *table) collect(root, dir string) (f *figures, missing []string, err error) {
	f = &figures{}
	all := make([]map[int]*run, len(t.rows))
	own := make([]*swproto.Solver, len(t.rows))
	for i, r := range t.rows {
		if own[i], err = swproto.ReadSolver(root + t.path(r)); err != nil {
			return nil, nil, err
		}
		seed := int(own[i].Param.GetRandomSeed())
		if i > 0 && seed != f.own {
			return nil, nil, fmt.Errorf("%s: random_seed is %d, in %s %d", t.path(r), seed, t.path(t.rows[0]), f.own)
		}
		f.own = seed
		if all[i], err = readRuns(dir, t.path(r)); err != nil {
			return nil, nil, err
		}
		if all[i][seed] == nil {
			missing = append(missing, fmt.Sprintf("%s with seed %d", t.path(r), seed))
		}
	}
	if len(missing) > 0 {
		return nil, missing, nil
	}
	f.chooseSeeds(all)
	for i, r := range t.rows {
		if err := t.addLines(f, r, own[i], all[i]); err != nil {
			return nil, nil, err
		}
	}
	return f, nil, nil
}

// chooseSeeds selects the seeds common to all rows, and records the processors.
func (f *figures) chooseSeeds(all []map[int]*run) {
	var processors []string
	for _, seed := range slices.Sorted(maps.Keys(all[0])) {
		if slices.ContainsFunc(all, func(runs map[int]*run) bool { return runs[seed] == nil }) {
			continue
		}
		f.seeds = append(f.seeds, seed)
		for _, runs := range all {
			processors = append(processors, runs[seed].processor)
		}
	}
	slices.Sort(processors)
	f.processor = strings.Join(slices.Compact(processors), " and ")
}

// addLines adds a solver's lines of the table.
func (t *table) addLines(f *figures, r row, solver *swproto.Solver, runs map[int]*run) error {
	for _, iteration := range t.iterations(solver) {
		l := line{label: r.label}
		if t.rowHead == "" {
			l.label = withCommas(iteration)
		}
		for _, c := range t.columns {
			var values []float64
			for _, seed := range f.seeds {
				v, ok := runs[seed].figures[place{iteration, c.testNet, c.output}]
				if !ok {
					return fmt.Errorf("%s, seed %d: its log has no %q of iteration %d", t.path(r), seed, c.output, iteration)
				}
				values = append(values, v)
			}
			text := func(v float64) string { return strconv.FormatFloat(v, 'f', c.decimals, 64) }
			l.cells = append(l.cells, cell{text(values[slices.Index(f.seeds, f.own)]), text(slices.Min(values)), text(slices.Max(values))})
		}
		f.lines = append(f.lines, l)
	}
	return nil
}

// iterations returns the iterations whose tests the table shows.
func (t *table) iterations(s *swproto.Solver) []int {
	last, step := int(s.Param.GetMaxIter()), int(s.Param.GetTestInterval())
	if t.rowHead != "" {
		return []int{last}
	}
	var all []int
	first := 0
	if !s.Param.GetTestInitialization() {
		first = step
	}
	for i := first; i <= last; i += step {
		all = append(all, i)
	}
	return all
}

// withCommas formats a number as the READMEs do: 2,628.
func withCommas(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", withCommas(n/1000), n%1000)
}
