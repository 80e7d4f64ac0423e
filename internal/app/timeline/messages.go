package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Categories of the spans that messages become.
const (
	CategoryMessage = "message" // a message's transfer, on its sender's lane
	CategoryWait    = "wait"    // a worker waits for another
)

// AddCall adds a call. The messages that calls of both sides make become spans when the recorder is read.
func (r *Recorder) AddCall(c Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.calls = append(r.calls, c)
	}
}

// AddMessage adds a message, of which both sides are known.
func (r *Recorder) AddMessage(m Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.messages = append(r.messages, m)
	}
}

// settle makes spans of the calls and messages so far: on the lane "sends" of a sender, and on the lane "waits" of who waits.
func (r *Recorder) settle() {
	messages := append(r.messages, match(r.calls)...)
	r.calls, r.messages = nil, nil
	slices.SortFunc(messages, func(a, b Message) int {
		return cmp.Or(a.Begin.Compare(b.Begin), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	of := map[int][]Message{}
	var workers []int
	for _, m := range messages {
		for _, worker := range []int{m.From, m.To} {
			if of[worker] == nil {
				workers = append(workers, worker)
			}
			of[worker] = append(of[worker], m)
		}
		notes := map[string]any{"from": m.From, "to": m.To, "bytes": m.Bytes}
		maps.Copy(notes, m.Notes)
		r.spans = append(r.spans, Span{
			Row: r.lane(m.From, "sends"), Name: "to " + r.name(m.To), Category: CategoryMessage, Begin: m.Begin, Took: m.End.Sub(m.Begin), Notes: notes,
		})
	}
	slices.Sort(workers)
	for _, worker := range workers {
		if r.servers[worker] {
			continue
		}
		for _, w := range waits(worker, of[worker]) {
			r.spans = append(r.spans, Span{
				Row: r.lane(worker, "waits"), Name: "for " + r.name(w.peer), Category: CategoryWait, Begin: w.begin, Took: w.end.Sub(w.begin), Notes: map[string]any{"for": w.peer},
			})
		}
	}
}

func (r *Recorder) name(worker int) string {
	if name, ok := r.rows[worker]; ok {
		return name
	}
	return fmt.Sprint("worker ", worker)
}
