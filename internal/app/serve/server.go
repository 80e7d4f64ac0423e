package serve

import (
	"cmp"
	"context"
	"crypto/tls"
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

	"github.com/swcaffe/swcaffe/internal/base/origin"
	"github.com/swcaffe/swcaffe/predict"
)

// Config says what to serve, and how much of it.
type Config struct {
	Address string // host:port; port 0 takes a free one
	GRPC    string // a second address, for clients of gRPC; "": none. Both addresses answer both protocols
	Token   string // what requests need, but for health; "": nothing

	Cert, Key string // files of a certificate and its private key (PEM): clients connect by TLS; "": they do not

	Folder string   // a model repository; "": Models
	Models []Source // whose Options have all that Load needs
	Load   func(predict.Options) (*predict.Model, error)

	Errorf func(format string, args ...any) // writes a line to the log; must be set

	Visited func(*Visit) // is told of each request when it has been answered, by several goroutines; nil: nobody
	Trace   *Trace       // nil: none

	Cores    int           // of each version of a model; 0: the model's share of AllCores
	AllCores int           // 0: each version has those of its machine
	Sessions int           // of each version of a model, the most runs that go on at once; each has a share of Cores
	Queue    int           // requests that wait for a version of a model
	Requests int           // requests whose bodies are held at a time
	Delay    time.Duration // how long a run waits for more items
	Timeout  time.Duration // of a request
	MaxBody  int64         // bytes

	Connections int           // of clients, more are closed at once; 0: 1024
	HeaderTime  time.Duration // for sending a request's headers; 0: 10 s
	IdleTime    time.Duration // of a connection without requests; 0: 2 minutes
	MaxPixels   int           // of an image; 0: 64 x 2^20

	MaxBodies int64 // bytes of the bodies of all requests that are held at a time; a body whose length is not stated counts as MaxBody
}

// Server answers requests for models.
type Server struct {
	cfg         Config
	open        bool // to other computers
	repository  *repository
	metrics     *metrics
	listeners   []net.Listener // of Address, and of GRPC if it is set
	http        *http.Server
	draining    context.Context // ends when the server begins to stop
	drain       context.CancelFunc
	slots       chan struct{} // one for each request with a body
	held        atomic.Int64  // bytes of their bodies
	stopping    atomic.Bool
	connections atomic.Int64
	public      map[string]bool // paths of calls that need no token
	document    []byte          // the OpenAPI document
}

// Limits of connections, and defaults.
const (
	defaultConnections = 1024
	defaultHeaderTime  = 10 * time.Second
	defaultIdleTime    = 2 * time.Minute
	defaultMaxPixels   = 64 << 20 // of 3 bytes each when they are decoded

	maxHeader    = 32 << 10
	maxControl   = 1 << 20 // bytes of the body of a call that is not infer
	spareStreams = 100     // of a connection of HTTP/2, beyond the requests that the server takes, so that more are refused and do not wait in the client
	pingAfter    = 30 * time.Second
	pingTimeout  = 15 * time.Second // a client of HTTP/2 that answers no ping has vanished
)

// CheckAddress returns an error for an address that is none, or that is open to other computers though the server is not guarded, by a token or TLS.
func CheckAddress(address string, guarded bool) error {
	_, err := resolve(address, guarded)
	return err
}

func resolve(address string, guarded bool) (*net.TCPAddr, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w; an address is HOST:PORT, as 127.0.0.1:8000", address, err)
	case !guarded && !a.IP.IsLoopback():
		return nil, fmt.Errorf("%s: other computers could connect; give -token, -tls_cert and -tls_key, or an address of this computer only, as 127.0.0.1:8000", address)
	}
	return a, nil
}

