package serve

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/predict"
)

// A fault is a panic, too little memory, or weights that cannot be read. What it interrupted has no defined state.

// isFault reports whether an error is a fault.
func isFault(err error) bool {
	var p *relay.Panic
	return errors.As(err, &p) || pages.Outside(err) != nil
}

// hidden is an error whose text is for the log only.
type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.err }

// withoutStack makes of a fault the error that a client may see: it names no file, in a stack or of weights, since paths are the server's.
func withoutStack(what string, err error) error {
	var much *pages.TooMuch
	var unread *pages.Unreadable
	var p *relay.Panic
	switch {
	case errors.As(err, &much):
		return &hidden{fmt.Sprintf("%s: %v", what, much), err}
	case errors.As(err, &unread):
		return &hidden{what + ": its weights cannot be read; the server's log has more", err}
	case errors.As(err, &p):
		return &hidden{fmt.Sprintf("%s: a fault inside swcaffe: %v; the server's log has more", what, p.Value), err}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isOfValues reports whether a layer refused the values of a run.
func isOfValues(err error) bool {
	var of *predict.ValueError
	return errors.As(err, &of)
}

// misfit makes an error of the request of one in its shapes or values. It names the layer, but not the server's file.
func (v *version) misfit(err error) error {
	var of interface{ WithoutFile() string }
	if !errors.As(err, &of) {
		return err
	}
	return badf("model %q: %w", v.name, &hidden{of.WithoutFile(), err})
}

// unable makes an error of the request of a reason why the model has no such answer. It names the model in the place of the server's file.
func (v *version) unable(err error) error {
	return badf("%w", &hidden{strings.ReplaceAll(err.Error(), v.file, fmt.Sprintf("model %q", v.name)), err})
}

func (v *version) title() string {
	return fmt.Sprintf("model %q, version %s", v.name, cmp.Or(v.number, "none"))
}

// guarded runs the net. A fault is written to the log, ends the session, and is returned.
func (r *runner) guarded(run func() error) error {
	var err error
	if r.session == nil {
		err = r.renew(false)
	}
	if err == nil {
		err = relay.Error(run)
	}
	if isFault(err) || r.session == nil {
		r.v.errorf("%s: a request failed: %v", r.v.title(), err)
		r.end()
		err = withoutStack(r.v.title(), err)
	}
	return err
}

// renew makes a session and, unless the plans are made later, plans the net for the sizes of runs.
func (r *runner) renew(later bool) error {
	err := relay.Error(func() (err error) {
		r.plans = 0
		if r.session, err = r.v.model.NewSession(r.cores); err == nil && r.v.trace != nil {
			r.session.Observe(func(layer, kind string, begun time.Time) { r.v.trace.span(r.row, layer, kind, begun, nil) })
		}
		return err
	})
	if err != nil {
		r.end()
		return fmt.Errorf("planning the net: %w", err)
	}
	for err == nil && !later && !r.planned() {
		err = r.plan()
	}
	return err
}

// end closes the session.
func (r *runner) end() {
	s := r.session
	if r.session = nil; s == nil {
		return
	}
	if err := relay.Error(s.Close); err != nil {
		r.v.errorf("%s: closing its net: %v", r.v.title(), err)
	}
}

// catching answers a request whose handler panics with status 500, and writes the panic to the log.
func (s *Server) catching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := relay.Error(func() error {
			next.ServeHTTP(w, r)
			return nil
		})
		if errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler)
		}
		if err != nil {
			s.cfg.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
			refuse(w, r, withoutStack("the request", err))
		}
	})
}
