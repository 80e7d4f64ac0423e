package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/inspect"
	"github.com/swcaffe/swcaffe/internal/app/netdraw"
	"github.com/swcaffe/swcaffe/internal/app/testreport"
	"github.com/swcaffe/swcaffe/internal/app/timeline"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Inspector looks into the net of a run that trains, after the current iteration's passes. Nothing is read unless a page asks.
type Inspector interface {
	Overview(ctx context.Context) (*inspect.Overview, error)
	Layer(ctx context.Context, name string) (*inspect.Layer, error)
	Batch(ctx context.Context) (*inspect.Batch, error)
	// Test returns at once what the last run of a test net has found that somebody had asked for. It has the next one collected.
	Test(net int) (*Tested, error)
	// Timeline records the next iteration.
	Timeline(ctx context.Context) (*Timeline, error)
}

// Timeline is when things happened in an iteration.
type Timeline struct {
	Iteration    int            `json:"iteration"`
	Rows         []timeline.Row `json:"rows"`
	Uses         []timeline.Use `json:"uses"`     // of the workers' times
	Note         string         `json:"note"`     // about other processes
	Modelled     []timeline.Row `json:"modelled"` // in the time of a modelled machine or cluster
	ModelledUses []timeline.Use `json:"modelled_uses"`
}

// Tested is what a run of a test net has found.
type Tested struct {
	Nets      int                 `json:"nets"`      // test nets of the run; 0: not known yet
	Iteration int                 `json:"iteration"` // that the test preceded
	Results   *testreport.Results `json:"results"`   // nil: none has been collected yet
	Note      string              `json:"note"`      // why there are no results
}

// lookTimeout limits the wait for an iteration's passes.
const lookTimeout = 5 * time.Minute

// drawing is the picture of a net.
type drawing struct {
	SVG    string            `json:"svg"`
	Places []netdraw.Place   `json:"places"`
	Texts  map[string]string `json:"prototxts"` // by layer
}

// drawNet draws the training net of a run.
func drawNet(started *events.Started) (*drawing, error) {
	var p caffepb.NetParameter
	if _, err := swproto.UnmarshalText("the run's net", []byte(started.NetText), &p); err != nil {
		return nil, err
	}
	state := p.GetState()
	if state == nil {
		state = &caffepb.NetState{}
	}
	state.Phase = caffepb.Phase_TRAIN.Enum()
	shapes := map[string][]string{}
	for _, l := range started.Layers {
		shapes[l.Name] = l.Tops
	}
	g, err := netdraw.New(&p, netdraw.Options{
		States: []*caffepb.NetState{state}, RankDir: "TB", Shapes: map[caffepb.Phase]map[string][]string{caffepb.Phase_TRAIN: shapes},
	})
	if err != nil {
		return nil, err
	}
	picture, err := g.Fitted()
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, l := range p.GetLayer() {
		texts[l.GetName()] = string(swproto.MarshalText(l))
	}
	return &drawing{string(picture), g.Places(), texts}, nil
}

var errNotStarted = errors.New("the training has not started yet")

// first returns the state of the first run.
func (s *Server) first() events.State {
	for _, r := range s.cfg.Runs() {
		return r.History.State()
	}
	return events.State{}
}

// net answers with a run's drawn net. It needs the run's first event only, so that boards and ended runs have it too.
func (s *Server) net(w http.ResponseWriter, r *http.Request) {
	started, err := s.startOf(r.URL.Query().Get("run"))
	if err != nil {
		refuse(w, err)
		return
	}
	d, err := drawNet(started)
	answer(w, d, err)
}

// look returns a handler that asks the Inspector.
func look[T any](s *Server, ask func(ctx context.Context, i Inspector, r *http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		state := s.first()
		switch {
		case s.cfg.Inspector == nil || state.Stopped != nil || state.Crashed != nil:
			refuse(w, errors.New("the run has ended"))
			return
		case state.Started == nil:
			refuse(w, errNotStarted)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), lookTimeout)
		defer cancel()
		go func() {
			select {
			case <-s.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		// An error here shows in the write below.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(lookTimeout + writeTimeout))
		v, err := ask(ctx, s.cfg.Inspector, r)
		if ctx.Err() != nil {
			err = errors.New("no iteration ended in time")
		}
		answer(w, v, err)
	}
}

// answer sends a value as JSON, or an error.
func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	body, err := json.Marshal(v)
	if err != nil {
		panic("page: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func refuse(w http.ResponseWriter, err error) { http.Error(w, err.Error(), http.StatusConflict) }
