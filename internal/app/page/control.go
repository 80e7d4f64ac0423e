package page

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
)

// Button names a button of the page.
type Button string

// The buttons.
const (
	Snapshot Button = "snapshot" // a snapshot after the current iteration
	Stop     Button = "stop"     // a stop after the current iteration, with a snapshot if the run writes one at its end
	Test     Button = "test"     // a test before the next iteration
	Rate     Button = "rate"     // another learning rate from the next iteration on
)

// Control does what the buttons ask.
type Control interface {
	// Buttons lists the buttons that the run has.
	Buttons() []Button
	// Press takes a request and returns at once. value is the new learning rate of Rate, a positive number. An error refuses the request.
	Press(b Button, value float64) error
}

// press answers a button's request.
func (s *Server) press(w http.ResponseWriter, r *http.Request) {
	b := Button(r.PathValue("button"))
	if s.cfg.Control == nil || !slices.Contains(s.cfg.Control.Buttons(), b) {
		http.NotFound(w, r)
		return
	}
	var value float64
	if b == Rate {
		text := r.URL.Query().Get("value")
		var err error
		if value, err = strconv.ParseFloat(text, 64); err != nil || !(value > 0) || math.IsInf(value, 0) {
			http.Error(w, fmt.Sprintf("%q is no positive learning rate", text), http.StatusBadRequest)
			return
		}
	}
	if err := s.cfg.Control.Press(b, value); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// buttons lists the buttons that the run has.
func (s *Server) buttons() []Button {
	if s.cfg.Control == nil {
		return nil
	}
	return s.cfg.Control.Buttons()
}
