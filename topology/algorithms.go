package topology

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// algorithm is one way to compute an all-reduce.
type algorithm struct {
	name string
	plan func(l Layout, n int) *Schedule
	cost func(c costs, bytes float64) VTime
}

// algorithms lists the algorithms in the order of their names' list. auto and dynamic choose among them.
var algorithms = []algorithm{
	{ringName, newRing, costs.ring},
	{"recursive_doubling", newRecursiveDoubling, costs.recursiveDoubling},
	{"halving_doubling", newHalvingDoubling, costs.halvingDoubling},
	{"binomial_tree", newBinomialTree, costs.binomialTree},
	{"hierarchical", newHierarchical, costs.hierarchical},
	{"topology", newTopology, costs.topology},
}

var byName = suggest.Table[algorithm]{Kind: "all-reduce algorithm", Kinds: "algorithms", Name: func(a algorithm) string { return a.name }, Entries: algorithms}

const (
	// Auto names the choice by closed forms.
	Auto = "auto"
	// Measured names the choice by measurement: see [Dynamic].
	Measured = "dynamic"
)

// Fixed returns the names of the algorithms, without auto and dynamic.
func Fixed() []string { return byName.Names() }

// Algorithms returns all names that a user may give.
func Algorithms() []string { return append(Fixed(), Auto, Measured) }

// CheckAlgorithm returns an error if a name is not among Algorithms.
func CheckAlgorithm(name string) error {
	if known := Algorithms(); !slices.Contains(known, name) {
		return suggest.Unknown("all-reduce algorithm", name, "algorithms", known)
	}
	return nil
}

func find(name string) algorithm {
	a, err := byName.Find(name)
	if err != nil {
		panic("topology: " + err.Error())
	}
	return a
}

// NewSchedule plans an all-reduce of n elements with one of the Fixed algorithms.
func NewSchedule(name string, l Layout, n int) *Schedule {
	s := find(name).plan(l, n)
	s.Algorithm = name
	return s
}

// Choose returns the fixed algorithm with the smallest estimate (Estimate) for an array of the given size; of several, the first in the list.
func Choose(spec Spec, l Layout, bytes int) string {
	const element = 4
	best, least := "", VTime(0)
	for _, a := range algorithms {
		if t, _ := Estimate(spec, l, NewSchedule(a.name, l, bytes/element), element); best == "" || t < least {
			best, least = a.name, t
		}
	}
	return best
}

// Cost evaluates the closed form of one of the Fixed algorithms for an array of the given size.
func Cost(name string, spec Spec, l Layout, bytes int) VTime {
	return find(name).cost(newCosts(spec, l), float64(bytes))
}
