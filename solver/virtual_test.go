package solver

import (
	"math"
	"runtime"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	"github.com/swcaffe/swcaffe/solver/centre"
	"github.com/swcaffe/swcaffe/topology"
)

// testCluster has 1 MB/s links, so that messages of the small nets take milliseconds.
const testCluster = `name: "test" nodes: 8 nodes_per_supernode: 8 node_link { bandwidth_gbytes_per_s: 0.001 latency_us: 10 }`

type rankClock struct{ *topology.SimRank }

func (c rankClock) Now() float64 { return float64(c.SimRank.Now()) }

func (c rankClock) AdvanceTo(t float64) { c.Elapse(max(0, topology.VTime(t)-c.SimRank.Now())) }

// virtually runs work for every worker in virtual time. A pass takes the given seconds forward, and backward for each layer.
func (c crew) virtually(t *testing.T, forward, backward, update float64, work func(rank int, s *Solver) error) {
	t.Helper()
	spec, err := topology.ParseSpec("test", []byte(testCluster))
	if err != nil {
		t.Fatal(err)
	}
	c.dir = t.TempDir()
	costs := Costs{Forward: forward, Backward: []float64{backward, backward, backward, backward}, Update: update,
		Message: func(bytes int) float64 { return float64(spec.MessageTime(float64(bytes), false)) }}
	layout := topology.Flat(c.workers)
	if HasCentre(c.team.Strategy) {
		queue := centre.NewQueue(c.workers, costs.Message, update)
		err = topology.NewLocal(c.workers).Run(func(tr topology.Transport) error {
			k := c
			k.team.Virtual = &Virtual{Clock: queue.Clock(tr.Rank()), Costs: costs, Queue: queue}
			return k.worker(t, tr, work)
		})
	} else {
		err = topology.NewSim(spec, layout).Run(func(tr *topology.SimRank) error {
			k := c
			k.team.Virtual = &Virtual{Clock: rankClock{tr}, Costs: costs}
			return k.worker(t, tr, work)
		})
	}
	if err != nil {
		t.Fatalf("%s: %v", c.team.Strategy, err)
	}
}

// TestVirtualTime compares the time of iterations with closed forms, sums of passes, updates and messages.
func TestVirtualTime(t *testing.T) {
	const forward, backward, update = 0.002, 0.0005, 0.0001
	const passes = forward + 4*backward
	const n = 10
	message := func(values int) float64 { return 10e-6 + 4*float64(values)/1e6 }
	const state = 96 + 16 + 7 // the weights, the biases padded to 16, and the statistics of three channels
	for _, c := range racing.Few([]struct {
		strategy string
		workers  int
		tau      int
		want     float64 // per iteration in the long run
	}{
		// Nobody waits: each worker sends its message and gets the answer after its passes.
		{"async_sgd", 1, 1, passes + update + 2*message(len(centre.NewMessage(state))) + update},
		{"hogwild_easgd", 1, 1, passes + update + 2*message(len(centre.NewMessage(state))) + update},
		// The centre is the bottleneck: it serves four workers one after the other.
		{"easgd", 40, 1, 40 * (2*message(len(centre.NewMessage(state))) + update)},
		{"async_easgd", 40, 1, 40 * (2*message(len(centre.NewMessage(state))) + update)},
		// An unlocked centre receives and sends at the same time.
		{"hogwild_easgd", 40, 1, 40 * message(len(centre.NewMessage(state)))},
		// Two workers over a tree exchange one message each way.
		{"sync_easgd2", 2, 1, passes + update + 2*message(state+3)},
		{"sync_easgd2", 2, 5, passes + update + 2*message(state+3)/5},
		{"sync_easgd1", 2, 1, passes + update + 4*message(state+3) + update},
		{"sync_easgd3", 2, 1, passes + update},
	}) {
		var took float64
		k := crew{workers: c.workers, text: normNet, team: Team{Strategy: c.strategy, Tau: c.tau}}
		k.virtually(t, forward, backward, update, func(rank int, s *Solver) error {
			if err := s.Step(n); err != nil {
				return err
			}
			start := s.watch.Clock.Now()
			err := s.Step(n)
			if rank == 0 {
				took = (s.watch.Clock.Now() - start) / n
			}
			return err
		})
		if math.Abs(took-c.want) > 1e-6*c.want {
			t.Errorf("%s, %d workers, tau %d: an iteration takes %g s, want %g", c.strategy, c.workers, c.tau, took, c.want)
		}
	}
}

// TestBucketsOverlap: in virtual time buckets are summed while earlier layers run backward, so that less of their time is visible.
func TestBucketsOverlap(t *testing.T) {
	took := map[int]float64{}
	for _, bytes := range []int{0, 1} {
		k := crew{workers: 2, text: unevenNet, team: Team{Strategy: Sync, BucketBytes: bytes}}
		k.virtually(t, 0.001, 0.0005, 0, func(rank int, s *Solver) error {
			s.watch.backward = []float64{0.0035, 0.003, 0.0025, 0.002, 0.0015, 0.001, 0.0005, 0}
			err := s.Step(5)
			took[bytes] = s.watch.Clock.Now()
			return err
		})
	}
	if !(took[1] < took[0]) {
		t.Errorf("with buckets %g s, without %g", took[1], took[0])
	}
}

// TestVirtualTimeIsDeterministic: in virtual time every strategy, even one that depends on the order of arrival, gives the same weights and
// the same time twice, at any GOMAXPROCS.
func TestVirtualTimeIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range Strategies() {
		var first []float32
		for _, n := range []int{1, 3} {
			runtime.GOMAXPROCS(n)
			var got []float32
			k := crew{workers: 3, text: normNet, team: Team{Strategy: name, Tau: 2}}
			k.virtually(t, 0.001, 0.0002, 0.0001, func(rank int, s *Solver) error {
				s.watch.Costs.Forward *= float64(1 + rank) // so that the order of arrival changes
				if err := s.Step(12); err != nil || rank > 0 {
					return err
				}
				return s.strategy.shown(func() error {
					got = append(weights(s), float32(s.watch.Clock.Now()))
					return nil
				})
			})
			if first == nil {
				first = got
			}
			sameBits(t, name, got, first)
		}
	}
}
