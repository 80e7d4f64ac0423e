package python

import (
	"runtime"
	"sync"
	"unsafe"
)

// pinned is memory that numpy arrays look at.
type pinned struct {
	pin  runtime.Pinner
	uses int
	by   map[*int]int // the counters of its uses, and what they count
}

// memory holds the pinned memory by address.
var memory = struct {
	mu     sync.Mutex
	pinned map[uintptr]*pinned
}{pinned: map[uintptr]*pinned{}}

// look pins values for one more view. count, if not nil, counts the views.
func look(values []float32, count *int) (address uintptr) {
	if len(values) == 0 {
		return 0
	}
	start := unsafe.SliceData(values)
	address = uintptr(unsafe.Pointer(start))
	memory.mu.Lock()
	defer memory.mu.Unlock()
	p := memory.pinned[address]
	if p == nil {
		p = &pinned{}
		p.pin.Pin(start)
		memory.pinned[address] = p
	}
	p.uses++
	if count != nil {
		if p.by == nil {
			p.by = map[*int]int{}
		}
		p.by[count]++
		*count++
	}
	return address
}

// Forget ends one view of the memory at an address.
func Forget(address uintptr) {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	p := memory.pinned[address]
	if p == nil {
		return
	}
	if p.uses--; p.uses > 0 {
		return
	}
	for count, uses := range p.by {
		*count -= uses
	}
	p.pin.Unpin()
	delete(memory.pinned, address)
}

// Watched returns the number of stretches of memory that numpy looks at, for tests of lifetimes.
func Watched() int {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	return len(memory.pinned)
}

// isWatched reports whether numpy looks at a hidden blob of the net.
func (n *Net) isWatched() bool {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	return n.watched > 0
}

// isHeld reports whether numpy looks at weights or data of the net.
func (n *Net) isHeld() bool {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	return n.held > 0
}
