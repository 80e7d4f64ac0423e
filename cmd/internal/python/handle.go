package python

import (
	"fmt"
	"strings"
	"sync"
)

// Handle stands for an object. 0 is none.
type Handle uint64

// object is a Go object that Python holds.
type object interface {
	// release ends Python's use of the object.
	release()
}

// table holds the objects by their handles.
type table struct {
	mu      sync.Mutex
	objects map[Handle]object
	last    Handle
}

var objects = table{objects: map[Handle]object{}}

// add returns a new handle.
func (t *table) add(o object) Handle {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.objects[t.last] = o
	return t.last
}

// Release ends the use of a handle. Unknown handles are ignored.
func Release(h Handle) {
	objects.mu.Lock()
	o := objects.objects[h]
	delete(objects.objects, h)
	objects.mu.Unlock()
	if o == nil {
		return
	}
	var fault error
	func() {
		defer guard(&fault)
		o.release()
	}()
	if fault != nil {
		logger().Error(fault)
	}
}

// Held returns the number of handles, for tests of lifetimes.
func Held() int {
	objects.mu.Lock()
	defer objects.mu.Unlock()
	return len(objects.objects)
}

// find returns the object of a handle, which must have type T.
func find[T object](h Handle) (T, error) {
	objects.mu.Lock()
	o := objects.objects[h]
	objects.mu.Unlock()
	found, ok := o.(T)
	if !ok {
		return found, &Fault{Kind: "ValueError", Text: fmt.Sprintf("this %s was closed or released", strings.TrimPrefix(fmt.Sprintf("%T", found), "*python."))}
	}
	return found, nil
}
