package python

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// Fault is an error as Python sees it.
type Fault struct {
	Kind string `json:"kind"` // the exception's class
	Text string `json:"text"`
	// Exception is the key of an exception that Python code raised, a layer or a callback; 0: none. Text then says where.
	Exception int64 `json:"exception,omitempty"`
}

func (f *Fault) Error() string { return f.Text }

// raised is the error of Python code.
type raised struct{ key int64 }

func (r *raised) Error() string { return "an exception in Python" }

// faultOf describes an error.
func faultOf(err error) *Fault {
	var fault *Fault
	if errors.As(err, &fault) {
		return fault
	}
	f := &Fault{Kind: "RuntimeError", Text: err.Error()}
	var exception *raised
	var tooMuch *pages.TooMuch
	switch {
	case errors.As(err, &exception):
		f.Exception = exception.key
	case errors.As(err, &tooMuch):
		f.Kind = "MemoryError"
	}
	return f
}

// guard, called by defer, turns a panic into an error. The panic may come from a goroutine of the machine or of a data layer (relay).
func guard(err *error) {
	if r := recover(); r != nil {
		p := relay.Recovered(r)
		if *err = pages.Outside(p); *err == nil {
			*err = fmt.Errorf("a fault inside swcaffe: %w", p)
		}
	}
}

// Exit runs a command and returns its exit code. A panic is printed, and the code is then 2, with which Go ends a process after a panic.
func Exit(command func() int) (code int) {
	defer func() {
		if r := recover(); r != nil {
			_, _ = fmt.Fprintf(stderr{}, "a fault inside swcaffe: %v\n", relay.Recovered(r))
			code = 2
		}
	}()
	return command()
}

// faults holds errors of calls that return only a number, until Python fetches them.
var faults struct {
	mu   sync.Mutex
	of   map[int64]*Fault
	last int64
}

// Keep returns a number for an error, 0 for none.
func Keep(err error) int64 {
	if err == nil {
		return 0
	}
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if faults.of == nil {
		faults.of = map[int64]*Fault{}
	}
	faults.last++
	faults.of[faults.last] = faultOf(err)
	return faults.last
}

// Describe returns the error of a number as JSON, and forgets it.
func Describe(number int64) []byte {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	f := faults.of[number]
	delete(faults.of, number)
	text, err := json.Marshal(answer{Fault: f})
	if err != nil {
		panic("python: " + err.Error())
	}
	return text
}

// mustExist returns an error like Caffe's for a file that cannot be opened.
func mustExist(path string) error {
	f, err := os.Open(path)
	if err != nil {
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			err = e.Err
		}
		return fmt.Errorf("could not open file %s: %w", path, err)
	}
	return f.Close()
}

func invalid(format string, args ...any) error {
	return &Fault{Kind: "ValueError", Text: fmt.Sprintf(format, args...)}
}
