package models_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
)

// steadySolver trains a model, on small batches, without tests, snapshots and lines in the log; a net for ImageNet with its numbers
// of maps and units divided by divisor.
func steadySolver(t testing.TB, model string, divisor uint32) *solver.Solver {
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
		thinOut(net.Param, divisor)
		p.TrainState = &caffepb.NetState{Stage: []string{synthetic}}
	}
	smallBatches(net.Param)
	p.TestIter, p.TestInterval, p.TestState = nil, nil, nil
	p.Net, p.NetParam, p.TrainNetParam = nil, nil, net.Param
	p.BaseLr = proto.Float32(1e-6)
	p.Display, p.Snapshot, p.SnapshotAfterTrain = proto.Int32(0), proto.Int32(0), proto.Bool(false)
	v, err := solver.New(file, solver.Options{Machine: host(t, runtime.GOMAXPROCS(0))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// TestSteadyIterationsAllocateNothing: after the third iteration, neither the passes, nor the update, nor the data prefetcher
// allocate. The allocations at the start of Step are the same for few iterations and for many.
func TestSteadyIterationsAllocateNothing(t *testing.T) {
	t.Chdir(root)
	for model, more := range map[string]int{"lenet": 200, "cifar10_quick": 100, "resnet18": 20, "googlenet": 20, "alexnet": 20} {
		t.Run(model, func(t *testing.T) {
			v := steadySolver(t, model, thin)
			step := func(n int) int {
				return alloctest.Count(func() {
					if err := v.Step(n); err != nil {
						t.Fatal(err)
					}
				})
			}
			step(3)
			few, many := step(2), step(2+more)
			if each := (many - few) / more; each > 0 {
				t.Errorf("an iteration allocates %d times", each)
			}
		})
	}
}

// BenchmarkTraining is an iteration of a solver on small batches. allocs/op counts the allocations of the passes, the update and
// the prefetcher in the steady state.
func BenchmarkTraining(b *testing.B) {
	b.Chdir(root)
	for _, model := range []string{"lenet", "cifar10_quick", "alexnet", "googlenet", "resnet50", "vgg16"} {
		b.Run(model, func(b *testing.B) {
			v := steadySolver(b, model, 1)
			step := func(n int) {
				if err := v.Step(n); err != nil {
					b.Fatal(err)
				}
			}
			step(3)
			alloctest.Stock()
			b.ReportAllocs()
			b.ResetTimer()
			step(b.N)
		})
	}
}

// TestNoGoroutineOutlivesASolver: closing a solver ends what reads its data, and closing its machine the core groups' workers.
func TestNoGoroutineOutlivesASolver(t *testing.T) {
	t.Chdir(root)
	before := runtime.NumGoroutine()
	for _, model := range []string{"lenet", "char_rnn", "mnist_siamese"} {
		t.Run(model, func(t *testing.T) {
			if err := steadySolver(t, model, thin).Step(2); err != nil {
				t.Fatal(err)
			}
		})
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if runtime.NumGoroutine() <= before { // a goroutine told to end takes a moment
			return
		}
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), strings.TrimSpace(string(stacks)))
}
