package models_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// table is a file of choices. It has a paragraph for layers that are alike, with their names, and in it a line for each direction and those
// settings that are alike:
//
//	conv1, conv2
//	  forward | train, test | offsets: go avx2; explicit-gemm: sw26010
type table struct {
	layers []string        // as they come
	lines  map[line]string // algorithms by what they are of
}

// line is what one algorithm is of.
type line struct{ layer, direction, setting, column string }

func newTable() *table { return &table{lines: map[line]string{}} }

func (t *table) add(c choice) {
	if !slices.Contains(t.layers, c.Layer) {
		t.layers = append(t.layers, c.Layer)
	}
	t.lines[line{c.Layer, c.Direction, c.Setting, c.Column}] = c.Algorithm
}

// drop leaves columns out.
func (t *table) drop(columns []string) {
	maps.DeleteFunc(t.lines, func(l line, _ string) bool { return slices.Contains(columns, l.column) })
}

// take takes over another table's rows of some columns, of layers that both have.
func (t *table) take(from *table, columns []string) {
	for l, algorithm := range from.lines {
		if slices.Contains(columns, l.column) && slices.Contains(t.layers, l.layer) {
			t.lines[l] = algorithm
		}
	}
}

var directionNames = []string{"forward", "weight gradient", "input gradient"}

// group is names that have a text in common.
type group struct {
	text  string
	names []string
}

// grouped brings together the names of equal texts; those without text are left out.
func grouped(names []string, text func(name string) string) []group {
	var all []group
	for _, name := range names {
		s := text(name)
		if s == "" {
			continue
		}
		at := slices.IndexFunc(all, func(g group) bool { return g.text == s })
		if at < 0 {
			at, all = len(all), append(all, group{text: s})
		}
		all[at].names = append(all[at].names, name)
	}
	return all
}

// String prints the file.
func (t *table) String() string {
	settings, columns := map[string]bool{}, map[string]bool{}
	for l := range t.lines {
		settings[l.setting], columns[l.column] = true, true
	}
	sortedSettings, sortedColumns := slices.Sorted(maps.Keys(settings)), sortColumns(columns)
	var b strings.Builder
	b.WriteString("# layers\n#   direction | settings | algorithm: vector levels of this computer, modelled machines\n")
	for _, p := range grouped(t.layers, func(layer string) string {
		var b strings.Builder
		for _, d := range directionNames {
			for _, g := range grouped(sortedSettings, func(setting string) string { return t.cells(layer, d, setting, sortedColumns) }) {
				fmt.Fprintf(&b, "  %s | %s | %s\n", d, strings.Join(g.names, ", "), g.text)
			}
		}
		return b.String()
	}) {
		fmt.Fprintf(&b, "%s\n%s", strings.Join(p.names, ", "), p.text)
	}
	return b.String()
}

// cells prints the algorithms of a layer's direction in a setting.
func (t *table) cells(layer, direction, setting string, columns []string) string {
	var parts []string
	for _, g := range grouped(columns, func(column string) string { return t.lines[line{layer, direction, setting, column}] }) {
		parts = append(parts, g.text+": "+strings.Join(g.names, " "))
	}
	return strings.Join(parts, "; ")
}

// sortColumns puts vector levels first.
func sortColumns(columns map[string]bool) []string {
	var list []string
	for _, l := range vectorLevels {
		if columns[l] {
			list = append(list, l)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(columns)) {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// parseTable reads what String prints.
func parseTable(text string) (*table, error) {
	t := newTable()
	var names []string
	for i, s := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch fields := strings.Split(strings.TrimSpace(s), " | "); {
		case strings.HasPrefix(s, "#"):
		case !strings.HasPrefix(s, " "):
			names = strings.Split(s, ", ")
		case len(fields) != 3:
			return nil, fmt.Errorf("line %d: want a direction, settings and algorithms between |: %q", i+1, s)
		default:
			if err := t.read(names, fields[0], strings.Split(fields[1], ", "), fields[2]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	return t, nil
}

// read reads a line.
func (t *table) read(names []string, direction string, settings []string, cells string) error {
	for _, cell := range strings.Split(cells, "; ") {
		algorithm, columns, ok := strings.Cut(cell, ": ")
		if !ok {
			return errors.New("an algorithm has no columns: " + cell)
		}
		for _, layer := range names {
			for _, setting := range settings {
				for column := range strings.FieldsSeq(columns) {
					t.add(choice{Layer: layer, Direction: direction, Setting: setting, Column: column, Algorithm: algorithm})
				}
			}
		}
	}
	return nil
}

// differences lists where two tables differ.
func differences(have, want *table) []string {
	var list []string
	all := maps.Clone(have.lines)
	maps.Copy(all, want.lines)
	for l := range all {
		if h, w := have.lines[l], want.lines[l]; h != w {
			list = append(list, fmt.Sprintf("layer %s, %s, %s on %s: %q, want %q", l.layer, l.direction, l.setting, l.column, h, w))
		}
	}
	slices.Sort(list)
	return list
}
