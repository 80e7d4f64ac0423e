package scaling

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// TestSimulated: a collective's time is the simulation's, auto's that of the algorithm it picks, and central's P-1 messages; where a simulation
// would be too long it is the closed form.
func TestSimulated(t *testing.T) {
	spec := testCluster()
	times := map[string]float64{}
	for _, name := range AllReduces() {
		got, err := Simulated{Cluster: spec, Mapping: topology.Block, Algorithm: name}.Time(8, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		times[name] = float64(got)
	}
	l, err := topology.NewLayout(spec, 8, topology.Block)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "auto", times[topology.Auto], times[topology.Choose(spec, l, 1<<20)])
	add := float64(1<<20) / 4e9 // longer than a message
	near(t, "central", times[Central], 7*add)
	spec.ReduceBytesPerSecond = 0
	got, err := Simulated{Cluster: spec, Mapping: topology.Block, Algorithm: Central}.Time(8, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "central without additions", float64(got), 7*(5e-6+float64(1<<20)/10e9))

	large := testCluster()
	large.Nodes, large.NodesPerSupernode = 40960, 256
	var tooLong error
	got, err = Simulated{Cluster: large, Mapping: topology.RoundRobin, Algorithm: "ring", TooLong: func(err error) { tooLong = err }}.Time(40960, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if l, err = topology.NewLayout(large, 40960, topology.RoundRobin); err != nil {
		t.Fatal(err)
	}
	near(t, "ring of 40,960", float64(got), float64(topology.Cost("ring", large, l, 1<<20)))
	if !errors.Is(tooLong, topology.ErrTooLong) {
		t.Errorf("TooLong is called with %v", tooLong)
	}
	if _, err := (Simulated{Cluster: spec, Mapping: topology.Block, Algorithm: "ring"}).Time(9, 4); err == nil {
		t.Error("9 of 8 nodes are no error")
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name     string
		strategy Strategy
		want     string
	}{
		{"topology", Sync, ""},
		{Central, "sync_easgd1", ""},
		{"auto", "decentralised_easgd", ""},
		{"rign", Sync, `unknown all-reduce "rign", did you mean "ring"?`},
		{"ring", "async_sgd", "strategy async_sgd has no all-reduce"},
		{Central, Sync, "central makes no sum of gradients"},
		{"dynamic", Sync, `unknown all-reduce "dynamic"`},
	} {
		err := CheckAllReduce(c.name, c.strategy)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s with %s: got %v, want %q", c.name, c.strategy, err, c.want)
		}
	}
	if got, want := Strategies(), solver.Strategies(); !slices.Equal(got, want) {
		t.Errorf("strategies %q, a solver trains by %q", got, want)
	}
	for _, name := range Strategies() {
		if s, err := ParseStrategy(name); err != nil || string(s) != name {
			t.Errorf("%s is read as %q, %v", name, s, err)
		}
	}
	if _, err := ParseStrategy("sync_easgd"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("got %v", err)
	}
}
