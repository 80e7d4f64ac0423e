package solver

import (
	"io"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// TestBackground: wait returns the error of the run that begin started, and raises its panic. The goroutine serves further runs.
func TestBackground(t *testing.T) {
	var work func() error
	b := inBackground(func() error { return work() })
	defer b.stop()
	for turn := range 6 {
		var carried *relay.Panic
		var err error
		func() {
			defer relay.Catch(&carried)
			work = func() error { return nil }
			switch turn % 3 {
			case 1:
				work = func() error { return io.EOF }
			case 2:
				work = func() error { panic("words") }
			}
			b.begin()
			err = b.wait()
		}()
		if (err == io.EOF) != (turn%3 == 1) || (carried != nil && carried.Value == "words") != (turn%3 == 2) {
			t.Errorf("turn %d: error %v, panic %v", turn, err, carried)
		}
	}
}
