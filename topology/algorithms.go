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

// Choose returns the fixed algorithm with the smallest closed form for an array of the given size; of several, the first in the list.
func Choose(spec Spec, l Layout, bytes int) string {
	c := newCosts(spec, l)
	best := algorithms[0]
	least := best.cost(c, float64(bytes))
	for _, a := range algorithms[1:] {
		if t := a.cost(c, float64(bytes)); t < least {
			best, least = a, t
		}
	}
	return best.name
}

// Cost evaluates the closed form of one of the Fixed algorithms for an array of the given size.
func Cost(name string, spec Spec, l Layout, bytes int) VTime {
	return find(name).cost(newCosts(spec, l), float64(bytes))
}
