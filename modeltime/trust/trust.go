// Package trust states how far modelled times may be from the true ones. [Of] returns the [Spread] of a machine or a cluster, and
// [Spread.Range] the range of a figure.
//
// Two things make a range. The first is what the model was given: a machine's bandwidth may have been published several times, and
// differently. A figure is modelled with every one of these curves; the least and the largest result are its band. The second is what the
// model lacks: published times lie outside their bands. For every kind of pass, machines.csv holds two factors, and a range is the
// band widened by them: its lower end times the first, its upper end times the second. clusters.csv holds the same for communication.
//
// Factors come from published times in one of two ways. Of a machine with several publications they are each other's inverse, and a tenth lies
// outside if every publication counts the same ([FitSources]): the next program may err in the other direction. Of others at most a tenth lies
// below and at most a tenth above, none if there are fewer than ten ([Fit]).
//
// Both files are made from the published points in cpe/validation and topology/validation, and their tests hold them; with -rewrite they
// write them. Factors widen what is printed. No modelled figure depends on them.
package trust

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// Kind is a kind of pass through a layer, or of another figure. Kinds differ in what bounds them, and so in how well they are modelled.
type Kind string

// The kinds of a machine's figures.
const (
	Implicit  Kind = "implicit"  // convolutions by the implicit strategy
	Explicit  Kind = "explicit"  // convolutions by the explicit strategy
	Product   Kind = "product"   // inner products
	Pooling   Kind = "pooling"   //
	Stream    Kind = "stream"    // layers that stream arrays through LDM, such as ReLU
	MPE       Kind = "mpe"       // loops on the management core
	Iteration Kind = "iteration" // a whole iteration, or its forward or backward passes
	Any       Kind = "any"       // everything else: the widest factors of all kinds of passes
)

// Communication is the only kind of a cluster's figures.
const Communication Kind = "communication"

// Factors widen the band of a kind.
type Factors struct {
	Points    int     // number of published times behind the factors
	Low, High float64 // Low is at most 1, High at least 1
}

// Spread holds the factors of one machine or cluster. A nil Spread belongs to one of which no times were published.
type Spread map[Kind]Factors

//go:embed *.csv
var files embed.FS

// spreads are the contents of the files, by machine or cluster.
var spreads = sync.OnceValue(func() map[string]Spread {
	all := map[string]Spread{}
	for _, name := range []string{"machines.csv", "clusters.csv"} {
		text, err := files.ReadFile(name)
		if err == nil {
			err = read(all, text)
		}
		if err != nil {
			panic(fmt.Sprintf("trust: %s: %v", name, err))
		}
	}
	return all
})

// read adds the rows of a file.
func read(all map[string]Spread, text []byte) error {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment, r.FieldsPerRecord = '#', 5
	rows, err := r.ReadAll()
	if err != nil {
		return err
	}
	for _, row := range rows[min(1, len(rows)):] {
		points, err := strconv.Atoi(row[2])
		if err != nil {
			return err
		}
		low, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			return err
		}
		high, err := strconv.ParseFloat(row[4], 64)
		if err != nil {
			return err
		}
		if all[row[0]] == nil {
			all[row[0]] = Spread{}
		}
		all[row[0]][Kind(row[1])] = Factors{points, low, high}
	}
	return nil
}

// Of returns the spread of a machine or a cluster, by its name; nil if nothing was published of it.
func Of(name string) Spread { return spreads()[name] }

// Of returns the factors of a kind. A kind without published times has those of Any.
func (s Spread) Of(k Kind) (Factors, bool) {
	f, ok := s[k]
	if !ok {
		f, ok = s[Any]
	}
	return f, ok
}

// Range returns the range of a time that was modelled with several curves; it is not known if there is nothing to tell it from.
func (s Spread) Range(k Kind, times ...float64) Range {
	f, ok := s.Of(k)
	if !ok || len(times) == 0 {
		return Range{}
	}
	return Range{f.Low * slices.Min(times), f.High * slices.Max(times)}
}

// Widest returns the widest factors of all kinds, and the number of points of them all.
func (s Spread) Widest() Factors {
	w := Factors{Low: 1, High: 1}
	for _, f := range s {
		w = Factors{w.Points + f.Points, min(w.Low, f.Low), max(w.High, f.High)}
	}
	return w
}

// FitSources returns the factors of a kind from the samples of several publications, whose program is the modelled one. They are each other's
// inverse.
func FitSources(sources [][]Sample) Factors {
	f := quantile(sources, func(s Sample) float64 { return max(s.Least/s.Published, s.Published/s.Most) })
	return Factors{points(sources), 1 / f, f}
}

// FitStandIn returns the factors of a kind from the samples of several publications whose program another stands in for. It may be slower throughout,
// so that each end has a factor of its own.
func FitStandIn(sources [][]Sample) Factors {
	low := quantile(sources, func(s Sample) float64 { return s.Least / s.Published })
	return Factors{points(sources), 1 / low, quantile(sources, func(s Sample) float64 { return s.Published / s.Most })}
}

// points counts the samples of all publications.
func points(sources [][]Sample) (n int) {
	for _, samples := range sources {
		n += len(samples)
	}
	return n
}

// quantile returns a bound, at least 1, that a tenth of the samples is beyond. Every publication counts the same.
func quantile(sources [][]Sample, off func(s Sample) float64) float64 {
	type weighted struct{ off, weight float64 }
	var all []weighted
	for _, samples := range sources {
		for _, s := range samples {
			all = append(all, weighted{max(1, off(s)), 1 / float64(len(samples))})
		}
	}
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Compare(b.off, a.off) })
	outside := 0.1 * float64(len(sources))
	for _, w := range all {
		if outside -= w.weight; outside < -1e-9 {
			return w.off
		}
	}
	return 1
}

// Sample is a published time, and the band of the modelled ones.
type Sample struct{ Least, Most, Published float64 }

// Fit returns the factors of a kind from its samples.
func Fit(samples []Sample) Factors {
	var low, high []float64
	for _, s := range samples {
		low, high = append(low, s.Published/s.Least), append(high, s.Published/s.Most)
	}
	slices.Sort(low)
	slices.Sort(high)
	n := len(samples)
	outside := n / 10
	return Factors{n, min(1, low[outside]), max(1, high[n-1-outside])}
}
