package serve

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/internal/origin"
	"github.com/swcaffe/swcaffe/predict"
)

// Config says what to serve, and how much of it.
type Config struct {
	Address string // host:port; port 0 takes a free one
	Token   string // what requests need on addresses open to other computers, but for health

	Folder string   // a model repository; "": Models
	Models []Source // whose Options have all that Load needs
	Load   func(predict.Options) (*predict.Model, error)

	Errorf func(format string, args ...any) // writes a line to the log; must be set

	Cores    int           // of each version of a model; 0: all of them for one model, of several models each has its share
	Queue    int           // requests that wait for a version of a model
	Requests int           // requests whose bodies are held at a time
	Delay    time.Duration // how long a run waits for more items
	Timeout  time.Duration // of a request
	MaxBody  int64         // bytes

	MaxBodies int64 // bytes of the bodies of all requests that are held at a time; a body whose length is not stated counts as MaxBody
}

// Server answers requests for models.
type Server struct {
	cfg        Config
	open       bool // to other computers
	repository *repository
	metrics    *metrics
	listener   net.Listener
	http       *http.Server
	slots      chan struct{} // one for each request with a body
	held       atomic.Int64  // bytes of their bodies
	stopping   atomic.Bool
}

// Limits of connections.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeader         = 32 << 10
	maxControl        = 1 << 20 // bytes of the body of a call that is not infer
)

// CheckAddress returns an error for an address that is none, or that is open to other computers without a token.
func CheckAddress(address, token string) error {
	_, err := resolve(address, token)
	return err
}

func resolve(address, token string) (*net.TCPAddr, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w; an address is HOST:PORT, as 127.0.0.1:8000", address, err)
	case token == "" && !a.IP.IsLoopback():
		return nil, fmt.Errorf("%s: other computers could connect; give -http_token, or an address of this computer only, as 127.0.0.1:8000", address)
	}
	return a, nil
}

// Listen opens the address. Load and Serve must follow.
func Listen(cfg Config) (*Server, error) {
	address, err := resolve(cfg.Address, cfg.Token)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, open: !address.IP.IsLoopback(), metrics: newMetrics(), slots: make(chan struct{}, cfg.Requests)}
	s.repository = &repository{cfg: &s.cfg, metrics: s.metrics, models: map[string]*entry{}}
	if s.listener, err = net.ListenTCP("tcp", address); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("%s: another program uses this port; choose another one, or port 0 for any that is free", cfg.Address)
		}
		return nil, fmt.Errorf("%s: %w", cfg.Address, err)
	}
	s.http = &http.Server{
		Handler: s.catching(s.guard(s.routes())), ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: cfg.Timeout, WriteTimeout: 2*cfg.Timeout + time.Second,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
	return s, nil
}

// Load loads all models. The error joins those of the models that cannot be loaded; the others are served.
func (s *Server) Load() error { return s.repository.loadAll() }

// Ready reports whether some model can be used.
func (s *Server) Ready() bool { return !s.stopping.Load() && s.repository.ready() }

// URL returns the server's address.
func (s *Server) URL() string { return fmt.Sprintf("http://%s", s.listener.Addr()) }

// Serve answers requests until Close. It returns an error if the address cannot be served any longer.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close refuses new requests, ends those it has until ctx ends, and closes the models.
func (s *Server) Close(ctx context.Context) error {
	s.stopping.Store(true)
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were cut off: %w", err), s.http.Close())
	}
	s.listener.Close() // for a server that never served
	s.repository.close()
	return err
}

// guard refuses requests of other sites' pages, and on an open address those without the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !s.open && !origin.IsLocal(r.Host):
			refuse(w, failf(http.StatusForbidden, "this server answers only to names of this computer, as localhost"))
		case origin.IsLink(r) || origin.IsOther(r):
			refuse(w, failf(http.StatusForbidden, "this request comes from a page of another site"))
		case s.open && !strings.HasPrefix(r.URL.Path, "/v2/health/") && !s.hasToken(r):
			refuse(w, failf(http.StatusUnauthorized, "this needs the token, as in the header Authorization: Bearer TOKEN"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (s *Server) hasToken(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(s.cfg.Token)) == 1
}

// refuse answers with an error as the protocol has it.
func refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, map[string]string{"error": err.Error()})
}
