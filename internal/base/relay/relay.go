// Package relay carries panics from one goroutine to another.
//
// A Panic is a panic of a goroutine that works for another one. Nobody can recover it at its place: the work was begun by a goroutine that
// waits for its end, and Go ends the process if the worker's own stack does not recover. So the worker catches it, and the waiting
// goroutine raises it again. There the library behind the Python module makes it an exception, and a command prints it and exits as
// it does for any panic.
//
//	func (w *worker) run() {
//		defer relay.Catch(&w.panicked)
//		w.work()
//	}
//
//	... wait for the worker, then
//	w.panicked.Raise()
package relay

import (
	"fmt"
	"runtime/debug"
)

// Panic is the value of a panic and the stack of the goroutine where it happened. It is an error, so that functions that return errors can
// hand it on to a place that raises it.
type Panic struct {
	Value any
	Stack []byte
}

// Error returns the panic's value and the stack.
func (p *Panic) Error() string {
	return fmt.Sprintf("%v\n\nin a goroutine with the stack\n%s", p.Value, p.Stack)
}

// Unwrap returns the panic's value if it is an error, else nil.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Raise panics with p, unless p is nil.
func (p *Panic) Raise() {
	if p != nil {
		panic(p)
	}
}

// Catch, called by defer, ends a panic and sets *to to it. A Panic that was carried here already stays as it is.
func Catch(to **Panic) {
	if r := recover(); r != nil {
		*to = Recovered(r)
	}
}

// CatchError is Catch for a function that returns an error.
func CatchError(to *error) {
	if r := recover(); r != nil {
		*to = Recovered(r)
	}
}

// Error calls work and returns its error, or its panic as an error.
func Error(work func() error) (err error) {
	defer CatchError(&err)
	return work()
}

// Recovered returns the panic of a value that recover returned: nil for nil, the value itself if it is a Panic that was carried here, else a
// Panic with the stack of the caller.
func Recovered(value any) *Panic {
	if value == nil {
		return nil
	}
	if p, ok := value.(*Panic); ok {
		return p
	}
	return &Panic{value, debug.Stack()}
}

// RaiseIn panics with err if err is a Panic, and returns it otherwise.
func RaiseIn(err error) error {
	if p, ok := err.(*Panic); ok {
		panic(p)
	}
	return err
}
