package serve

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/predict"
)

// fuzzServer is a server without connections, whose net is TestRandomRequests's. Its failures are the test's.
func fuzzServer(f *testing.F) *Server {
	path := filepath.Join(f.TempDir(), "deploy.prototxt")
	if err := os.WriteFile(path, []byte(small), 0o644); err != nil {
		f.Fatal(err)
	}
	s, err := Listen(Config{
		Address: "127.0.0.1:0", Models: []Source{{Name: "m", Version: "1", Options: predict.Options{Net: path}}}, Load: loader(1), Errorf: f.Errorf,
		Cores: 1, Sessions: 1, Queue: 8, Requests: 8, Timeout: 20 * time.Second, MaxBody: 1 << 20, MaxBodies: 8 << 20, MaxPixels: 1 << 20,
	})
	if err == nil {
		err = s.Load()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close(f.Context()) })
	return s
}

// FuzzCalls: whatever is asked over HTTP is answered without a fault of the server, and leaves nothing held.
func FuzzCalls(f *testing.F) {
	s := fuzzServer(f)
	for _, r := range s.table() {
		f.Add(r.method, r.path, "application/json", "", "", []byte("{}"))
	}
	head := `{"inputs": [{"name": "data", "shape": [1, 3, 4, 5], "datatype": "FP32", "parameters": {"binary_data_size": 240}}]}`
	f.Add("POST", "/v2/models/m/infer", "application/octet-stream", strconv.Itoa(len(head)), "", append([]byte(head), make([]byte, 240)...))
	f.Add("POST", "/v2/models/m/classify?top=2", "multipart/form-data; boundary=x", "", "", []byte("--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n\x89PNG\r\n\x1a\n\r\n--x--"))
	f.Add("PUT", "/v2/models/m/versions/1/classify", "", "", "http://evil.example", []byte("\xff\xd8\xff"))
	f.Fuzz(func(t *testing.T, method, target, kind, length, origin string, body []byte) {
		r, err := http.NewRequest(method, "http://localhost", bytes.NewReader(body))
		if err != nil {
			return // no method
		}
		target = "/" + strings.TrimPrefix(strings.NewReplacer("{model}", "m", "{version}", "1").Replace(target), "/")
		if r.URL, err = r.URL.Parse(target); err != nil || strings.HasSuffix(target, "/unload") {
			return // no address, or the end of what is asked
		}
		r.Host = "localhost"
		for name, value := range map[string]string{"Content-Type": kind, headerLength: length, "Origin": origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		isReadiness := w.Code == http.StatusServiceUnavailable && strings.HasSuffix(r.URL.Path, "/ready")
		if w.Code >= 500 && !isReadiness {
			t.Errorf("%s %s: status %d: %s", method, target, w.Code, w.Body)
		}
		if n := s.held.Load(); n != 0 || len(s.slots) != 0 {
			t.Errorf("%s %s: afterwards %d bytes and %d requests are held", method, target, n, len(s.slots))
		}
	})
}

// FuzzGRPCCalls: the same over gRPC: messages of any call, and bytes that are none.
func FuzzGRPCCalls(f *testing.F) {
	s := fuzzServer(f)
	for _, call := range []string{"ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelInfer", "RepositoryIndex", "RepositoryModelLoad"} {
		f.Add(serviceOf(inferenceName)+call, byte(0), uint32(3), []byte("\x0a\x01m"))
		f.Add(serviceOf(inferenceName)+call, byte(1), uint32(1<<31), []byte{})
	}
	f.Add(serviceOf(inferenceName)+"ModelMetadata", byte(0), uint32(97), []byte("a")) // the message ends early
	f.Add(serviceOf(healthName)+"Check", byte(0), uint32(0), []byte{})
	f.Fuzz(func(t *testing.T, path string, flag byte, length uint32, message []byte) {
		at := "/" + strings.TrimPrefix(path, "/")
		if strings.HasSuffix(path, "Unload") || strings.HasSuffix(path, "Watch") || !strings.HasPrefix(at, serviceOf(inferenceName)) && !strings.HasPrefix(at, serviceOf(healthName)) || strings.Contains(at, "/.") || strings.Contains(at, "//") {
			return // the end of what is asked; a call that lasts; no call, which net/http may redirect
		}
		body := append(binary.BigEndian.AppendUint32([]byte{flag}, length), message...)
		r := httptest.NewRequest("POST", "http://localhost/", bytes.NewReader(body))
		r.URL.Path, r.Host = "/"+strings.TrimPrefix(path, "/"), "localhost"
		r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
		r.Header.Set("Content-Type", "application/grpc+proto")
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		h := w.Result()
		code := h.Header.Get("Grpc-Status") + h.Trailer.Get("Grpc-Status")
		internal := code == "13" && flag == 0 // gRPC's text has this code for a message that says it is compressed, with nothing that says how
		if w.Code != http.StatusOK || code == "" || internal || code == "2" {
			t.Errorf("%s: status %d, gRPC's %q: %s %s", path, w.Code, code, h.Header.Get("Grpc-Message"), h.Trailer.Get("Grpc-Message"))
		}
		if n := s.held.Load(); n != 0 || len(s.slots) != 0 {
			t.Errorf("%s: afterwards %d bytes and %d requests are held", path, n, len(s.slots))
		}
	})
}
