package serve

import (
	"sync"
	"testing"
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
