package serve

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	build "github.com/swcaffe/swcaffe/internal/base/version"
)

// route is a call over HTTP, as it is answered and as the OpenAPI document describes it.
type route struct {
	method, path string
	about        string // what it does; "": a file of the page
	query        []field
	takes, gives []content
	public       bool // also without the token
	handler      http.HandlerFunc
}

// content is a form of a body.
type content struct {
	kind string // its media type
	of   any    // a value of the JSON's type; nil: bytes
}

// field is a value in the query or in the headers.
type field struct{ name, in, kind, about string }

func jsonOf(value any) []content { return []content{{"application/json", value}} }

// imageContents are the bodies of a call with an image: a file, a form, or JSON.
func imageContents(form, text any) []content {
	return []content{{"image/jpeg", nil}, {"image/png", nil}, {"multipart/form-data", form}, {"application/json", text}}
}

// The fields of calls.
var (
	inferHeader = field{headerLength, "header", "integer", "the length of the JSON, if binary tensors follow it"}
	labelFields = []field{{"top", "query", "integer", "how many classes are wanted (5)"}}
	boxFields   = []field{{"threshold", "query", "number", "the lowest score of an object that is wanted (0.5)"}}
)

// table lists the calls of the protocol and of its model repository extension, our own, and the files of the page.
func (s *Server) table() []route {
	none := jsonOf(struct{}{})
	list := []route{
		{"GET", "/v2/health/live", "whether the server lives", nil, nil, jsonOf(liveness{}), true, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, liveness{true}) }},
		{"GET", "/v2/health/ready", "whether a model is ready: status 200 or 503", nil, nil, jsonOf(readiness{}), true, func(w http.ResponseWriter, _ *http.Request) { writeReady(w, s.Ready()) }},
		{"GET", "/v2", "the server", nil, nil, jsonOf(aboutServer{}), false, s.about},
		{"GET", "/v2/", "the server", nil, nil, jsonOf(aboutServer{}), false, s.about},
		{"POST", "/v2/repository/index", "all models and versions, with the reason where one is not ready", nil, jsonOf(indexRequest{}), jsonOf([]indexed{}), false, answering(s.index)},
		{"POST", "/v2/repository/models/{model}/load", "takes in new and changed files of a model", nil, jsonOf(controlRequest{}), none, false, controlling(s.repository.loadLogged)},
		{"POST", "/v2/repository/models/{model}/unload", "ends a model", nil, jsonOf(controlRequest{}), none, false, controlling(s.repository.unload)},
		{"GET", "/metrics", "Prometheus's metrics", nil, nil, []content{{"text/plain", nil}}, false, s.metrics.handler().ServeHTTP},
		{"GET", "/models", "the versions that are ready, with what they answer images with", nil, nil, jsonOf([]ready{}), false, answering(s.ready)},
		{"GET", "/openapi.json", "this document", nil, nil, jsonOf(map[string]any{}), false, s.openAPI},
	}
	for _, model := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		list = append(list,
			route{"GET", model, "a model's versions, inputs and outputs", nil, nil, jsonOf(description{}), false, s.onVersion(s.describe)},
			route{"GET", model + "/ready", "whether it is ready: status 200 or 503", nil, nil, jsonOf(readiness{}), false, s.versionReady},
			route{"POST", model + "/infer", "outputs from inputs", []field{inferHeader},
				[]content{{"application/json", inferRequest{}}, {"application/octet-stream", nil}}, []content{{"application/json", inferResponse{}}, {"application/octet-stream", nil}}, false, s.onVersion(s.withBody(s.infer))})
		for _, method := range []string{"POST", "PUT"} { // curl -T sends PUT
			list = append(list,
				route{method, model + "/classify", "the labels of an image", labelFields, imageContents(labelForm{}, labelJSON{}), jsonOf(labels{}), false, s.onVersion(s.withBody(s.classify))},
				route{method, model + "/detect", "the objects in an image, with their boxes", boxFields, imageContents(boxForm{}, boxJSON{}), jsonOf(objects{}), false, s.onVersion(s.withBody(s.detect))})
		}
	}
	return append(list, pageRoutes()...)
}

