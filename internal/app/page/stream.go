package page

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/solver/events"
)

const (
	pace      = 500 * time.Millisecond // between events of a stream
	heartbeat = 15 * time.Second       // between signs of life while nothing happens
)

// news is one event of a stream: what has changed since the one before.
type news struct {
	Now     time.Time `json:"now"` // the server's clock
	Board   bool      `json:"board"`
	Buttons []Button  `json:"buttons"`
	Names   []string  `json:"names"` // of all runs; the reader forgets others
	Runs    []runNews `json:"runs"`  // those that have changed
}

// runNews is what has changed in a run.
type runNews struct {
	Name  string        `json:"name"`
	State events.State  `json:"state"` // without Started if the reader has it
	Parts []events.Part `json:"parts"`
}

// reader knows what a stream's client has read.
type reader struct {
	server *Server
	names  []string
	runs   map[Run]*place
}

// place is how far a client has read a run.
type place struct {
	changes int
	started *events.Started
	tables  map[string]events.Place
}

// next returns the news, nil if there are none.
func (r *reader) next() *news {
	n := &news{Now: time.Now(), Board: r.server.cfg.Board, Buttons: r.server.buttons()}
	first := r.runs == nil
	if first {
		r.runs = map[Run]*place{}
	}
	for _, run := range r.server.cfg.Runs() {
		n.Names = append(n.Names, run.Name)
		p := r.runs[run]
		if p == nil {
			p = &place{changes: -1, tables: map[string]events.Place{}}
			r.runs[run] = p
		}
		changes := run.History.Changes()
		if changes == p.changes {
			continue
		}
		p.changes = changes
		state, parts := run.History.News(p.tables)
		if p.started == state.Started {
			state.Started = nil
		} else {
			p.started = state.Started
		}
		n.Runs = append(n.Runs, runNews{run.Name, state, parts})
	}
	if !first && len(n.Runs) == 0 && slices.Equal(n.Names, r.names) {
		return nil
	}
	r.names = n.Names
	return n
}

// stream sends the whole history and then what changes. A page that does not read for writeTimeout is dropped.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	from, ended := &reader{server: s}, false
	clock := time.NewTicker(s.tick)
	defer clock.Stop()
	last := time.Now()
	for {
		var text []byte
		if n := from.next(); n != nil {
			body, err := json.Marshal(n)
			if err != nil {
				panic("page: " + err.Error())
			}
			text = append(append([]byte("data: "), body...), "\n\n"...)
		} else if time.Since(last) >= heartbeat {
			text = []byte(": nothing new\n\n")
		}
		if text != nil {
			last = time.Now()
			if !send(w, text) {
				return
			}
		}
		if ended {
			return
		}
		select {
		case <-clock.C:
		case <-r.Context().Done():
			return
		case <-s.closing:
			ended = true
		}
	}
}

// send writes an event of a stream. It reports whether the client took it in time.
func send(w http.ResponseWriter, text []byte) bool {
	c := http.NewResponseController(w)
	if c.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
		return false
	}
	if _, err := w.Write(text); err != nil {
		return false
	}
	return c.Flush() == nil
}
