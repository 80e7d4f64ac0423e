package page

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/solver/events"
)

// pagedHistory returns the history of a run that has just started, with prototxts of a usual length, and a function that adds an iteration.
func pagedHistory() (h *events.History, add func()) {
	h = &events.History{}
	text := strings.Repeat("layer { }\n", 500)
	h.Take(events.Event{Time: time.Now(), Body: &events.Started{SolverText: text[:500], NetText: text}})
	i := 0
	return h, func() {
		h.Take(events.Event{Time: time.Now(), Body: &events.Iteration{Iteration: i, Loss: 1.2345, Outputs: []events.Value{{Name: "loss", Value: 1.2345, Weight: 1}}}})
		i++
	}
}

// BenchmarkIteration is what the page costs the training goroutine in an iteration.
func BenchmarkIteration(b *testing.B) {
	_, add := pagedHistory()
	for b.Loop() {
		add()
	}
}

// BenchmarkEvent is what an open page costs twice a second, with 25 new iterations each time.
func BenchmarkEvent(b *testing.B) {
	h, add := pagedHistory()
	r := &reader{server: &Server{cfg: Config{Runs: one(h)}}}
	for b.Loop() {
		b.StopTimer()
		for range 25 {
			add()
		}
		b.StartTimer()
		if _, err := json.Marshal(r.next()); err != nil {
			b.Fatal(err)
		}
	}
}
