package serve

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/predict"
)

// TestCheapest: the largest size counts unless a smaller one is cheaper by more than measurements differ.
func TestCheapest(t *testing.T) {
	for _, c := range []struct {
		paces []time.Duration
		want  int
	}{
		{[]time.Duration{1000, 900, 800, 700}, 8},
		{[]time.Duration{1000, 700, 800, 900}, 2},
		{[]time.Duration{1000, 705, 700, 720}, 8},
		{[]time.Duration{1000, 705, 700, 722}, 4},
		{[]time.Duration{100, 705, 700, 722}, 1},
	} {
		if got := cheapest([]int{1, 2, 4, 8}, c.paces); got != c.want {
			t.Errorf("%v: %d, want %d", c.paces, got, c.want)
		}
	}
}

// TestRunsOfTheCheapestSize: a version measures its sizes. Runs that share its cores are cut into pieces of the one that was found, a run on all cores is not; and no more
// requests join than have so many items.
func TestRunsOfTheCheapestSize(t *testing.T) {
	cfg := config(t)
	cfg.Cores, cfg.Sessions = 2, 2
	s, _ := run(t, cfg)
	v, err := s.repository.find("m", "")
	if err != nil {
		t.Fatal(err)
	}
	defer v.users.Done()
	<-v.begun
	if n := int(v.best.Load()); !slices.Contains(v.sizes(), n) {
		t.Fatalf("of sizes %v, %d is the cheapest", v.sizes(), n)
	}
	v.best.Store(2)
	shape := slices.Clone(v.model.Inputs()[0].Shape)
	shape[0] = 7
	in := []predict.Array{{Name: v.model.Inputs()[0].Name, Shape: shape, Values: make([]float32, blob.CountOf(shape...))}}
	for i, want := range [][]float64{{2, 2, 2, 1}, {4, 2, 1}} {
		r, got := []*runner{v.runners[0], v.wide}[i], []float64(nil)
		v.meter.batch = prometheus.ObserverFunc(func(n float64) { got = append(got, n) })
		if _, err := r.runItems(t.Context(), in, 7); err != nil || !slices.Equal(got, want) {
			t.Errorf("7 items on %d cores: runs of %v, want %v; %v", r.cores, got, want, err)
		}
	}
	own := &version{batch: v.batch, runners: v.runners, meter: v.meter, queue: newQueue(8), delay: time.Hour} // all that come
	own.best.Store(2)
	for range 4 {
		own.queue.push(&job{ctx: t.Context(), items: 1})
	}
	if jobs := own.gather(&job{ctx: t.Context(), items: 1}); len(jobs) != 2 {
		t.Errorf("%d requests of one item join, want 2", len(jobs))
	}
}
