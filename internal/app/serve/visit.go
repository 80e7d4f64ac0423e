package serve

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Visit is a request and what became of it. It has nothing of the request's headers and query, where tokens are.
type Visit struct {
	Begun    time.Time `json:"time"`
	Client   string    `json:"client"`   // address
	Protocol string    `json:"protocol"` // HTTP/1.1, HTTP/2.0 or gRPC
	Call     string    `json:"call"`     // method and path
	Model    string    `json:"model,omitempty"`
	Version  string    `json:"version,omitempty"`
	Status   int       `json:"status"` // HTTP's, for both protocols
	Error    string    `json:"error,omitempty"`
	Read     int64     `json:"bytes_in"` // of bodies
	Wrote    int64     `json:"bytes_out"`
	Items    int       `json:"items,omitempty"` // of the request
	Batch    int       `json:"batch,omitempty"` // the items of all requests that shared its run
	Queue    float64   `json:"queue_ms,omitempty"`
	Run      float64   `json:"run_ms,omitempty"`
	Total    float64   `json:"total_ms"`

	entered, began time.Time // into the queue; the run
}

// visiting is the key of a context's *Visit.
type visiting struct{}

// visitOf returns the visit of a request; nil: nobody asks for it.
func visitOf(ctx context.Context) *Visit {
	v, _ := ctx.Value(visiting{}).(*Visit)
	return v
}

// of notes the version that a request is for.
func (x *Visit) of(v *version) {
	if x != nil {
		x.Model, x.Version = v.name, v.number
	}
}

// failed notes the error that a request is answered with.
func (x *Visit) failed(err error) {
	if x != nil {
		x.Status, x.Error = statusOf(err), err.Error()
	}
}

// left notes a job whose end the request does not wait for.
func (x *Visit) left(j *job) {
	if x != nil {
		x.Items, x.entered = j.items, j.entered
	}
}

// ran notes a job that has ended.
func (x *Visit) ran(j *job) {
	if x == nil {
		return
	}
	x.Items, x.entered = j.items, j.entered
	if j.began.IsZero() {
		return
	}
	x.Batch, x.began = j.batch, j.began
	x.Queue, x.Run = milliseconds(j.began.Sub(j.entered)), milliseconds(j.ended.Sub(j.began))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// visited tells the log and the trace of each request, if there are any.
func (s *Server) visited(next http.Handler) http.Handler {
	if s.cfg.Visited == nil && s.cfg.Trace == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &Visit{Begun: time.Now(), Client: r.RemoteAddr, Protocol: r.Proto, Call: r.Method + " " + r.URL.Path}
		if isGRPC(r) {
			x.Protocol = "gRPC"
		}
		r = r.WithContext(context.WithValue(r.Context(), visiting{}, x))
		r.Body = &countedBody{r.Body, x}
		answer := &countedAnswer{ResponseWriter: w, visit: x}
		defer func() { // also of a connection that is given up
			if x.Status == 0 {
				x.Status = max(answer.status, http.StatusOK)
			}
			x.Total = milliseconds(time.Since(x.Begun))
			if s.cfg.Visited != nil {
				s.cfg.Visited(x)
			}
			s.cfg.Trace.request(x)
		}()
		next.ServeHTTP(answer, r)
	})
}

// countedBody counts the bytes that are read.
type countedBody struct {
	io.ReadCloser
	visit *Visit
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.visit.Read += int64(n)
	return n, err
}

// countedAnswer notes the status and the bytes that are written.
type countedAnswer struct {
	http.ResponseWriter
	visit  *Visit
	status int
}

func (a *countedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
func (a *countedAnswer) Flush()                      { http.NewResponseController(a.ResponseWriter).Flush() }

func (a *countedAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *countedAnswer) Write(p []byte) (int, error) {
	n, err := a.ResponseWriter.Write(p)
	a.visit.Wrote += int64(n)
	return n, err
}
