package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
)

const root = "../../../"

// enough is how many seeds a README's ranges are of, at least, unless the table wants fewer.
const enough = 5

// TestReadmes: every README's table is what the program writes for some figures, which have ranges that they lie in; and there is no
// other table of results beside it.
func TestReadmes(t *testing.T) {
	for i := range tables {
		tab := &tables[i]
		t.Run(tab.model, func(t *testing.T) {
			text, err := os.ReadFile(root + tab.readme())
			if err != nil {
				t.Fatal(err)
			}
			before, table, after, err := cut(string(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(before+after, "\n") {
				if strings.HasPrefix(line, "|") && regexp.MustCompile(`\|\s*-?\d[\d.,]*(?: %)?\s*\|`).MatchString(line) {
					t.Errorf("a line of figures stands outside of the marks: %s", line)
				}
			}
			f, err := tab.read(table)
			if err != nil {
				t.Fatal(err)
			}
			if want := cmp.Or(tab.seeds, enough); len(f.seeds) < want {
				t.Errorf("figures of %d seeds, %d are enough", len(f.seeds), want)
			}
			if want := tab.markdown(f); table != want {
				t.Errorf("the table is\n%sand would be written as\n%s", table, want)
			}
			tab.checkRows(t, f)
		})
	}
}

var noteLine = regexp.MustCompile(`(?m)^Figures of seed (\d+), the solver's own(?:, and their range over the seeds (\d+) to (\d+))?, printed on (.*), by$`)

// read takes a README's table apart.
func (t *table) read(text string) (*figures, error) {
	m := noteLine.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("the table has no note like %q", "Figures of seed 1, the solver's own, and their range over the seeds 1 to 5, printed on PROCESSOR, by")
	}
	f := &figures{processor: m[4]}
	f.own, _ = strconv.Atoi(m[1])
	first, last := f.own, f.own
	if m[2] != "" {
		first, _ = strconv.Atoi(m[2])
		last, _ = strconv.Atoi(m[3])
	}
	for s := first; s <= last; s++ {
		f.seeds = append(f.seeds, s)
	}
	cells := min(2, len(f.seeds)) // of a figure: its value and, of several seeds, its range
	lines := strings.Split(text, "\n")
	for n, text := range lines[min(2, len(lines)):] {
		parts := strings.Split(strings.Trim(text, "| "), " | ")
		if !strings.HasPrefix(text, "|") {
			break
		}
		if len(parts) != 1+cells*len(t.columns) {
			return nil, fmt.Errorf("row %d has %d cells, want a label and %d a figure: %s", n, len(parts), cells, text)
		}
		l := line{label: parts[0]}
		for k := 1; k < len(parts); k += cells {
			least, greatest := parts[k], parts[k]
			if cells > 1 {
				least, greatest, _ = strings.Cut(parts[k+1], " to ")
			}
			l.cells = append(l.cells, cell{parts[k], least, greatest})
		}
		f.lines = append(f.lines, l)
	}
	return f, nil
}

// checkRows holds a README's rows against the solvers and the columns.
func (t *table) checkRows(test *testing.T, f *figures) {
	var want []string
	for _, r := range t.rows {
		solver, err := swproto.ReadSolver(root + t.path(r))
		if err != nil {
			test.Fatal(err)
		}
		if own := int(solver.Param.GetRandomSeed()); own != f.own || !slices.Contains(f.seeds, own) {
			test.Errorf("the seed in %s is %d; the table's is %d, of %d", r.solver, own, f.own, f.seeds)
		}
		if t.rowHead != "" {
			want = append(want, r.label)
			continue
		}
		for i := 0; i <= int(solver.Param.GetMaxIter()); i += int(solver.Param.GetTestInterval()) {
			if i > 0 || solver.Param.GetTestInitialization() {
				want = append(want, withCommas(i))
			}
		}
	}
	var got []string
	for _, l := range f.lines {
		got = append(got, l.label)
		for k, c := range l.cells {
			number := regexp.MustCompile(fmt.Sprintf(`^\d+\.\d{%d}$`, t.columns[k].decimals))
			var v [3]float64
			for i, text := range []string{c.least, c.own, c.greatest} {
				if !number.MatchString(text) {
					test.Errorf("row %s: %q is no number with %d decimals", l.label, text, t.columns[k].decimals)
				}
				v[i], _ = strconv.ParseFloat(text, 64)
			}
			if !slices.IsSorted(v[:]) {
				test.Errorf("row %s: %s lies outside of %s to %s", l.label, c.own, c.least, c.greatest)
			}
		}
	}
	if !slices.Equal(got, want) {
		test.Errorf("the rows are of %q, want %q", got, want)
	}
}

// TestEverySolver: every solver whose data "swcaffe dataset" makes is in one table.
func TestEverySolver(t *testing.T) {
	paths, err := filepath.Glob(root + "models/*/*solver*.prototxt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d solvers, error %v", len(paths), err)
	}
	all := allSolvers()
	for _, path := range paths {
		solver, err := swproto.ReadSolver(path)
		if err != nil {
			t.Fatal(err)
		}
		net, err := os.ReadFile(root + solver.Param.GetNet())
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if strings.Contains(string(net), `"data/ilsvrc12_`) {
			want = 0
		}
		name, n := strings.TrimPrefix(filepath.ToSlash(path), root), 0
		for _, s := range all {
			if s == name {
				n++
			}
		}
		if n != want {
			t.Errorf("%s is in %d tables, want %d", name, n, want)
		}
	}
}

// TestColumns: the test nets of every row's solver have the columns' outputs, and a loss is displayed at every test.
func TestColumns(t *testing.T) {
	for i := range tables {
		for _, r := range tables[i].rows {
			path := tables[i].path(r)
			solver, err := swproto.ReadSolver(root + path)
			if err != nil {
				t.Fatal(err)
			}
			net, err := os.ReadFile(root + solver.Param.GetNet())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range tables[i].columns {
				switch {
				case c.testNet == training:
					if solver.Param.GetTestInterval()%solver.Param.GetDisplay() != 0 {
						t.Errorf("%s: tests every %d iterations, displays the loss every %d", path, solver.Param.GetTestInterval(), solver.Param.GetDisplay())
					}
				case c.testNet >= len(solver.Param.TestIter):
					t.Errorf("%s: test net %d of %d", path, c.testNet, len(solver.Param.TestIter))
				case !strings.Contains(string(net), `top: "`+c.output+`"`):
					t.Errorf("%s: no output %q", path, c.output)
				}
			}
		}
	}
}
