package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// These lines enclose a table in its README.
const (
	begin = "<!-- scripts/train_zoo.sh -write writes from here -->\n"
	end   = "<!-- to here -->\n"
)

// markdown formats a table with its note. Without other seeds than the solver's own, it has no ranges.
func (t *table) markdown(f *figures) string {
	head := t.rowHead
	if head == "" {
		head = "iteration"
	}
	cells := []string{head}
	for _, c := range t.columns {
		cells = append(cells, c.head)
		if len(f.seeds) > 1 {
			cells = append(cells, fmt.Sprintf("%d seeds", len(f.seeds)))
		}
	}
	var b strings.Builder
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
	for _, l := range f.lines {
		b.WriteString("| " + l.label)
		for _, c := range l.cells {
			b.WriteString(" | " + c.own)
			if len(f.seeds) > 1 {
				b.WriteString(" | " + c.least + " to " + c.greatest)
			}
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n" + t.note(f))
	return b.String()
}

// note returns the text about the origin of the figures.
func (t *table) note(f *figures) string {
	solvers := t.rows[0].solver
	if len(t.rows) > 1 {
		solvers = "*solver*.prototxt"
	}
	flags, seeds := "", fmt.Sprintf("Figures of seed %d, the solver's own", f.own)
	if n := len(f.seeds); n > 1 {
		flags = fmt.Sprintf("-seeds %d ", f.seeds[n-1])
		seeds += fmt.Sprintf(", and their range over the seeds %s", ranges(f.seeds))
	}
	return fmt.Sprintf("%s, printed on %s, by\n`scripts/train_zoo.sh %s-write zoo_runs models/%s/%s`.\n"+
		"Another processor or vector level rounds otherwise and so changes figures, as another seed does; `models/cifar10_resnet8` says how.\n",
		seeds, f.processor, flags, t.model, solvers)
}

// ranges formats ascending numbers: "1 to 5", or "1, 2, 5".
func ranges(n []int) string {
	if last := len(n) - 1; n[last]-n[0] == last {
		return fmt.Sprintf("%d to %d", n[0], n[last])
	}
	var all []string
	for _, v := range n {
		all = append(all, strconv.Itoa(v))
	}
	return strings.Join(all, ", ")
}

// cut splits a README at the marks of its table.
func cut(readme string) (before, table, after string, err error) {
	before, rest, ok := strings.Cut(readme, begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 || slices.ContainsFunc([]string{before, table, after}, func(s string) bool {
		return strings.Contains(s, begin) || strings.Contains(s, end)
	}) {
		return "", "", "", errors.New("needs one line " + strings.TrimSpace(begin) + " and behind it one " + strings.TrimSpace(end))
	}
	return before + begin, table, end + after, nil
}
