package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	build "github.com/swcaffe/swcaffe/internal/version"
)

// routes are the calls of the protocol and of its model repository extension, and our own: classify, detect and metrics.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	})
	mux.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, _ *http.Request) { writeReady(w, s.Ready()) })
	for _, path := range []string{"/v2", "/v2/{$}"} {
		mux.HandleFunc("GET "+path, s.about)
	}
	mux.Handle("GET /metrics", s.metrics.handler())
	for _, model := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+model, s.onVersion(s.describe))
		mux.HandleFunc("GET "+model+"/ready", s.versionReady)
		mux.HandleFunc("POST "+model+"/infer", s.onVersion(s.withBody(s.infer)))
		for _, method := range []string{"POST ", "PUT "} { // curl -T sends PUT
			mux.HandleFunc(method+model+"/classify", s.onVersion(s.withBody(s.classify)))
			mux.HandleFunc(method+model+"/detect", s.onVersion(s.withBody(s.detect)))
		}
	}
	mux.HandleFunc("POST /v2/repository/index", answering(s.index))
	mux.HandleFunc("POST /v2/repository/models/{model}/load", controlling(s.repository.load))
	mux.HandleFunc("POST /v2/repository/models/{model}/unload", controlling(s.repository.unload))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, failf(http.StatusNotFound, "there is no call %s %s", r.Method, r.URL.Path))
	})
	calls := s.grpcRoutes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isGRPC(r) {
			calls.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// answering makes a handler of a function with an error.
func answering(f func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			refuse(w, r, err)
		}
	}
}

// onVersion calls f with the version of the model that the path names. The version stays until f returns.
func (s *Server) onVersion(f func(w http.ResponseWriter, r *http.Request, v *version) error) http.HandlerFunc {
	return answering(func(w http.ResponseWriter, r *http.Request) error {
		v, err := s.repository.find(r.PathValue("model"), r.PathValue("version"))
		if err != nil {
			return err
		}
		defer v.users.Done()
		return f(w, r, v)
	})
}

// withBody sets the limits of a request with a body, and measures it.
func (s *Server) withBody(f func(w http.ResponseWriter, r *http.Request, v *version) error) func(http.ResponseWriter, *http.Request, *version) error {
	return func(w http.ResponseWriter, r *http.Request, v *version) (err error) {
		start := time.Now()
		defer func() { v.meter.answered(statusOf(err), time.Since(start)) }()
		leave, err := s.takeSlot()
		if err != nil {
			return err
		}
		defer leave()
		if r.ContentLength > s.cfg.MaxBody {
			return failf(http.StatusRequestEntityTooLarge, "the body has %d bytes, at most %d are taken", r.ContentLength, s.cfg.MaxBody)
		}
		bytes := r.ContentLength
		if bytes < 0 { // not stated
			bytes = s.cfg.MaxBody
		}
		release, err := s.hold(bytes)
		if err != nil {
			return err
		}
		defer release()
		r.Body = http.MaxBytesReader(w, r.Body, s.cfg.MaxBody)
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Timeout)
		defer cancel()
		return f(w, r.WithContext(ctx), v)
	}
}

// takeSlot limits the requests whose bodies are held at a time.
func (s *Server) takeSlot() (leave func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	default:
		return nil, failf(http.StatusTooManyRequests, "the server has %d requests, as many as it takes at a time; try again later", cap(s.slots))
	}
}

// hold limits the bytes of all bodies that are held at a time.
func (s *Server) hold(bytes int64) (release func(), err error) {
	release = func() { s.held.Add(-bytes) }
	if s.held.Add(bytes) > s.cfg.MaxBodies {
		release()
		return nil, failf(http.StatusTooManyRequests, "the bodies of all requests have more than the %d bytes that the server holds at a time; try again later", s.cfg.MaxBodies)
	}
	return release, nil
}

// What the server is.
const serverName = "swcaffe"

var extensions = []string{"binary_tensor_data", "classification", "model_repository"}

func (s *Server) about(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"name": serverName, "version": build.Read().Version, "extensions": extensions})
}

// description is a model's metadata.
type description struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"` // that are ready
	Platform string   `json:"platform"`
	Inputs   []port   `json:"inputs"`
	Outputs  []port   `json:"outputs"`
}

func (s *Server) description(v *version) description {
	return description{v.name, s.repository.entry(v.name).numbers(), "caffe", v.ports(v.model.Inputs()), v.ports(v.model.Outputs())}
}

func (s *Server) describe(w http.ResponseWriter, _ *http.Request, v *version) error {
	return writeJSON(w, http.StatusOK, s.description(v))
}

func (s *Server) versionReady(w http.ResponseWriter, r *http.Request) {
	writeReady(w, s.isVersionReady(r.PathValue("model"), r.PathValue("version")))
}

func (s *Server) isVersionReady(name, number string) bool {
	v, err := s.repository.find(name, number)
	if err != nil {
		return false
	}
	v.users.Done()
	return !s.stopping.Load()
}

// writeReady answers a call about readiness: 200, or 503, which probes and clients understand without reading the body.
func writeReady(w http.ResponseWriter, ready bool) {
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, map[string]bool{"ready": ready})
}

// readControl reads the body of a call of the repository, which may be empty.
func readControl(w http.ResponseWriter, r *http.Request, into any) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxControl)
	if err := json.NewDecoder(r.Body).Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return badf("the request's JSON: %w", err)
	}
	return nil
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Ready bool `json:"ready"`
	}
	if err := readControl(w, r, &asked); err != nil {
		return err
	}
	list, err := s.repository.index(asked.Ready)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, list)
}

// controlling loads or unloads a model.
func controlling(do func(name string) error) http.HandlerFunc {
	return answering(func(w http.ResponseWriter, r *http.Request) error {
		var asked struct {
			Parameters map[string]any `json:"parameters"`
		}
		if err := readControl(w, r, &asked); err != nil {
			return err
		}
		if err := control(r.PathValue("model"), asked.Parameters, do); err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, struct{}{})
	})
}

// control loads or unloads a model. Parameters of the request, as the text of a configuration, are refused: what is loaded stands in the repository.
func control[P any](name string, parameters map[string]P, do func(name string) error) error {
	for p := range parameters {
		if p != "unload_dependents" { // models here have none
			return badf("parameter %q: what is loaded stands in the repository, no parameter changes it", p)
		}
	}
	if err := do(name); err != nil {
		return badf("%w", err)
	}
	return nil
}
