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
