package op

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Explanation compares all algorithms for a problem, and says why one was chosen.
type Explanation struct {
	Problem string // described in a line
	Native  bool   // it is for the host
	// Runs names the algorithm in use, as reports do: with the inner algorithm or the fused layers.
	Runs shape.Algorithm
	// Plan describes the blocking of the kernel, "" if it is not known.
	Plan string
	// Work is the cost of the algorithm in use, on the host in operations of the GEMM micro-kernel; 0 if it is not known.
	Work float64
	// Algorithms is empty if there is no choice. It lists the candidates by cost, then the algorithms that decline, and last those that cannot compute the problem.
	Algorithms []Weighed
}

// Weighed is an algorithm with its cost for a problem, or with the reason against it.
type Weighed struct {
	Name   string
	Chosen bool
	// Cost is an estimate: on the host the work relative to the least of all algorithms, on a modelled machine the time in milliseconds.
	Cost float64
	// Refused is why the algorithm cannot compute the problem; Cost is then 0.
	Refused error
	// Declined is why the algorithm is no candidate although it could compute the problem.
	Declined error
	// Measured is the time measured by a tuner, 0 if there is none.
	Measured time.Duration
}

// Explain compares all algorithms for a problem.
func (l *List[S, K]) Explain(p *Problem[S], f Force) (*Explanation, error) {
	found, err := l.Choose(p, f)
	if err != nil {
		return nil, err
	}
	return l.ExplainChoice(p, f, found.Algorithm), nil
}

// ExplainChoice compares all algorithms for a problem, one of which was chosen.
func (l *List[S, K]) ExplainChoice(p *Problem[S], f Force, chosen *Algorithm[S, K]) *Explanation {
	e := &Explanation{Problem: p.String(), Native: p.Native(), Runs: shape.Algorithm(chosen.Name)}
	if !chosen.in(f.Family) {
		f.Family = shape.Auto // no algorithm of the family supports the problem
	}
	able := l.supporting(p)
	for _, a := range l.Algorithms {
		e.Algorithms = append(e.Algorithms, l.weigh(p, f, a, chosen, able))
	}
	if p.Native() && chosen.Cost != nil {
		e.Work = chosen.Cost(p)
	}
	if p.Native() {
		e.relate()
	}
	rank := func(w Weighed) int {
		switch {
		case w.Refused != nil:
			return 2
		case w.Declined != nil && !w.Chosen:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(e.Algorithms, func(a, b Weighed) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Cost, b.Cost))
	})
	return e
}

// weigh judges an algorithm. able lists the algorithms that support the problem.
func (l *List[S, K]) weigh(p *Problem[S], f Force, a, chosen *Algorithm[S, K], able []*Algorithm[S, K]) Weighed {
	w := Weighed{Name: a.Name, Chosen: a == chosen}
	if w.Refused = a.Refuses(p); w.Refused != nil {
		return w
	}
	switch {
	case f.Name == chosen.Name && a != chosen:
		w.Declined = fmt.Errorf("-strategy %v asks for another", f)
	case f.Name != a.Name && !a.in(f.Family) && f.Family == shape.Auto:
		w.Declined = errors.New("it runs only if -strategy asks for it")
	case f.Name != a.Name && !a.in(f.Family):
		w.Declined = fmt.Errorf("-strategy %v asks for others", f)
	default:
		w.Declined = a.declines(p, able)
	}
	if p.Native() {
		if a.Cost != nil {
			w.Cost = a.Cost(p)
		}
		return w
	}
	ledger, err := l.modelled(a, p)
	if err != nil {
		w.Refused, w.Declined = err, nil
		return w
	}
	w.Cost = ledger.Time.Milliseconds()
	return w
}

// relate divides all costs by the least.
func (e *Explanation) relate() {
	least := 0.0
	for _, w := range e.Algorithms {
		if w.Refused == nil && (least == 0 || w.Cost < least) {
			least = w.Cost
		}
	}
	if least == 0 {
		return
	}
	for i := range e.Algorithms {
		e.Algorithms[i].Cost /= least
	}
}

// WriteTo prints a line for the problem and a table of the algorithms, in which ">" marks the chosen one.
func (e *Explanation) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, e.String())
	return int64(n), err
}

// String returns what WriteTo prints.
func (e *Explanation) String() string {
	var b strings.Builder
	if len(e.Algorithms) == 0 {
		return e.Problem + ": there is one way to compute it\n"
	}
	measured := slices.ContainsFunc(e.Algorithms, func(w Weighed) bool { return w.Measured > 0 })
	cost := "work"
	if !e.Native {
		cost = "ms"
	}
	fmt.Fprintf(&b, "%s: computed by %s\n", e.Problem, e.Runs)
	if e.Plan != "" {
		fmt.Fprintf(&b, "  plan: %s\n", e.Plan)
	}
	fmt.Fprintf(&b, "  %-26s %10s", "algorithm", cost)
	if measured {
		fmt.Fprintf(&b, " %12s", "measured ms")
	}
	b.WriteByte('\n')
	for _, w := range e.Algorithms {
		b.WriteString(strings.TrimRight(w.line(measured, e.Native), " ") + "\n")
	}
	return b.String()
}

// line is the algorithm's line of the table.
func (w *Weighed) line(measured, native bool) string {
	mark, cost, took, why := " ", fmt.Sprintf("%.4f", w.Cost), "-", ""
	if native {
		cost = fmt.Sprintf("%.2f", w.Cost)
	}
	if w.Cost == 0 {
		cost = "-"
	}
	if w.Chosen {
		mark = ">"
	}
	if w.Measured > 0 {
		took = fmt.Sprintf("%.4f", float64(w.Measured)/float64(time.Millisecond))
	}
	switch {
	case w.Refused != nil:
		cost, why = "-", "cannot: "+w.Refused.Error()
	case w.Declined != nil:
		why = "left out: " + w.Declined.Error()
	}
	if w.Chosen && w.Declined != nil {
		why = "chosen although " + w.Declined.Error()
	}
	if !measured {
		return fmt.Sprintf("%s %-26s %10s  %s", mark, w.Name, cost, why)
	}
	return fmt.Sprintf("%s %-26s %10s %12s  %s", mark, w.Name, cost, took, why)
}