// Listen opens the addresses. Load and Serve must follow.
func Listen(cfg Config) (*Server, error) {
	cfg.Connections = cmp.Or(cfg.Connections, defaultConnections)
	cfg.HeaderTime = cmp.Or(cfg.HeaderTime, defaultHeaderTime)
	cfg.IdleTime = cmp.Or(cfg.IdleTime, defaultIdleTime)
	cfg.MaxPixels = cmp.Or(cfg.MaxPixels, defaultMaxPixels)
	s := &Server{cfg: cfg, metrics: newMetrics(), slots: make(chan struct{}, cfg.Requests)}
	s.repository = &repository{cfg: &s.cfg, metrics: s.metrics, models: map[string]*entry{}, changed: make(chan struct{})}
	s.draining, s.drain = context.WithCancel(context.Background())
	for _, address := range []string{cfg.Address, cfg.GRPC} {
		if address == "" {
			continue
		}
		if err := s.listen(address); err != nil {
			s.closeListeners()
			return nil, err
		}
	}
	s.http = &http.Server{
		Handler: s.visited(s.catching(s.guard(s.routes()))), ReadHeaderTimeout: cfg.HeaderTime, ReadTimeout: cfg.Timeout, WriteTimeout: 2*cfg.Timeout + time.Second,
		IdleTimeout: cfg.IdleTime, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), Protocols: new(http.Protocols),
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: cfg.Requests + spareStreams, SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetUnencryptedHTTP2(true)
	s.http.Protocols.SetHTTP2(true)
	if cfg.Cert != "" {
		c := &certificate{cert: cfg.Cert, key: cfg.Key, errorf: cfg.Errorf}
		if err := c.read(); err != nil {
			s.closeListeners()
			return nil, err
		}
		s.http.TLSConfig = &tls.Config{GetCertificate: c.get}
	}
	return s, nil
}

func (s *Server) listen(address string) error {
	a, err := resolve(address, s.cfg.Token != "" || s.cfg.Cert != "")
	if err != nil {
		return err
	}
	l, err := net.ListenTCP("tcp", a)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: another program uses this port; choose another one, or port 0 for any that is free", address)
	case err != nil:
		return fmt.Errorf("%s: %w", address, err)
	}
	s.open = s.open || !a.IP.IsLoopback()
	s.listeners = append(s.listeners, limited{l, &s.connections, int64(s.cfg.Connections)})
	return nil
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		l.Close()
	}
}

// Load loads all models; once again, those that are new or have changed, and unloads those that are gone. The error joins those of the models that cannot be loaded; the others are served.
func (s *Server) Load() error { return s.repository.loadAll() }

// Ready reports whether some model can be used.
func (s *Server) Ready() bool { return !s.stopping.Load() && s.repository.ready() }

// URL returns the server's address.
func (s *Server) URL() string {
	scheme := "http"
	if s.cfg.Cert != "" {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s", scheme, s.listeners[0].Addr())
}

// GRPC returns the address for clients of gRPC, as HOST:PORT.
func (s *Server) GRPC() string { return s.listeners[len(s.listeners)-1].Addr().String() }

// Serve answers requests until Close. It returns an error if an address cannot be served any longer.
func (s *Server) Serve() error {
	ended := make(chan error, len(s.listeners))
	for _, l := range s.listeners {
		go func() {
			if s.cfg.Cert != "" {
				ended <- s.http.ServeTLS(l, "", "")
			} else {
				ended <- s.http.Serve(l)
			}
		}()
	}
	for range s.listeners {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
	}
	return nil
}

// Close refuses new requests, ends those it has until ctx ends, and closes the models. It may be called during Load, and waits for no plan of a net that is being made.
func (s *Server) Close(ctx context.Context) error {
	s.stopping.Store(true)
	s.drain()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were cut off: %w", err), s.http.Close())
	}
	s.closeListeners() // for a server that never served
	s.repository.close()
	return err
}

// guard refuses requests of other sites' pages, and those without the token if there is one.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !s.open && !origin.IsLocal(r.Host):
			refuse(w, r, failf(http.StatusForbidden, "this server answers only to names of this computer, as localhost"))
		case origin.IsLink(r) && !isPage(r) || origin.IsOther(r):
			refuse(w, r, failf(http.StatusForbidden, "this request comes from a page of another site"))
		case s.cfg.Token != "" && !s.public[r.URL.Path] && !isGRPCProbe(r.URL.Path) && !origin.HasToken(r, s.cfg.Token):
			refuse(w, r, failf(http.StatusUnauthorized, "this needs the token, as in the header Authorization: Bearer TOKEN"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isGRPCProbe reports whether a call of gRPC is about the server's health, as probes ask without a token.
func isGRPCProbe(path string) bool {
	return strings.HasPrefix(path, serviceOf(healthName)) || path == serviceOf(inferenceName)+"ServerLive" || path == serviceOf(inferenceName)+"ServerReady"
}

// refuse answers with an error as the request's protocol has it.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	visitOf(r.Context()).failed(err)
	if isGRPC(r) {
		refuseGRPC(w, err)
		return
	}
	status := statusOf(err)
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, map[string]string{"error": err.Error()})
}
