package scaling

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/topology"
)

// Central names a server in the place of a collective. It receives every worker's array in turn while it sends the worker the centre, P
// (alpha + n beta), and meanwhile adds the last array received. Workers do not get the sum of all arrays, so that only the EASGD family can
// use it.
const Central = "central"

// AllReduces returns the possible names of a run's AllReduce: Central, and those of package topology except dynamic, which measures.
func AllReduces() []string { return append(topology.Fixed(), topology.Auto, Central) }

// CheckAllReduce returns an error if a name is not among AllReduces or does not suit the strategy.
func CheckAllReduce(name string, s Strategy) error {
	switch known := AllReduces(); {
	case !slices.Contains(known, name):
		return suggest.Unknown("all-reduce", name, "all-reduces", known)
	case s.Collective() == "":
		return fmt.Errorf("strategy %s has no all-reduce: its workers exchange with a server one by one", s)
	case name == Central && s == Sync:
		return errors.New("central makes no sum of gradients; it is for the EASGD family")
	}
	return nil
}

// Collective models the time of an all-reduce between nodes.
type Collective interface {
	Time(nodes int, bytes int64) (topology.VTime, error)
}

// Simulated is the simulated time of one of AllReduces on a cluster's network. If a simulation would take too long, it is
// topology.Estimate, and TooLong, if not nil, is called with the simulation's error.
type Simulated struct {
	Cluster   topology.Spec
	Mapping   topology.Mapping
	Algorithm string
	TooLong   func(error)
}

// bytesPerValue is the size of a float32.
const bytesPerValue = 4

// Time implements Collective.
func (s Simulated) Time(nodes int, bytes int64) (topology.VTime, error) {
	l, err := topology.NewLayout(s.Cluster, nodes, s.Mapping)
	if err != nil {
		return 0, err
	}
	algorithm := s.Algorithm
	switch algorithm {
	case topology.Auto:
		algorithm = topology.Choose(s.Cluster, l, int(bytes))
	case Central:
		one := max(s.Cluster.MessageTime(float64(bytes), l.Supernodes() > 1), s.Cluster.ReduceTime(float64(bytes)))
		return topology.VTime(nodes-1) * one, nil
	}
	schedule := topology.NewSchedule(algorithm, l, int(bytes/bytesPerValue))
	t, err := topology.Simulate(s.Cluster, l, schedule, bytesPerValue, nil)
	if errors.Is(err, topology.ErrTooLong) {
		if s.TooLong != nil {
			s.TooLong(err)
		}
		estimate, _ := topology.Estimate(s.Cluster, l, schedule, bytesPerValue)
		return estimate, nil
	}
	return t.Seconds, err
}