// routes answers all calls.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	list := s.table()
	s.public, s.document = map[string]bool{}, document(list)
	for _, r := range list {
		path := r.path
		if strings.HasSuffix(path, "/") {
			path += "{$}"
		}
		mux.HandleFunc(r.method+" "+path, r.handler)
		s.public[r.path] = r.public
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, failf(http.StatusNotFound, "there is no call %s %s", r.Method, r.URL.Path))
	})
	calls := s.grpcRoutes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isGRPC(r) {
			calls.ServeHTTP(w, r)
			return
		}
		if kind := r.Header.Get("Content-Type"); strings.HasPrefix(kind, grpcContent) {
			refuse(w, r, failf(http.StatusUnsupportedMediaType, "%s over %s: gRPC is answered over HTTP/2, as %s or %[3]s+proto", kind, r.Proto, grpcContent))
			return
		}
		if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") && r.ContentLength != 0 {
			refuse(w, r, failf(http.StatusUnsupportedMediaType, "Content-Encoding %s: bodies must not be compressed", coding))
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
		visitOf(r.Context()).of(v)
		return f(w, r, v)
	})
}

// withBody sets the limits of a request with a body, and measures it. Where the server or the model's queue is full, the body is passed over: neither memory is held for it nor an
// image decoded, and the connection goes on.
func (s *Server) withBody(f func(w http.ResponseWriter, r *http.Request, v *version) error) func(http.ResponseWriter, *http.Request, *version) error {
	return func(w http.ResponseWriter, r *http.Request, v *version) (err error) {
		start := time.Now()
		defer func() { v.meter.answered(statusOf(err), time.Since(start)) }()
		if r.ContentLength > s.cfg.MaxBody {
			return failf(http.StatusRequestEntityTooLarge, "the body has %d bytes, at most %d are taken", r.ContentLength, s.cfg.MaxBody)
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Timeout)
		defer cancel()
		r = r.WithContext(ctx) // a copy: net/http looks at the body of its own
		r.Body = arriving{http.MaxBytesReader(w, r.Body, s.cfg.MaxBody), r}
		release, err := s.admit(r, v)
		if err != nil {
			if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
				return err // the client waits for leave to send the body
			}
			if _, lost := io.Copy(io.Discard, r.Body); lost != nil {
				return lost
			}
			return err
		}
		defer release()
		return f(w, r, v)
	}
}

// admit takes a request's part of the server's limits, which release gives back.
func (s *Server) admit(r *http.Request, v *version) (release func(), err error) {
	if v.queue.full() {
		return nil, errFull
	}
	leave, err := s.takeSlot()
	if err != nil {
		return nil, err
	}
	bytes := r.ContentLength
	if bytes < 0 { // not stated
		bytes = s.cfg.MaxBody
	}
	free, err := s.hold(bytes)
	if err != nil {
		leave()
		return nil, err
	}
	return func() { free(); leave() }, nil
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

// The answers of calls about the server, and the requests to the repository.
type (
	aboutServer struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}
	liveness struct {
		Live bool `json:"live"`
	}
	readiness struct {
		Ready bool `json:"ready"`
	}
	indexRequest struct {
		Ready bool `json:"ready"`
	}
	controlRequest struct {
		Parameters map[string]any `json:"parameters"`
	}
)

func (s *Server) about(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, aboutServer{serverName, build.Read().Version, extensions})
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
	return description{v.name, s.repository.entry(v.name).numbers(), "caffe", v.inputs, v.outputs}
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
	writeJSON(w, status, readiness{ready})
}

// readControl reads the body of a call of the repository, which may be empty.
func readControl(w http.ResponseWriter, r *http.Request, into any) error {
	text, err := io.ReadAll(arriving{http.MaxBytesReader(w, r.Body, maxControl), r})
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return nil
	}
	end, err := decodeJSON(text, into)
	if err == nil && end < len(text) {
		err = badf("the request's JSON ends at byte %d of %d", end, len(text))
	}
	return err
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) error {
	var asked indexRequest
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
		var asked controlRequest
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
