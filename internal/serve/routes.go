package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"time"
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
	mux.HandleFunc("POST /v2/repository/models/{model}/load", answering(func(w http.ResponseWriter, r *http.Request) error {
		return control(w, r, s.repository.load)
	}))
	mux.HandleFunc("POST /v2/repository/models/{model}/unload", answering(func(w http.ResponseWriter, r *http.Request) error {
		return control(w, r, s.repository.unload)
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, failf(http.StatusNotFound, "there is no call %s %s", r.Method, r.URL.Path))
	})
	return mux
}

// answering makes a handler of a function with an error.
func answering(f func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			refuse(w, err)
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

// withBody limits the requests whose bodies are held at a time, the bytes of a body and of all, and the time, and measures requests.
func (s *Server) withBody(f func(w http.ResponseWriter, r *http.Request, v *version) error) func(http.ResponseWriter, *http.Request, *version) error {
	return func(w http.ResponseWriter, r *http.Request, v *version) (err error) {
		start := time.Now()
		defer func() {
			status := http.StatusOK
			if err != nil {
				status = statusOf(err)
			}
			v.meter.answered(status, time.Since(start))
		}()
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			return failf(http.StatusTooManyRequests, "the server has %d requests, as many as it takes at a time; try again later", cap(s.slots))
		}
		if r.ContentLength > s.cfg.MaxBody {
			return failf(http.StatusRequestEntityTooLarge, "the body has %d bytes, at most %d are taken", r.ContentLength, s.cfg.MaxBody)
		}
		bytes := r.ContentLength
		if bytes < 0 { // not stated
			bytes = s.cfg.MaxBody
		}
		defer s.held.Add(-bytes)
		if s.held.Add(bytes) > s.cfg.MaxBodies {
			return failf(http.StatusTooManyRequests, "the bodies of all requests have more than the %d bytes that the server holds at a time; try again later", s.cfg.MaxBodies)
		}
		r.Body = http.MaxBytesReader(w, r.Body, s.cfg.MaxBody)
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Timeout)
		defer cancel()
		return f(w, r.WithContext(ctx), v)
	}
}

func (s *Server) about(w http.ResponseWriter, _ *http.Request) {
	build := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		build = info.Main.Version
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"name": "swcaffe", "version": build, "extensions": []string{"binary_tensor_data", "classification", "model_repository"},
	})
}

func (s *Server) describe(w http.ResponseWriter, _ *http.Request, v *version) error {
	return writeJSON(w, http.StatusOK, map[string]any{
		"name": v.name, "versions": s.repository.entry(v.name).numbers(), "platform": "caffe",
		"inputs": v.ports(v.model.Inputs()), "outputs": v.ports(v.model.Outputs()),
	})
}

func (s *Server) versionReady(w http.ResponseWriter, r *http.Request) {
	v, err := s.repository.find(r.PathValue("model"), r.PathValue("version"))
	if err == nil {
		v.users.Done()
	}
	writeReady(w, err == nil && !s.stopping.Load())
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
	list, err := s.repository.index()
	if err != nil {
		return err
	}
	shown := []indexed{}
	for _, i := range list {
		if i.State == "READY" || !asked.Ready {
			shown = append(shown, i)
		}
	}
	return writeJSON(w, http.StatusOK, shown)
}

// control loads or unloads a model. Parameters of the request, as the text of a configuration, are refused: what is loaded stands in the repository.
func control(w http.ResponseWriter, r *http.Request, do func(name string) error) error {
	var asked struct {
		Parameters map[string]any `json:"parameters"`
	}
	if err := readControl(w, r, &asked); err != nil {
		return err
	}
	delete(asked.Parameters, "unload_dependents") // models here have none
	for name := range asked.Parameters {
		return badf("parameter %q: what is loaded stands in the repository, no parameter changes it", name)
	}
	if err := do(r.PathValue("model")); err != nil {
		return badf("%w", err)
	}
	return writeJSON(w, http.StatusOK, struct{}{})
}
