package cpe

import (
	"sync/atomic"
	"time"
)

// bell lets one goroutine wait for another. The other rings once for each wait, possibly before the wait begins.
type bell struct {
	rings  atomic.Uint32
	heard  uint32 // number of rings that the waiting goroutine has seen
	asleep atomic.Bool
	sleeper
}

// ring ends a wait.
func (b *bell) ring() {
	b.rings.Add(1)
	if b.asleep.Load() {
		b.wake(&b.rings)
	}
}

// await returns when the bell has rung once more. If it has not rung at once, await calls late, which may be nil.
func (b *bell) await(late func()) {
	heard := b.heard
	b.heard++
	for range looks {
		if b.rings.Load() != heard {
			return
		}
	}
	if late != nil {
		late()
	}
	for start := time.Now(); time.Since(start) < patience; yield() {
		if b.rings.Load() != heard {
			return
		}
	}
	for b.rings.Load() == heard {
		b.asleep.Store(true)
		b.sleep(&b.rings, heard)
		b.asleep.Store(false)
	}
}
