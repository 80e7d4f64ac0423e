package op

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestKept: of many kernels that want the same form at the same time one packs it, and the next one if that fails or panics; another layout is another form. A form
// is gone with the last kernel that has it.
func TestKept(t *testing.T) {
	for _, fault := range []string{"", "error", "panic"} {
		w, packed := new(Weights), atomic.Int32{}
		kernels := make([]*Kept, 8)
		for i := range kernels {
			kernels[i] = &Kept{Layout: "a", Size: 1000}
		}
		pack := func(k *Kept) func() error {
			return func() error {
				if packed.Add(1) == 1 && fault == "error" {
					return errors.New("the first fails")
				} else if packed.Load() == 1 && fault == "panic" {
					panic("the first")
				}
				for i := range k.form.values {
					k.form.values[i]++
				}
				return nil
			}
		}
		run := func(k *Kept) (failed bool) {
			defer func() { failed = failed || recover() != nil }()
			return k.Pack(w, pack(k)) != nil
		}
		var all sync.WaitGroup
		var failures atomic.Int32
		for _, k := range kernels {
			all.Go(func() {
				for !k.Keeps(w) {
					if run(k) {
						failures.Add(1)
					}
				}
				if v := k.Memory(nil, w, 1000); v[0] != 1 || v[999] != 1 {
					t.Errorf("%s: packed values are %g and %g", fault, v[0], v[999])
				}
			})
		}
		all.Wait()
		want := int32(1)
		if fault != "" {
			want++
		}
		if packed.Load() != want || failures.Load() != want-1 {
			t.Errorf("%q: packed %d times with %d failures", fault, packed.Load(), failures.Load())
		}
		other := &Kept{Layout: "b", Size: 1000}
		if other.Keeps(w) || other.Pack(w, pack(other)) != nil || packed.Load() != want+1 {
			t.Error("another layout has the same form")
		}
		if k := kernels[0]; k.Keeps(new(Weights)) || !k.Keeps(w) || k.Form(w) != nil {
			t.Error("other weights count as packed, or forms can be restored without Restore")
		}
		if err := kernels[0].Pack(nil, func() error { packed.Store(-1); return nil }); err != nil || packed.Load() != -1 {
			t.Error("weights that may change are not packed")
		}
		gone := make(chan bool)
		runtime.AddCleanup(other.form, func(ended chan bool) { close(ended) }, gone)
		other = nil
		for begin := time.Now(); ; time.Sleep(time.Millisecond) {
			runtime.GC()
			select {
			case <-gone:
			default:
				if time.Since(begin) < 10*time.Second {
					continue
				}
				t.Error("a form outlives its kernel")
			}
			break
		}
		if !(&Kept{Layout: "a"}).Keeps(w) || (&Kept{Layout: "b"}).Keeps(w) {
			t.Error("the form of living kernels is gone, or that of dead ones is there")
		}
		runtime.KeepAlive(kernels)
	}
}
