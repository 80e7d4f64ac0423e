package serve

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/predict"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestFirstRequests: requests that come while plans are made are answered, each with its own values, whatever plans there are.
func TestFirstRequests(t *testing.T) {
	for range 20 {
		cfg, _ := breakingConfig(t)
		s := begin(t, cfg)
		url := s.URL()
		var clients sync.WaitGroup
		for i := range 12 {
			clients.Go(func() {
				for k := range 3 {
					status, h, body := call(t, "POST", url+"/v2/models/m/infer", row(float64(100*i+k)))
					if status != 200 {
						t.Errorf("status %d: %s", status, body)
					} else if _, list := outputOf(t, h, body); list[0] != float32(100*i+k) {
						t.Errorf("%d was answered %v", 100*i+k, list)
					}
				}
			})
		}
		clients.Wait()
		end(t, s)
	}
}

// TestReloadOfOneSession: where a version has one session, a version that takes its place has one, and the end of both leaves no thread; also of a net that can have only one.
func TestReloadOfOneSession(t *testing.T) {
	for _, layer := range []string{``, `layer { name: "cont" type: "Input" top: "cont" input_param { shape { dim: 1 dim: 1 } } }
layer { name: "step" type: "Input" top: "step" input_param { shape { dim: 1 dim: 1 dim: 3 } } }
layer { name: "lstm" type: "LSTM" bottom: "step" bottom: "cont" top: "state" recurrent_param { num_output: 2 weight_filler { type: "xavier" } } }`} {
		cfg, _ := breakingConfig(t)
		cfg.Sessions = 1
		if layer != "" {
			write(t, cfg.Models[0].Options.Net, layer)
		}
		_, url := run(t, cfg)
		for range 3 {
			if status, _, body := call(t, "POST", url+"/v2/repository/models/m/load", nil); status != 200 {
				t.Errorf("status %d: %s", status, body)
			}
		}
	}
}

// TestReadyWhenPlanned: a net that cannot be planned on the server's machine, as one without quantization for 8-bit integers, is not ready: the call load and the index say why, and the log too.
func TestReadyWhenPlanned(t *testing.T) {
	cfg, log := repositoryOf(t, "m/1")
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.WithPrecision(cpe.INT8); err != nil {
		t.Fatal(err)
	}
	load := cfg.Load
	cfg.Load = func(o predict.Options) (*predict.Model, error) {
		o.Machine = &spec
		return load(o)
	}
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve()
	defer end(t, s)
	const why = "no layer has a quantization_param"
	if err := s.Load(); err == nil || !strings.Contains(err.Error(), `model "m", version 1: planning the net: `) || !strings.Contains(err.Error(), why) {
		t.Errorf("loading: %v", err)
	}
	for asked, want := range map[string]int{"GET /v2/health/ready": 503, "GET /v2/models/m/ready": 503, "POST /v2/models/m/infer": 404, "POST /v2/repository/models/m/load": 400} {
		method, path, _ := strings.Cut(asked, " ")
		if status, _, body := call(t, method, s.URL()+path, nil); status != want || want == 400 && !strings.Contains(string(body), why) {
			t.Errorf("%s: status %d: %s", asked, status, body)
		}
	}
	if _, _, body := call(t, "POST", s.URL()+"/v2/repository/index", nil); !strings.Contains(string(body), `"version":"1","state":"UNAVAILABLE","reason":"model \"m\", version 1: planning the net: `) {
		t.Errorf("index: %s", body)
	}
	if n := strings.Count(log.String(), why); n != 1 {
		t.Errorf("the log names the reason %d times after a call load: %s", n, log)
	}
}

// slow is a layer that copies its input. Runs of several items wait until release is closed.
type slow struct{ breaking }

var release chan struct{}

func (slow) Forward(bottom, top []*blob.Blob) error {
	if bottom[0].Shape()[0] > 1 {
		<-release
	}
	copy(top[0].Data(), bottom[0].Data())
	return nil
}

func init() {
	layers.Register(layers.Type{
		Name: "Slow", New: func(*caffepb.LayerParameter, *layers.Device) layers.Layer { return slow{} },
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// TestCloseWhilePlanning: the end waits neither for plans nor for loading, of which no request needs the end; what is loaded afterwards ends too.
func TestCloseWhilePlanning(t *testing.T) {
	release = make(chan struct{})
	loading, loaded := make(chan struct{}), make(chan error)
	cfg, _ := breakingConfig(t)
	write(t, cfg.Models[0].Options.Net, `layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 7 } } }
layer { name: "out" type: "Slow" bottom: "data" top: "out" }`)
	later := cfg.Models[0]
	later.Name = "n"
	cfg.Models = append(cfg.Models, later)
	load, models := cfg.Load, 0
	cfg.Load = func(o predict.Options) (*predict.Model, error) {
		if models++; models == 2 {
			close(loading)
			<-release
		}
		return load(o)
	}
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve()
	go func() { loaded <- s.Load() }()
	<-loading
	v, err := s.repository.find("m", "")
	if err != nil {
		t.Fatal(err)
	}
	v.users.Done()
	closed := make(chan error)
	go func() { closed <- s.Close(context.Background()) }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the end waits for plans")
		defer func() { <-closed }()
	}
	for begin := time.Now(); !v.queue.over() && time.Since(begin) < 10*time.Second; time.Sleep(time.Millisecond) {
	}
	close(release)
	if err := <-loaded; err != nil {
		t.Error(err)
	}
	v.workers.Wait()
	if n := v.wide.plans; n == len(v.sizes()) {
		t.Errorf("all %d plans are made though the server has ended", n)
	}
}
