package serve

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTurns: a run with all cores has none beside it; others go on side by side.
func TestTurns(t *testing.T) {
	var u turns
	u.init()
	if !u.begin(true) {
		t.Fatal("a run with none beside it does not have all cores")
	}
	u.end(true)
	if u.begin(false) || u.begin(true) {
		t.Fatal("a run has all cores that does not want them, or that has one beside it")
	}
	u.end(false)
	u.end(false)
	var taking sync.Mutex
	var running, wide, most atomic.Int32
	var workers sync.WaitGroup
	begin := time.Now()
	for w := range 4 {
		workers.Go(func() {
			for i := 0; i < 200 || wide.Load() == 0 && time.Since(begin) < 20*time.Second; i++ {
				taking.Lock()
				u.waitWide()
				all := u.begin((i+w)%3 == 0)
				taking.Unlock()
				n := running.Add(1)
				most.Store(max(most.Load(), n))
				if all {
					wide.Add(1)
				}
				time.Sleep(time.Microsecond)
				if all && running.Load() != 1 {
					t.Error("a run goes on beside one with all cores")
				}
				running.Add(-1)
				u.end(all)
			}
		})
	}
	workers.Wait()
	if wide.Load() == 0 || most.Load() < 2 {
		t.Errorf("%d runs with all cores, at most %d at once", wide.Load(), most.Load())
	}
}
