package models_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
)

// steadySolver trains a model, on small batches, without tests, snapshots and lines in the log.
func steadySolver(t *testing.T, model string) *solver.Solver {
	t.Helper()
	file, err := swproto.ReadSolver(filepath.Join("models", model, "solver.prototxt"))
	if err != nil {
		t.Fatal(err)
	}
	net, err := swproto.ReadNet(file.Param.GetNet())
	if err != nil {
		t.Fatal(err)
	}
	p := file.Param
	if forImageNet(net) {
		thinOut(net.Param, 16)
		p.TrainState = &caffepb.NetState{Stage: []string{synthetic}}
	}
	smallBatches(net.Param)
	p.TestIter, p.TestInterval, p.TestState = nil, nil, nil
	p.Net, p.NetParam, p.TrainNetParam = nil, nil, net.Param
	p.BaseLr = proto.Float32(1e-6)
	p.Display, p.Snapshot, p.SnapshotAfterTrain = proto.Int32(0), proto.Int32(0), proto.Bool(false)
	v, err := solver.New(file, solver.Options{Machine: host(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// TestSteadyIterationsAllocateNothing: after the third iteration neither the passes nor the update allocate, nor what reads
// the data ahead. What Step allocates when it begins is the same for few iterations and for many. As in testing.AllocsPerRun less
// than one time an iteration is none: it is the runtime's own, for goroutines that park.
func TestSteadyIterationsAllocateNothing(t *testing.T) {
	t.Chdir(root)
	for model, more := range map[string]int{"lenet": 200, "cifar10_quick": 100, "resnet18": 20, "googlenet": 20, "alexnet": 20} {
		t.Run(model, func(t *testing.T) {
			v := steadySolver(t, model)
			step := func(n int) uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if err := v.Step(n); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return after.Mallocs - before.Mallocs
			}
			step(3)
			few, many := step(2), step(2+more)
			if each := (int(many) - int(few)) / more; each > 0 {
				t.Errorf("an iteration allocates %d times", each)
			}
		})
	}
}

// TestNoGoroutineOutlivesASolver: closing a solver ends what reads its data, and closing its machine the core groups' workers.
func TestNoGoroutineOutlivesASolver(t *testing.T) {
	t.Chdir(root)
	before := runtime.NumGoroutine()
	for _, model := range []string{"lenet", "char_rnn", "mnist_siamese"} {
		t.Run(model, func(t *testing.T) {
			if err := steadySolver(t, model).Step(2); err != nil {
				t.Fatal(err)
			}
		})
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond) // a goroutine that has been told to end takes a moment
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), strings.TrimSpace(string(stacks)))
}
