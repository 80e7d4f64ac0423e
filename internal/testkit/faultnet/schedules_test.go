package faultnet

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swcaffe/swcaffe/topology"
)

// The flags of long runs:
//
//	go test ./internal/testkit/faultnet -run Schedules -schedules 200000 -seed 1
//	go test ./internal/testkit/faultnet -run Schedules -seed 1 -schedule 4711
var (
	schedules = flag.Int("schedules", 1000, "the number of schedules of each kind")
	seed      = flag.Uint64("seed", 1, "where random numbers begin")
	single    = flag.Int("schedule", -1, "run the schedule of this number alone")
)

// repeated is how often a schedule is run twice, to see that it repeats: one in so many.
const repeated = 50

// schedule is one drawn run.
type schedule struct {
	size   int
	faults Faults
	random *rand.Rand // for what the kind draws
}

// drawSchedule draws workers and faults. In half of the schedules one or two workers are lost.
func drawSchedule(number int) schedule {
	random := rand.New(rand.NewPCG(*seed, uint64(number)))
	s := schedule{size: 1 + random.IntN(9), random: random}
	s.faults.Seed = random.Uint64()
	s.faults.Delay = []time.Duration{time.Second, time.Minute}[random.IntN(2)]
	s.faults.Stall = []time.Duration{0, time.Minute}[random.IntN(2)]
	s.faults.Notice = []time.Duration{time.Second, time.Minute}[random.IntN(2)]
	s.faults.Eager = random.IntN(2) == 0
	if s.size > 1 && random.IntN(2) == 0 {
		s.faults.Lost = map[int]time.Duration{}
		for range 1 + random.IntN(2) {
			s.faults.Lost[random.IntN(s.size)] = upTo(random.Uint64(), 10*s.faults.Delay)
		}
	}
	return s
}

// kinds are the kinds of schedules. run returns the trace.
var kinds = []struct {
	name string
	run  func(s schedule) (trace uint64, err error)
}{
	{"allreduce", allReduce},
	{"buckets", buckets},
	{"centre", centres},
}

// TestSchedules runs schedules of every kind. Nothing hangs: without a loss every worker gets the right values, and otherwise every call ends. After a
// loss the workers that are left go on together, with the lost ones started again or without them, and get the right values.
func TestSchedules(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			count, lost := 0, 0
			for number := range *schedules {
				if *single >= 0 && number != *single {
					continue
				}
				if testing.Short() && number >= 300 && *single < 0 {
					break
				}
				if drawSchedule(number).faults.Lost != nil {
					lost++
				}
				count++
				trace := runOne(t, kind.run, number)
				if number%repeated == 0 && runOne(t, kind.run, number) != trace {
					t.Errorf("seed %d, schedule %d: a second run differs", *seed, number)
				}
				if t.Failed() {
					t.Fatalf("go test ./internal/testkit/faultnet -run Schedules/%s -seed %d -schedule %d", kind.name, *seed, number)
				}
			}
			t.Logf("seed %d: %d schedules, %d of them with lost workers", *seed, count, lost)
		})
	}
}

func runOne(t *testing.T, run func(s schedule) (uint64, error), number int) (trace uint64) {
	defer func() {
		if p := recover(); p != nil {
			s := drawSchedule(number)
			t.Errorf("seed %d, schedule %d (%d workers, %+v): %v", *seed, number, s.size, s.faults, p)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		var err error
		s := drawSchedule(number)
		if trace, err = run(s); err != nil {
			t.Errorf("seed %d, schedule %d (%d workers, %+v): %v", *seed, number, s.size, s.faults, err)
		}
		time.Sleep(Patience) // goroutines that workers have left behind end too
	})
	return trace
}

// judge checks how a run with faults has ended. A lost worker's error is ErrLost; without one nobody fails; with one, another worker has finished
// or was told of a lost one.
func judge(f Faults, errs []error) error {
	lost := 0
	for _, err := range errs {
		if errors.Is(err, ErrLost) && !errors.Is(err, topology.ErrAborted) {
			lost++
		}
	}
	for rank, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, topology.ErrAborted) && lost > 0:
		case errors.Is(err, ErrLost) && f.Lost != nil:
		default:
			return fmt.Errorf("rank %d of a run with %d lost workers: %w", rank, lost, err)
		}
	}
	return nil
}

// calm are the faults of the phase after a loss: only delays.
func (s schedule) calm() Faults {
	f := s.faults
	f.Lost, f.Stall = nil, 0
	return f
}

// layout draws nodes under one or several switches.
func (s schedule) layout(size int) topology.Layout {
	spec := topology.Spec{Name: "drawn", Nodes: 2 * size, NodesPerSupernode: 1 + s.random.IntN(size), Oversubscription: 1, BytesPerSecond: 1e9, Latency: 1e-6, ReduceBytesPerSecond: 1e9}
	l, err := topology.NewLayout(spec, size, []topology.Mapping{topology.Block, topology.RoundRobin}[s.random.IntN(2)])
	if err != nil {
		panic(err)
	}
	return l
}

// reducer draws an algorithm; dynamic chooses by the virtual clock.
func (s schedule) reducer(size, n int) func(t topology.Transport) interface{ Run([]float32) error } {
	l := s.layout(size)
	names := append(topology.Fixed(), topology.Measured)
	name := names[s.random.IntN(len(names))]
	start := time.Now()
	return func(t topology.Transport) interface{ Run([]float32) error } {
		if name == topology.Measured {
			return topology.NewDynamic(t, l, n, func() topology.VTime { return topology.VTime(time.Since(start).Seconds()) })
		}
		return topology.NewAllReduce(t, topology.NewSchedule(name, l, n))
	}
}
