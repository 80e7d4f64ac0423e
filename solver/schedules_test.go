package solver

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swcaffe/swcaffe/internal/testkit/faultnet"
	"github.com/swcaffe/swcaffe/topology"
)

// The flags of long runs: go test ./solver -run Schedules -schedules 10000 -seed 1
var (
	schedules    = flag.Int("schedules", 5, "TestSchedules: the number of schedules of each strategy")
	scheduleSeed = flag.Uint64("seed", 1, "TestSchedules: where random numbers begin")
)

// inOrder are the strategies whose results do not depend on the order in which workers arrive.
var inOrder = []string{Sync, "easgd", "sync_easgd1", "sync_easgd2", "sync_easgd3", "decentralised_easgd"}

// TestSchedules trains by every strategy while messages are late and workers stall or are lost. Without a loss all workers finish, those of
// strategies with a fixed order with the weights that they have without faults. After a loss every worker's training ends, and its error says so.
func TestSchedules(t *testing.T) {
	const iterations = 3
	for _, strategy := range Strategies() {
		t.Run(strategy, func(t *testing.T) {
			plain := map[int][][]float32{}
			for number := range *schedules {
				random := rand.New(rand.NewPCG(*scheduleSeed, uint64(number)))
				size := 1 + random.IntN(4)
				f := faultnet.Faults{Seed: random.Uint64(), Delay: time.Minute, Notice: time.Minute, Stall: time.Hour, Eager: random.IntN(2) == 0}
				if random.IntN(2) == 0 {
					f.Lost = map[int]time.Duration{random.IntN(size): time.Duration(random.Int64N(int64(time.Hour)))}
				}
				team := Team{Strategy: strategy, Tau: 1 + random.IntN(2), BucketBytes: 64 * random.IntN(2), CheckEvery: random.IntN(3)}
				errs, got := trainOn(t, team, size, iterations, f)
				lost := slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, faultnet.ErrLost) })
				for rank, err := range errs {
					if err != nil && !(lost && (errors.Is(err, faultnet.ErrLost) || errors.Is(err, topology.ErrAborted) || isPeer(err))) {
						t.Fatalf("seed %d, schedule %d, %d workers, %+v: rank %d: %v", *scheduleSeed, number, size, f, rank, err)
					}
				}
				if lost || !slices.Contains(inOrder, strategy) {
					continue
				}
				key := size*10 + team.Tau
				if plain[key] == nil {
					_, plain[key] = trainOn(t, team, size, iterations, faultnet.Faults{})
				}
				for rank := range got {
					if !slices.Equal(got[rank], plain[key][rank]) {
						t.Fatalf("seed %d, schedule %d, %d workers, %+v: rank %d has other weights than without faults", *scheduleSeed, number, size, f, rank)
					}
				}
			}
		})
	}
}

func isPeer(err error) bool {
	peer := (*PeerError)(nil)
	return errors.As(err, &peer)
}

// trainOn trains and returns every worker's error and weights.
func trainOn(t *testing.T, team Team, size, iterations int, f faultnet.Faults) (errs []error, got [][]float32) {
	got = make([][]float32, size)
	c := crew{workers: size, text: unevenNet, team: team, dir: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		errs = faultnet.New(size, f).Run(func(tr topology.Transport) error {
			return c.worker(t, tr, func(rank int, s *Solver) error {
				err := s.Step(iterations)
				got[rank] = weights(s)
				return err
			})
		})
		time.Sleep(faultnet.Patience)
	})
	return errs, got
}
