package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/predict"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// breaking is a layer that copies its input, and panics where an item begins with one of the values below.
type breaking struct{}

const (
	breaks = 1e6 // a panic
	hungry = 2e6 // a panic for want of memory
	unread = 3e6 // a panic since weights cannot be read
)

func (breaking) SetUp(_, _ []*blob.Blob) error { return nil }
func (breaking) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	return nil
}

func (breaking) Forward(bottom, top []*blob.Blob) error {
	for x := bottom[0].Data(); len(x) > 0; x = x[7:] {
		switch x[0] {
		case breaks:
			panic("index out of range")
		case hungry:
			panic(&pages.TooMuch{Bytes: 1e15})
		case unread:
			panic(&pages.Unreadable{Err: errors.New("/secret/net.caffemodel: cut")})
		}
	}
	copy(top[0].Data(), bottom[0].Data())
	return nil
}
func (breaking) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return nil }
func (breaking) Params() []*blob.Blob                              { return nil }

func init() {
	layers.Register(layers.Type{
		Name: "Breaking", New: func(*caffepb.LayerParameter, *layers.Device) layers.Layer { return breaking{} },
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// errorLog is a log that a test reads.
type errorLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *errorLog) errorf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.text, format+"\n", args...)
}

func (l *errorLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func breakingConfig(t *testing.T) (Config, *errorLog) {
	cfg, log := config(t), &errorLog{}
	path := filepath.Join(t.TempDir(), "deploy.prototxt")
	write(t, path, `layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 7 } } }
layer { name: "out" type: "Breaking" bottom: "data" top: "out" }`)
	cfg.Models[0].Options.Net, cfg.Errorf = path, log.errorf
	return cfg, log
}

func row(first float64) []byte {
	return fmt.Appendf(nil, `{"inputs": [{"name": "data", "shape": [1, 7], "datatype": "FP32", "data": [%v, 2, 3, 4, 5, 6, 7]}]}`, first)
}

// TestFaults: a request whose run panics is answered 500, without a stack or a file, and written to the log with it; those that shared its run and those after it are answered.
func TestFaults(t *testing.T) {
	cfg, log := breakingConfig(t)
	cfg.Delay = 50 * time.Millisecond
	_, url := run(t, cfg)
	url += "/v2/models/m/infer"
	for first, want := range map[float64]string{breaks: "index out of range", hungry: "1 PB of memory", unread: "its weights cannot be read"} {
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() {
				if i != 3 {
					status, h, body := call(t, "POST", url, row(float64(i)))
					if status != 200 {
						t.Errorf("%v beside a request that fails: status %d: %s", i, status, body)
					} else if _, list := outputOf(t, h, body); list[0] != float32(i) {
						t.Errorf("%v beside a request that fails: output %v", i, list)
					}
					return
				}
				status, _, body := call(t, "POST", url, row(first))
				if status != 500 || !strings.Contains(string(body), want) || strings.Contains(string(body), ".go:") || strings.Contains(string(body), "/secret") {
					t.Errorf("%v: status %d: %s", first, status, body)
				}
			})
		}
		clients.Wait()
	}
	if text := log.String(); !strings.Contains(text, `model "m", version 1: a request failed: index out of range`) || !strings.Contains(text, "fault_test.go:") || !strings.Contains(text, "1 PB of memory") ||
		!strings.Contains(text, "/secret/net.caffemodel: cut") {
		t.Errorf("the log: %s", text)
	}
}

// TestFaultOfLoad: a model whose loading panics is not served, the old one goes on.
func TestFaultOfLoad(t *testing.T) {
	cfg, log := breakingConfig(t)
	load, broken := cfg.Load, false
	cfg.Load = func(o predict.Options) (*predict.Model, error) {
		if broken {
			panic("slice bounds")
		}
		return load(o)
	}
	_, url := run(t, cfg)
	broken = true
	if status, _, body := call(t, "POST", url+"/v2/repository/models/m/load", nil); status < 400 || !strings.Contains(string(body), "slice bounds") || strings.Contains(string(body), ".go:") {
		t.Errorf("status %d: %s", status, body)
	}
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", row(1)); status != 200 {
		t.Errorf("afterwards: status %d: %s", status, body)
	}
	if !strings.Contains(log.String(), "fault_test.go:") {
		t.Errorf("the log: %s", log)
	}
}

// TestFaultOfHandler: a panic outside a net's run is answered 500 and written to the log.
func TestFaultOfHandler(t *testing.T) {
	cfg, log := breakingConfig(t)
	s := &Server{cfg: cfg}
	w := httptest.NewRecorder()
	s.catching(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("nil map") })).ServeHTTP(w, httptest.NewRequest("GET", "/v2", nil))
	if w.Code != 500 || !strings.Contains(w.Body.String(), "nil map") || !strings.Contains(log.String(), "GET /v2: nil map") {
		t.Errorf("status %d: %s; the log: %s", w.Code, w.Body, log)
	}
}
