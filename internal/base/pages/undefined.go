package pages

import "sync"

// undefined is the memory that Undefined hands out.
var undefined struct {
	mu     sync.Mutex
	values []float32
}

// Undefined returns n values that all callers share and anybody may overwrite. It is for arrays of which only the length matters: on most
// systems only those pages take memory that somebody touches, and no page is zeroed. Undefined panics with a TooMuch like Floats.
func Undefined(n int) []float32 {
	Demand(float64(n))
	u := &undefined
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.values) < n { // the earlier memory stays: others may hold parts of it
		larger := untouched(max(n, 2*len(u.values), least))
		if larger == nil { // a limit of the address space leaves no room for later callers
			larger = untouched(n)
		}
		if larger == nil {
			panic(&TooMuch{4 * float64(n)})
		}
		u.values = larger
	}
	return u.values[:n:n]
}
