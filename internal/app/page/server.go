// Package page serves the page of a run over HTTP: its curves while it trains, and buttons that act on it.
//
// A Server listens before the training starts, so that a port in use is an error at once. It reads runs from an events.History each, which the
// training fills, and passes requests to a Control. A board is a page with several runs and no Control. Its files are embedded; a page loads nothing from elsewhere.
//
//	server.go       Server: the address, the routes and the limits
//	connections.go  the limit of open connections
//	guard.go        which requests are answered: token, Host and Origin
//	stream.go       the curves, as server-sent events
//	control.go      the buttons
//	net.go          the drawn net, and what layers, the current batch, tests and an iteration's time hold
//	model.go        the net on a modelled machine
//	assets          the page; uplot.js draws the charts (uPlot, MIT licence)
package page

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/inspect"
	"github.com/swcaffe/swcaffe/solver/events"
)

//go:embed assets
var assets embed.FS

// Config says what a server shows, and to whom.
type Config struct {
	Address string // host:port; port 0 takes a free one
	// Token is needed to press buttons. On an address other than loopback it must be given, and is needed for everything.
	Token string
	// Runs lists the runs to show: one that trains here, or those of a board. It is called often.
	Runs      func() []Run
	Board     bool         // the runs are shown side by side
	Control   Control      // nil: no buttons
	Inspector Inspector    // nil: the run has ended
	Metrics   http.Handler // at /metrics; nil: none
}

// Run is a run to show. History stays the same as long as the run only grows.
type Run struct {
	Name    string
	History *events.History
}

// Server is a page's HTTP server.
type Server struct {
	cfg      Config
	open     bool // others than this computer may connect
	listener net.Listener
	http     *http.Server
	closing  chan struct{}
	once     sync.Once
	streams  chan struct{} // a place for each stream
	tick     time.Duration // between events of a stream

	modelling sync.Mutex // see model
}

// Limits of the server.
const (
	maxStreams   = 200
	maxHeader    = 16 << 10
	readTimeout  = 10 * time.Second
	writeTimeout = 10 * time.Second // of a whole answer, or of one event of a stream
	idleTimeout  = time.Minute
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
		return nil, fmt.Errorf("%s: %w; an address is HOST:PORT, as 127.0.0.1:8080", address, err)
	case token == "" && !a.IP.IsLoopback():
		return nil, fmt.Errorf("%s: other computers could connect; give -http_token, or an address of this computer only, as 127.0.0.1:8080", address)
	}
	return a, nil
}

// Listen opens the address. Serve must follow.
func Listen(cfg Config) (*Server, error) {
	address, err := resolve(cfg.Address, cfg.Token)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, open: !address.IP.IsLoopback(), closing: make(chan struct{}), tick: pace}
	limit := connectionLimit(fileLimit())
	s.streams = make(chan struct{}, min(maxStreams, limit*3/4))
	if cfg.Token == "" {
		s.cfg.Token = newToken()
	}
	if s.listener, err = net.ListenTCP("tcp", address); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("%s: another program uses this port; choose another one, or port 0 for any that is free", cfg.Address)
		}
		return nil, fmt.Errorf("%s: %w", cfg.Address, err)
	}
	s.http = &http.Server{
		Handler: s.guard(s.routes()), ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ConnState: (&connections{most: limit}).follow, ErrorLog: log.New(discard{}, "", 0),
	}
	return s, nil
}

// discard drops the server's messages about clients.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// URL returns the address of the page, with the token behind a #, so that browsers send it to nobody.
func (s *Server) URL() string {
	return fmt.Sprintf("http://%s/#token=%s", s.listener.Addr(), s.cfg.Token)
}

// Serve answers requests in the background until Close.
func (s *Server) Serve() { go s.http.Serve(s.listener) }

// Close sends the last events to the open pages and ends the server. It waits for slow pages at most some seconds.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.closing) })
	patience, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := s.http.Shutdown(patience); err != nil {
		return s.http.Close()
	}
	return nil
}

func (s *Server) routes() http.Handler {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("page: " + err.Error())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/stream", s.stream)
	mux.HandleFunc("POST /api/press/{button}", s.press)
	mux.HandleFunc("GET /api/net", s.net)
	mux.HandleFunc("GET /api/layers", look(s, func(ctx context.Context, i Inspector, _ *http.Request) (*inspect.Overview, error) {
		return i.Overview(ctx)
	}))
	mux.HandleFunc("GET /api/layer", look(s, func(ctx context.Context, i Inspector, r *http.Request) (*inspect.Layer, error) {
		return i.Layer(ctx, r.URL.Query().Get("name"))
	}))
	mux.HandleFunc("GET /api/batch", look(s, func(ctx context.Context, i Inspector, _ *http.Request) (*inspect.Batch, error) { return i.Batch(ctx) }))
	mux.HandleFunc("GET /api/test", look(s, func(_ context.Context, i Inspector, r *http.Request) (*Tested, error) {
		net, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("net"), "0"))
		if err != nil {
			return nil, fmt.Errorf("%q is no number of a test net", r.URL.Query().Get("net"))
		}
		return i.Test(net)
	}))
	mux.HandleFunc("GET /api/timeline", look(s, func(ctx context.Context, i Inspector, _ *http.Request) (*Timeline, error) { return i.Timeline(ctx) }))
	mux.HandleFunc("GET /api/model", s.model)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	if s.cfg.Metrics != nil {
		mux.Handle("GET "+metricsPath, s.cfg.Metrics)
	}
	return mux
}
