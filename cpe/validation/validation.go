// Package validation holds published measurements of the machines that package cpe describes, and compares modelled figures with them. Each
// file names its source. No machine's description uses them as inputs, except the SW26010's and sw39000's measured transfers.
package validation

import (
	"cmp"
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

//go:embed *.csv
var files embed.FS

// Row is one published measurement: its fields, by the names of the file's columns.
type Row map[string]string

// Read returns the measurements in one of this package's files.
func Read(name string) ([]Row, error) { return ReadFS(files, name) }

// ReadFS returns the measurements in a file, in order. Lines that begin with # state their source.
func ReadFS(files fs.FS, name string) ([]Row, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: there is no header line with the names of the columns", name)
	}
	var rows []Row
	for _, line := range lines[1:] {
		row := Row{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Int returns a field that must be an integer.
func (r Row) Int(column string) int {
	n, err := strconv.Atoi(r[column])
	if err != nil {
		panic(fmt.Sprintf("validation: column %q: %v", column, err))
	}
	return n
}

// Float returns a field as a number; it is NaN if nothing was published ("-" or an empty field).
func (r Row) Float(column string) float64 {
	if s := r[column]; s == "" || s == "-" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		panic(fmt.Sprintf("validation: column %q: %v", column, err))
	}
	return v
}

// Point is a modelled figure and the published one.
type Point struct {
	Name                string
	Modelled, Published float64
	Kind                string // of pass, where points are told apart by it; else ""
}

// Error is the relative error of the modelled figure.
func (p Point) Error() float64 { return p.Modelled/p.Published - 1 }

// Points is a list of comparisons.
type Points []Point

// Add appends a comparison, unless nothing was published.
func (p *Points) Add(name string, modelled, published float64) {
	if !math.IsNaN(published) {
		*p = append(*p, Point{Name: name, Modelled: modelled, Published: published})
	}
}

// AddKind is Add for a point of a kind.
func (p *Points) AddKind(kind, name string, modelled, published float64) {
	before := len(*p)
	p.Add(name, modelled, published)
	for i := before; i < len(*p); i++ {
		(*p)[i].Kind = kind
	}
}

// MedianError is the median of the absolute relative errors.
func (p Points) MedianError() float64 {
	var all []float64
	for _, q := range p {
		all = append(all, math.Abs(q.Error()))
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	k := len(all) / 2
	if len(all)%2 == 0 {
		return (all[k-1] + all[k]) / 2
	}
	return all[k]
}

// Worst is the point with the largest error.
func (p Points) Worst() Point {
	return slices.MaxFunc(p, func(a, b Point) int { return cmp.Compare(math.Abs(a.Error()), math.Abs(b.Error())) })
}

// Summary states the median and the worst error, and how the ranks agree.
func (p Points) Summary() string {
	if len(p) == 0 {
		return "no points"
	}
	w := p.Worst()
	return fmt.Sprintf("%d points: median |error| %.1f%%, worst %+.1f%% (%s), Spearman %.2f", len(p), 100*p.MedianError(), 100*w.Error(), w.Name, p.Spearman(len(p)))
}

// Spearman is the rank correlation of modelled and published figures for the n points with the largest published figures; equal figures share
// the mean of their ranks.
func (p Points) Spearman(n int) float64 {
	top := slices.Clone(p)
	slices.SortStableFunc(top, func(a, b Point) int { return cmp.Compare(b.Published, a.Published) })
	top = top[:min(n, len(top))]
	var x, y []float64
	for _, q := range top {
		x, y = append(x, q.Modelled), append(y, q.Published)
	}
	return stat.Correlation(ranks(x), ranks(y), nil)
}

// ranks replaces figures by their ranks.
func ranks(x []float64) []float64 {
	r := make([]float64, len(x))
	for i, a := range x {
		for _, b := range x {
			switch {
			case b < a:
				r[i]++
			case b == a:
				r[i] += 0.5
			}
		}
	}
	return r
}

// String prints one line for each point, and the median error.
func (p Points) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %12s %12s %8s\n", "", "modelled", "published", "error")
	for _, q := range p {
		fmt.Fprintf(&b, "%-34s %12.4g %12.4g %+7.1f%%\n", q.Name, q.Modelled, q.Published, 100*q.Error())
	}
	fmt.Fprintf(&b, "%s\n", p.Summary())
	return b.String()
}
