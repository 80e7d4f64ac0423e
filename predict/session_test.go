package predict

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
)

var models = []string{"../models/lenet/deploy.prototxt", "../models/cifar10_resnet8/deploy.prototxt", "../models/cifar10_quick/deploy.prototxt"}

// TestBatches: a batch gives what the net gives layer by layer on the reference path, and what its items give alone; the bits do not depend on the
// number of cores.
func TestBatches(t *testing.T) {
	for _, path := range models {
		plain := plainNet(t, path, 3)
		m := load(t, Options{Net: path, Weights: save(t, plain)})
		one, three := session(t, m, 1), session(t, m, 3)
		size := m.itemSize()
		for _, n := range []int{1, 2, 5, 8} {
			x := noise(n*size, uint64(n))
			in := plain.Blob("data")
			in.Reshape(append([]int{n}, m.Inputs()[0].Shape[1:]...)...)
			if err := plain.Reshape(); err != nil {
				t.Fatal(err)
			}
			copy(in.Data(), x)
			if _, err := plain.Forward(); err != nil {
				t.Fatal(err)
			}
			want, got := plain.Outputs()[0].Blob.Data(), run(t, one, Array{Values: x})[0]
			if !near(got, want, 1e-4) {
				t.Errorf("%s: batch of %d: %v, layer by layer %v", path, n, got[:5], want[:5])
			}
			if again := run(t, three, Array{Name: "data", Shape: in.Shape(), Values: x})[0]; !slices.Equal(got, again) {
				t.Errorf("%s: batch of %d: other bits on 3 cores", path, n)
			}
			classes := len(got) / n
			for i := range n {
				if alone := run(t, one, Array{Values: x[i*size:][:size]})[0]; !near(alone, got[i*classes:][:classes], 1e-4) {
					t.Errorf("%s: item %d alone and in a batch of %d differ", path, i, n)
				}
			}
		}
	}
}

