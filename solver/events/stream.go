package events

import (
	"sync"
	"time"
)

// Event is something that happened in a run, with its time.
type Event struct {
	Time time.Time
	Body
}

// Body is the part of an event that depends on its kind: a Started, Iteration, Test, Snapshot, Stopped or Crashed.
type Body interface {
	// Kind returns the name of the kind, as in docs/events.md.
	Kind() string
}

// Stream hands events to subscribers. The zero value is a stream without subscribers.
type Stream struct {
	mu          sync.Mutex
	subscribers []func(Event)
	now         func() time.Time
}

// NewStream returns a stream that stamps its events by a clock; nil means time.Now.
func NewStream(now func() time.Time) *Stream {
	if now == nil {
		now = time.Now
	}
	return &Stream{now: now}
}

// Subscribe adds a function that takes every later event. It must return quickly, and must not publish: the run waits for it.
func (s *Stream) Subscribe(take func(Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, take)
}

// Publish hands an event to all subscribers.
func (s *Stream) Publish(b Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := Event{Time: s.now(), Body: b}
	for _, take := range s.subscribers {
		take(e)
	}
}
