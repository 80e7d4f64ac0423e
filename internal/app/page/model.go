package page

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/modelplot"
	"github.com/swcaffe/swcaffe/solver/events"
)

// model answers with a run's net on its modelled machine. It needs the run's first event only, so that boards and ended runs have it too.
func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	started, err := s.startOf(q.Get("run"))
	if err != nil {
		refuse(w, err)
		return
	}
	if started.MachineText == "" {
		refuse(w, errors.New("the run is on this computer, not on a modelled machine"))
		return
	}
	s.modelling.Lock() // it takes a processor for seconds if the net is large
	defer s.modelling.Unlock()
	// An error here shows in the write below.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(lookTimeout))
	v, err := modelplot.NewView(started.NetText, started.MachineText, q.Get("layer"), q.Get("direction"))
	answer(w, v, err)
}

// startOf returns the start of a run; "": of the first one.
func (s *Server) startOf(run string) (*events.Started, error) {
	for _, r := range s.cfg.Runs() {
		if run != "" && r.Name != run {
			continue
		}
		if started := r.History.State().Started; started != nil {
			return started, nil
		}
		return nil, errNotStarted
	}
	return nil, fmt.Errorf("there is no run %q", run)
}
