package cpe

import (
	"sync/atomic"
	"time"
)

// bell lets one goroutine wait for another, who rings once for each wait, even before it begins.
type bell struct {
	rings  atomic.Uint32
	heard  uint32 // by the one who waits
	asleep atomic.Bool
	sleeper
}

// looks is how often await looks before it lets other threads have the processor between looks: for some microseconds. patience is
// how long it goes on before it sleeps.
const (
	looks    = 8000
	patience = 300 * time.Microsecond
)

// ring ends a wait.
func (b *bell) ring() {
	b.rings.Add(1)
	if b.asleep.Load() {
		b.wake(&b.rings)
	}
}

// await returns when the bell has rung once more. If that does not come at once it calls late, which may be nil.
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
