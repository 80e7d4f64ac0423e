package relay

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// explode is the function that a carried stack must name.
func explode(value any) { panic(value) }

// TestPanic: a panic of another goroutine arrives with its value and its stack, and keeps them when it is carried once more.
func TestPanic(t *testing.T) {
	var p *Panic
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer Catch(&p)
		explode(io.ErrUnexpectedEOF)
	}()
	<-done
	if p == nil || !errors.Is(p, io.ErrUnexpectedEOF) || !strings.Contains(p.Error(), "unexpected EOF") || !strings.Contains(p.Error(), "relay.explode") {
		t.Fatalf("caught %v", p)
	}
	again := func() (err error) {
		defer CatchError(&err)
		p.Raise()
		return nil
	}()
	if again != error(p) {
		t.Errorf("carried twice: %v", again)
	}
	var q *Panic
	func() {
		defer Catch(&q)
		t.Errorf("RaiseIn returned %v", RaiseIn(again))
	}()
	if q != p {
		t.Errorf("RaiseIn raised %v", q)
	}
}

// TestNoPanic: nothing is caught or raised without a panic, and errors are handed on.
func TestNoPanic(t *testing.T) {
	var p *Panic
	err := func() (err error) {
		defer Catch(&p)
		defer CatchError(&err)
		return io.EOF
	}()
	p.Raise()
	if p != nil || err != io.EOF || RaiseIn(err) != io.EOF || RaiseIn(nil) != nil {
		t.Errorf("caught %v, returned %v", p, err)
	}
	if (&Panic{Value: "words"}).Unwrap() != nil {
		t.Error("words are an error")
	}
}