// TestAtOnce: what sessions of several goroutines give, with batches of many sizes, is at every bit what one session gives.
func TestAtOnce(t *testing.T) {
	for _, path := range models {
		m := load(t, Options{Net: path, Weights: save(t, plainNet(t, path, 4)), Plans: 2})
		alone, size := session(t, m, 1), m.itemSize()
		const goroutines, most = 8, 5
		inputs, want := make([][]float32, most+1), make([][]float32, most+1)
		for n := 1; n <= most; n++ {
			inputs[n] = noise(n*size, uint64(n))
			want[n] = run(t, alone, Array{Values: inputs[n]})[0]
		}
		pool, err := m.NewPool(3, 2)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				for turn := range 6 {
					n := 1 + (g+turn*3)%most
					err := pool.Do(context.Background(), func(s *Session) error {
						outs, err := s.Run(context.Background(), Array{Values: inputs[n]})
						if err == nil && !slices.Equal(outs[0].Values, want[n]) {
							err = fmt.Errorf("a batch of %d has other values than alone", n)
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		if err := pool.Do(context.Background(), func(*Session) error { return nil }); err == nil {
			t.Error("a closed pool hands out a session")
		}
	}
}

// TestWeightsOnce: the weights of all plans of all sessions are the model's memory, and nobody makes their version unknown.
func TestWeightsOnce(t *testing.T) {
	for _, path := range models {
		m := load(t, Options{Net: path, Weights: save(t, plainNet(t, path, 5))})
		for range 3 {
			s := session(t, m, 1)
			for _, n := range []int{1, 4} {
				run(t, s, Array{Values: noise(n*m.itemSize(), 1)})
			}
			for _, p := range s.plans {
				for i, w := range p.net.Learnable() {
					of := m.weights.Learnable()[i].Blob
					if unsafe.SliceData(w.Blob.Values()) != unsafe.SliceData(of.Values()) {
						t.Errorf("%s: weight %d of layer %s is a copy", path, w.Index, w.Layer)
					}
					if _, known := of.Version(); !known {
						t.Errorf("%s: weight %d of layer %s may have changed", path, w.Index, w.Layer)
					}
				}
			}
		}
	}
}

// TestPackedOnce: packed and folded weights of all plans of all sessions are in memory once, in the place of the model's own, and results are those of a lone
// session.
func TestPackedOnce(t *testing.T) {
	const values = 5 * 1024 * 1024
	net := `layer { name: "x" type: "Input" top: "c0" input_param { shape { dim: 1 dim: 1024 dim: 2 dim: 2 } } }`
	for i := range 5 {
		net += fmt.Sprintf(`layer { name: "c%d" type: "Convolution" bottom: "c%d" top: "c%[1]d" convolution_param { num_output: 1024 kernel_size: 1 bias_term: false weight_filler { type: "msra" } } }`+"\n", i+1, i)
		if i > 2 {
			net += fmt.Sprintf(`layer { name: "s%d" type: "Scale" bottom: "c%[1]d" top: "c%[1]d" scale_param { filler { type: "gaussian" std: 2 } } }`+"\n", i+1)
		}
	}
	path := write(t, "packed.prototxt", net)
	alone, m := session(t, load(t, Options{Net: path, Seed: 1}), 1), load(t, Options{Net: path, Seed: 1})
	heap := func() float64 {
		var now runtime.MemStats
		for range 3 { // what a collection finds to be dead may hold more
			runtime.GC()
		}
		runtime.ReadMemStats(&now)
		return float64(now.HeapAlloc)
	}
	var first float64
	for i := range 3 {
		s := session(t, m, 1+i%2)
		for _, n := range []int{1, 2, 5} {
			x := noise(n*m.itemSize(), uint64(n))
			if !slices.Equal(run(t, s, Array{Values: x})[0], run(t, alone, Array{Values: x})[0]) {
				t.Errorf("session %d, %d items: other results than those of a lone session", i, n)
			}
			if now := heap(); first == 0 {
				first = now
			} else if now-first > values {
				t.Errorf("session %d, %d items: %.0f bytes more than after the first run, for weights of %d", i, n, now-first, 4*values)
			}
		}
	}
	stowed := 0
	for _, w := range m.weights.Learnable() {
		if w.Blob.Stowed() {
			stowed++
		}
	}
	if stowed != 5 {
		t.Errorf("%d of 5 layers' own weights are stowed", stowed)
	}
}

// TestPlans: a session keeps the plans that were used last, up to its bound.
func TestPlans(t *testing.T) {
	m := load(t, Options{Net: models[0], Plans: 2})
	s := session(t, m, 1)
	var seen []*plan
	for _, n := range []int{1, 2, 1, 3, 1} {
		if err := s.Prepare(n); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, s.plans[0])
		if len(s.plans) > 2 {
			t.Fatalf("%d plans are kept", len(s.plans))
		}
	}
	if seen[2] != seen[0] || seen[4] != seen[0] || seen[1] == seen[0] {
		t.Error("the plan for 1 was made more than once")
	}
	if err := s.Prepare(2); err != nil {
		t.Fatal(err)
	}
	if s.plans[0] == seen[1] {
		t.Error("the plan for 2 was kept too long")
	}
}

// ending is a context that ends after a number of questions.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelled: a run ends between layers and between batches, and the session then works as before.
func TestCancelled(t *testing.T) {
	m := load(t, Options{Net: models[0], Batch: 2})
	s := session(t, m, 2)
	x := noise(m.itemSize(), 1)
	want := run(t, s, Array{Values: x})[0]
	_, err := s.Run(&ending{context.Background(), 3}, Array{Values: x})
	if !errors.Is(err, context.Canceled) || err.Error() != fmt.Sprintf("stopped before layer %q: context canceled", m.weights.LayerName(3)) {
		t.Errorf("after 3 layers: %v", err)
	}
	items := []*Item{{Values: x}, {Values: x}, {Values: x}}
	if classes, err := s.Classify(&ending{context.Background(), m.weights.NumLayers() + 2}, 1, items...); !errors.Is(err, context.Canceled) {
		t.Errorf("in the second batch: %v, %v", classes, err)
	}
	if got := run(t, s, Array{Values: x})[0]; !slices.Equal(got, want) {
		t.Error("a run after one that ended early has other values")
	}
	if err := s.enter(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(context.Background(), Array{Values: x}); err == nil {
		t.Error("two goroutines use a session")
	}
	s.leave()
	pool, err := m.NewPool(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	err = pool.Do(context.Background(), func(*Session) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return pool.Do(ctx, func(*Session) error { return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for a session: %v", err)
	}
}

// TestRunsAllocateNothing: runs of a size that the session has a plan for allocate nothing.
func TestRunsAllocateNothing(t *testing.T) {
	m := load(t, Options{Net: models[0]})
	s := session(t, m, 2)
	x, ctx := noise(3*m.itemSize(), 1), context.Background()
	in := Array{Values: x}
	do := func(n int) int {
		return alloctest.Count(func() {
			for range n {
				if _, err := s.Run(ctx, in); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	do(3)
	if few, many := do(2), do(52); many-few > 10 {
		t.Errorf("50 runs allocate %d times", many-few)
	}
}

// TestNaN: arrays of NaN are computed like any others: scores of NaN come last, and no object is found by them.
func TestNaN(t *testing.T) {
	m := load(t, Options{Net: models[0]})
	s := session(t, m, 1)
	nan := slices.Repeat([]float32{float32(math.NaN())}, m.itemSize())
	classes, err := s.Classify(context.Background(), 3, &Item{Values: nan}, &Item{Values: noise(m.itemSize(), 1)})
	if err != nil || len(classes) != 2 || len(classes[0]) != 3 || !math.IsNaN(float64(classes[0][0].Score)) || math.IsNaN(float64(classes[1][0].Score)) {
		t.Errorf("%v, %v", classes, err)
	}
	m = load(t, Options{Net: write(t, "d.prototxt", detection), Seed: 1})
	s = session(t, m, 1)
	nan = slices.Repeat(nan[:1], m.itemSize())
	if _, err := s.Detect(context.Background(), 0, &Item{Values: nan, Height: 4, Width: 4}); err != nil {
		t.Error(err)
	}
}

// TestPlan: a session plans the net for a number of items without a run, and later calls find that plan.
func TestPlan(t *testing.T) {
	s := session(t, load(t, Options{Net: write(t, "n.prototxt", laterNet)}), 1)
	if err := s.Plan(0); err == nil || !strings.Contains(err.Error(), "0 items") {
		t.Errorf("for no items: %v", err)
	}
	ran := false
	s.Observe(func(string, string, time.Time) { ran = true })
	if err := s.Plan(2); err != nil || len(s.plans) != 1 || ran {
		t.Errorf("%v, %d plans, a layer ran: %v", err, len(s.plans), ran)
	}
	if err := s.Prepare(2); err != nil || len(s.plans) != 1 || !ran {
		t.Errorf("prepared: %v, %d plans, a layer ran: %v", err, len(s.plans), ran)
	}
}
