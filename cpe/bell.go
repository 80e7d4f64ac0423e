package cpe

import (
	"sync/atomic"
	"time"
)

// bell lets one goroutine wait for what another one does.
type bell struct {
	asleep atomic.Bool
	rings  atomic.Uint32
	sleeper
}

// ring wakes the goroutine that waits, if it is asleep; one that is about to sleep looks again. What it waits for must be so before.
func (b *bell) ring() {
	if b.asleep.Load() {
		b.rings.Add(1)
		b.wake(&b.rings)
	}
}

// await returns when ready does so. If that is not at once, await calls late, which may be nil. A goroutine that is woken polls again before it sleeps: what
// it was woken for may have been done by others, and more come soon.
func (b *bell) await(ready func() bool, late func()) {
	for {
		for range looks {
			if ready() {
				return
			}
		}
		if late != nil {
			late()
		}
		for start := time.Now(); time.Since(start) < patience; yield() {
			if ready() {
				return
			}
		}
		heard := b.rings.Load()
		b.asleep.Store(true)
		if ready() {
			b.asleep.Store(false)
			return
		}
		b.sleep(&b.rings, heard)
		b.asleep.Store(false)
	}
}
