package commtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/topology"
)

// ranks are the numbers of ranks with which the contract is tested.
var ranks = []int{1, 2, 3, 4, 6, 7, 8, 12}

// longest bounds the length of arrays if the tests must be short, as under the race detector.
func longest() int {
	if testing.Short() {
		return 1029
	}
	return 1 << 20
}

// small is a cluster of three nodes a supernode, so that groups of ranks are uneven.
func small(t *testing.T) topology.Spec {
	t.Helper()
	spec, err := topology.LoadSpec("taihulight")
	if err != nil {
		t.Fatal(err)
	}
	spec.Nodes, spec.NodesPerSupernode = 12, 3
	return spec
}

// each runs the contract for every number of ranks, mapping and algorithm. Long arrays go under one mapping only.
func each(t *testing.T, ranks []int, run func(t *testing.T, spec topology.Spec, l topology.Layout, work func(topology.Transport) error)) {
	spec := small(t)
	for _, p := range ranks {
		for _, mapping := range []topology.Mapping{topology.Block, topology.RoundRobin} {
			l, err := topology.NewLayout(spec, p, mapping)
			if err != nil {
				t.Fatal(err)
			}
			longest := longest()
			if mapping == topology.RoundRobin {
				longest = 1029
			}
			for _, algorithm := range topology.Fixed() {
				t.Run(fmt.Sprintf("%s/%s/%d", algorithm, mapping, p), func(t *testing.T) {
					run(t, spec, l, func(tr topology.Transport) error { return Check(tr, l, algorithm, longest) })
				})
			}
		}
	}
}

func TestLocal(t *testing.T) {
	each(t, ranks, func(t *testing.T, _ topology.Spec, l topology.Layout, work func(topology.Transport) error) {
		if err := topology.NewLocal(l.Ranks()).Run(work); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSim(t *testing.T) {
	each(t, ranks, func(t *testing.T, spec topology.Spec, l topology.Layout, work func(topology.Transport) error) {
		sim := topology.NewSim(spec, l)
		if err := sim.Run(func(r *topology.SimRank) error { return work(r) }); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLengthsDiffer: ranks that disagree about a message's length all get an error that names both lengths.
func TestLengthsDiffer(t *testing.T) {
	err := topology.NewLocal(3).Run(func(tr topology.Transport) error {
		switch tr.Rank() {
		case 0:
			return tr.Send(1, make([]float32, 5))
		case 1:
			return tr.Recv(0, make([]float32, 4))
		}
		return tr.Recv(1, make([]float32, 1)) // would wait for ever
	})
	var rank *topology.RankError
	if !errors.As(err, &rank) || !strings.Contains(err.Error(), "sends 5 values to rank 1, which expects 4") {
		t.Fatalf("got %v", err)
	}
}
