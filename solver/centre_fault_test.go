package solver

import (
	"errors"
	"testing"
)

// TestQueueNamesLowest: of several workers that fail in virtual time the lowest is named, whoever was first.
func TestQueueNamesLowest(t *testing.T) {
	q := NewQueue(3, nil, 0)
	q.centre = newCentre(centreKind{order: firstCome}, 3, 0, nil, 0)
	waiting := make(chan error)
	go func() { waiting <- q.workers[0].exchange([]float32{1}) }()
	q.workers[2].fail(errors.New("of the third"))
	q.workers[1].fail(errors.New("of the second"))
	if err := <-waiting; err == nil || err.Error() != "rank 1: of the second" {
		t.Errorf("got %v, want the error of rank 1", err)
	}
}

// TestTurnsBeforeFault: where workers take turns, the requests that come before that of one that has failed are served, whenever it did.
func TestTurnsBeforeFault(t *testing.T) {
	c := newCentre(centreKind{order: inTurn, rule: descend}, 3, 0, make([]float32, 1), 1)
	broken := errors.New("broken")
	c.fail(2, broken)
	for rank := range 2 {
		if err := c.serve(rank, []float32{1}, 0); err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if err := c.serve(0, []float32{1}, 0); err != broken || c.weights[0] != -2 {
		t.Errorf("weight %g and error %v after two requests, want -2 and %v", c.weights[0], err, broken)
	}
}
