package page

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/inspect"
	"github.com/swcaffe/swcaffe/internal/app/picture"
	"github.com/swcaffe/swcaffe/internal/app/testreport"
	"github.com/swcaffe/swcaffe/internal/app/timeline"
	"github.com/swcaffe/swcaffe/solver/events"
)

// counter keeps the requests of buttons.
type counter struct {
	mu      sync.Mutex
	pressed []string
	refuse  error
}

func (c *counter) Buttons() []Button { return []Button{Snapshot, Stop, Test, Rate} }

func (c *counter) Press(b Button, value float64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		return c.refuse
	}
	c.pressed = append(c.pressed, fmt.Sprint(b, " ", value))
	return nil
}

// all returns the requests so far.
func (c *counter) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.pressed, ", ")
}

// begin starts a server on a free port.
func begin(t *testing.T, cfg Config) (*Server, *counter) {
	t.Helper()
	c := &counter{}
	cfg.Control = c
	if cfg.Runs == nil {
		cfg.Runs = one(&events.History{})
	}
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.tick = 10 * time.Millisecond
	s.Serve()
	t.Cleanup(func() { s.Close() })
	return s, c
}

// one returns the list of a single run.
func one(h *events.History) func() []Run { return func() []Run { return []Run{{"run", h}} } }

const loopback = "127.0.0.1:0"

// request sends a request with headers, NAME: VALUE each, and returns the status and the text.
func request(t *testing.T, s *Server, method, path string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+s.listener.Addr().String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.Header.Get("Content-Type") == "text/event-stream" {
		line, _ := bufio.NewReader(answer.Body).ReadString('\n')
		return answer.StatusCode, line
	}
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// TestWhoIsAnswered: on loopback everybody on this computer may look and only the token may press buttons; elsewhere only the token may look.
// No other site's request does anything.
func TestWhoIsAnswered(t *testing.T) {
	local, pressed := begin(t, Config{Address: loopback, Token: "secret"})
	open, _ := begin(t, Config{Address: "0.0.0.0:0", Token: "secret"})
	const yes = "Authorization: Bearer secret"
	for _, c := range []struct {
		server       *Server
		method, path string
		headers      string // separated by |
		want         int
	}{
		{local, "GET", "/", "", 200},
		{local, "GET", "/page.js", "", 200},
		{local, "GET", "/none", "", 404},
		{local, "GET", "/..%2fserver.go", "", 404},
		{local, "GET", "/api/stream", "", 200},
		{local, "GET", "/api/stream", "Host: localhost:9000", 200},
		{local, "GET", "/api/stream", "Host: [::1]:1", 200},
		{local, "GET", "/api/stream", "Host: evil.example", 403},
		{local, "GET", "/api/stream", "Host: 127.0.0.1.evil.example", 403},
		{local, "GET", "/", "Host: evil.example:8080", 403},
		{local, "POST", "/api/press/stop", yes + "|Host: evil.example", 403},
		{local, "GET", "/api/stream", "Sec-Fetch-Site: cross-site", 403},
		{local, "GET", "/", "Sec-Fetch-Site: cross-site", 200},
		{local, "GET", "/api/stream", "Origin: http://evil.example", 403},
		{local, "GET", "/api/stream", "Origin: null", 403},
		{local, "POST", "/api/press/stop", "", 401},
		{local, "POST", "/api/press/stop", "Authorization: Bearer wrong", 401},
		{local, "POST", "/api/press/stop", "Authorization: Bearer ", 401},
		{local, "POST", "/api/press/stop", "Authorization: secret", 401},
		{local, "POST", "/api/press/stop?token=secret", "", 401},
		{local, "POST", "/api/press/stop", yes + "|Origin: http://127.0.0.1:1", 403},
		{local, "POST", "/api/press/stop", yes + "|Sec-Fetch-Site: same-site", 403},
		{local, "GET", "/api/press/stop", yes, 404},
		{local, "PUT", "/api/press/stop", yes, 405},
		{local, "POST", "/api/stream", yes, 405},
		{open, "GET", "/", "", 200},
		{open, "GET", "/api/stream", "", 401},
		{open, "GET", "/api/stream", "Authorization: Bearer wrong", 401},
		{open, "GET", "/api/stream", yes, 200},
		{open, "GET", "/api/stream", yes + "|Host: computer.example:8080", 200},
		{open, "GET", "/api/stream", yes + "|Origin: http://evil.example", 403},
		{open, "POST", "/api/press/stop", "", 401},
	} {
		var headers []string
		if c.headers != "" {
			headers = strings.Split(c.headers, "|")
		}
		if got, text := request(t, c.server, c.method, c.path, headers...); got != c.want {
			t.Errorf("%s %s with %q: %d %q, want %d", c.method, c.path, c.headers, got, text, c.want)
		}
	}
	if got := pressed.all(); got != "" {
		t.Fatalf("refused requests had an effect: %s", got)
	}
}

// TestButtons: each button's request arrives once, with its value; rates that are none, and buttons that the run has not, are refused.
func TestButtons(t *testing.T) {
	s, pressed := begin(t, Config{Address: loopback, Token: "secret"})
	press := func(path string) (int, string) {
		t.Helper()
		return request(t, s, "POST", "/api/press/"+path, "Authorization: Bearer secret", "Origin: http://"+s.listener.Addr().String(), "Sec-Fetch-Site: same-origin")
	}
	for path, want := range map[string]int{
		"rate": 400, "rate?value=": 400, "rate?value=x": 400, "rate?value=0": 400, "rate?value=-1": 400, "rate?value=NaN": 400, "rate?value=Inf": 400,
		"rate?value=1e999": 400, "none": 404, "": 405,
	} {
		if got, text := press(path); got != want || pressed.all() != "" {
			t.Errorf("%s: %d %q, want %d; pressed %q", path, got, text, want, pressed.all())
		}
	}
	for _, path := range []string{"snapshot", "stop", "test", "rate?value=1e-3"} {
		if got, text := press(path); got != 202 {
			t.Errorf("%s: %d %q", path, got, text)
		}
	}
	if got, want := pressed.all(), "snapshot 0, stop 0, test 0, rate 0.001"; got != want {
		t.Errorf("pressed %q, want %q", got, want)
	}
	pressed.refuse = errors.New("too busy")
	if got, text := press("test"); got != 409 || !strings.Contains(text, "too busy") {
		t.Errorf("a refused request: %d %q", got, text)
	}
}

func TestAddresses(t *testing.T) {
	taken, _ := begin(t, Config{Address: loopback})
	for address, want := range map[string]string{
		taken.listener.Addr().String(): "another program uses this port",
		"0.0.0.0:0":                    "other computers could connect; give -http_token",
		":0":                           "other computers could connect; give -http_token",
		"8080":                         "an address is HOST:PORT, as 127.0.0.1:8080",
		"127.0.0.1:many":               "an address is HOST:PORT",
	} {
		if s, err := Listen(Config{Address: address, Runs: one(&events.History{})}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), address+": ") {
			t.Errorf("%s: %v, %v; want %s", address, s, err, want)
		}
	}
	other, _ := begin(t, Config{Address: loopback})
	if a, b := taken.cfg.Token, other.cfg.Token; len(a) < 20 || a == b {
		t.Errorf("tokens %q and %q", a, b)
	}
	if want := fmt.Sprintf("http://%s/#token=%s", other.listener.Addr(), other.cfg.Token); other.URL() != want {
		t.Errorf("URL %s, want %s", other.URL(), want)
	}
}

// TestLimits: huge queries, headers and bodies are refused, and the server goes on.
func TestLimits(t *testing.T) {
	s, pressed := begin(t, Config{Address: loopback, Token: "secret"})
	if got, _ := request(t, s, "GET", "/?"+strings.Repeat("a", 1<<20)); got != 431 {
		t.Errorf("a query of 1 MB: %d", got)
	}
	if got, _ := request(t, s, "GET", "/", "X: "+strings.Repeat("a", 1<<20)); got != 431 {
		t.Errorf("a header of 1 MB: %d", got)
	}
	if got, _ := request(t, s, "GET", "/page.js?"+strings.Repeat("a=b&", 2000)); got != 200 {
		t.Errorf("a long query: %d", got)
	}
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /api/press/stop HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Length: 100000000000\r\n\r\n")
	if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != 413 {
		t.Errorf("a body that never comes: %v, %v", answer, err)
	}
	if got := pressed.all(); got != "" {
		t.Errorf("requests had an effect: %s", got)
	}
}

// read receives events of a stream until one for which until returns true.
func read(t *testing.T, s *Server, until func(n news) bool) {
	t.Helper()
	answer, err := http.Get("http://" + s.listener.Addr().String() + "/api/stream")
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var n news
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			t.Error(err)
			return
		}
		if until(n) {
			return
		}
	}
	t.Error("the stream ended early")
}

func iterate(h *events.History, from, to int) {
	for i := from; i < to; i++ {
		h.Take(events.Event{Time: time.Now(), Body: &events.Iteration{Iteration: i, Loss: events.Number(i)}})
	}
}

// TestManyClients: 100 clients that read, 20 that do not read and 20 that vanish get in nobody's way; every reader sees the last point, and
// the last words of a crash although the server closes at once.
func TestManyClients(t *testing.T) {
	h := &events.History{}
	s, _ := begin(t, Config{Address: loopback, Runs: one(h)})
	s.tick = 100 * time.Millisecond
	iterate(h, 0, 5000)
	for i := range 40 {
		c, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if i%2 == 0 {
			c.Close()
		}
	}
	var wait, ready sync.WaitGroup
	for range 100 {
		wait.Add(1)
		ready.Add(1)
		go func() {
			defer wait.Done()
			first, lastStep := true, 0
			read(t, s, func(n news) bool {
				if first {
					first = false
					ready.Done()
				}
				for _, run := range n.Runs {
					for _, p := range run.Parts {
						if k := len(p.Steps); k > 0 {
							lastStep = p.Steps[k-1]
						}
					}
					if run.State.Crashed != nil && run.State.Crashed.Error == "last words" && lastStep == 5999 {
						return true
					}
				}
				return false
			})
		}()
	}
	ready.Wait()
	before := time.Now()
	iterate(h, 5000, 6000)
	if lapse := time.Since(before); lapse > 5*time.Second {
		t.Errorf("1000 events took %v while clients read", lapse)
	}
	h.Take(events.Event{Time: time.Now(), Body: &events.Crashed{Iteration: 6000, Error: "last words"}})
	s.Close()
	wait.Wait()
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("a closed server answers")
	}
}

// TestTooManyStreams: streams beyond the limit are refused, and their places become free again.
func TestTooManyStreams(t *testing.T) {
	s, _ := begin(t, Config{Address: loopback})
	for range cap(s.streams) {
		s.streams <- struct{}{}
	}
	if got, _ := request(t, s, "GET", "/api/stream"); got != 503 {
		t.Errorf("stream number %d: %d", cap(s.streams)+1, got)
	}
	<-s.streams
	for range 3 { // each gives its place back
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			got, _ := request(t, s, "GET", "/api/stream")
			if got == 200 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("a free place is not given: %d", got)
			}
		}
	}
}

// asked counts the overviews that were asked for.
var asked atomic.Int32

// examined counts the questions about tests.
var examined atomic.Int32

// pretended answers questions about a net with fixed answers, or not before its context ends.
type pretended struct{ hang bool }

func (p pretended) wait(ctx context.Context) {
	if p.hang {
		<-ctx.Done()
	}
}

func (p pretended) Overview(ctx context.Context) (*inspect.Overview, error) {
	p.wait(ctx)
	return &inspect.Overview{Iteration: int(asked.Add(1)), Layers: []inspect.Summary{{Name: "conv <1>", Type: "Convolution", Tops: []string{"4 2 1 1 (8)"}, Weights: 18, Gradient: events.Number(math.NaN()), Mark: "gradient is not finite"},
		{Name: "relu", Type: "ReLU"}, {Name: "ip", Weights: 3, Weight: 0.5, Gradient: 0.25}}}, nil
}

func (p pretended) Layer(ctx context.Context, name string) (*inspect.Layer, error) {
	if name != "conv <1>" {
		return nil, fmt.Errorf("the training net has no layer %q", name)
	}
	share := events.Number(0.25)
	h := inspect.NewHistogram([]float32{1, 2, 3})
	tiles := picture.NewTiles([]float32{0, 1, 2, 3}, []int{1, 1, 2, 2})
	return &inspect.Layer{Summary: inspect.Summary{Name: name, Type: "Convolution", Forward: 1.5}, Text: "layer <x>", Algorithms: []string{"forward: winograd"}, Bytes: 3e6, Dead: &share,
		Blobs: []inspect.Blob{{Role: "weights 0", Shape: "1 1 2 2 (4)", Values: h, Gradients: &h, Picture: tiles.PNG(), Shown: 1, Of: 1}}}, nil
}

func (p pretended) Batch(ctx context.Context) (*inspect.Batch, error) {
	tiles := picture.NewTiles([]float32{0, 1, 2, 3}, []int{1, 1, 2, 2})
	return &inspect.Batch{Size: 64, Names: strings.Split("0123456789", ""), Tops: []inspect.Top{{Name: "data", Shape: "64 1 2 2 (256)", Values: inspect.NewHistogram([]float32{1})}},
		Items: []inspect.Item{{Pictures: [][]byte{tiles.PNG()}, Labels: []inspect.Label{{Top: "label", Values: []events.Number{7}}}}}}, nil
}

// Test has nothing of net 1, a classification of net 0 and detections of net 2.
func (p pretended) Test(net int) (*Tested, error) {
	examined.Add(1)
	tiles := picture.NewTiles([]float32{0, 1, 2, 3}, []int{1, 1, 2, 2})
	pictures := []testreport.Picture{testreport.NewPicture("", tiles)}
	t := &Tested{Nets: 3, Iteration: 50}
	switch net {
	case 0:
		t.Results = &testreport.Results{Batches: 2, Items: 8, Unit: "images", Wrong: 1, ScoresOf: "ip", Figures: []testreport.Row{{Name: "accuracy of images", Value: "87.50 %"}},
			Names:    []string{"cat", "<dog>"},
			Matrix:   []testreport.MatrixRow{{Name: "cat", Cells: []testreport.Cell{{Text: "4", Shade: 1, Right: true}, {}}}, {Name: "<dog>", Cells: []testreport.Cell{{Text: "1", Shade: 0.5, Title: "<dog> taken for cat: 1"}, {Text: "3", Right: true, Shade: 0.9}}}},
			Confused: []testreport.Row{{Name: "<dog> taken for cat", Value: "1"}},
			Classes:  []testreport.ClassRow{{Name: "cat", Items: 4, Right: 4, Recall: "100.00 %", Precision: "80.00 %", Share: 1}, {Name: "<dog>", Items: 4, Right: 3, Recall: "75.00 %", Precision: "100.00 %", Share: 0.75}},
			Mistakes: []testreport.Mistake{{Item: 5, Head: "label <dog>", Score: "0.0100", Guesses: []testreport.Row{{Name: "cat", Value: "0.9900"}}, Pictures: pictures}}}
	case 2:
		t.Results = &testreport.Results{Batches: 1, Items: 1, AveragePrecision: "Integral",
			Mistakes: []testreport.Mistake{{Head: "right", Score: "0.00 %", Pictures: pictures, Boxes: []testreport.Box{{Kind: "object", Name: "1", Left: 0.25, Top: 0.25, Width: 0.5, Height: 0.5}}}},
			Curves:   []testreport.Curve{{Name: "1", Average: "50.00 %", Points: "50.0,0.0 100.0,50.0", Found: true}, {Name: "2", Average: "–"}}}
	}
	return t, nil
}

// Timeline has two workers, of which the second one's only layer begins late, and a core group in modelled time.
func (p pretended) Timeline(ctx context.Context) (*Timeline, error) {
	p.wait(ctx)
	mark := func(name, category string, begin, took float64) timeline.Mark {
		return timeline.Mark{Name: name, Category: category, Begin: begin, Took: took, Notes: map[string]any{"type": "<x>"}}
	}
	return &Timeline{Iteration: 7, Rows: []timeline.Row{
		{Name: "worker 0", Marks: []timeline.Mark{mark("iteration 7", "iteration", 0, 10), mark("conv <1>", "forward", 0, 4), mark("conv <1>", "backward", 5, 2.5)}},
		{Name: "worker 1", Marks: []timeline.Mark{mark("conv <1>", "forward", 5, 5)}},
	}, Modelled: []timeline.Row{{Name: "worker 0: core group 0", Marks: []timeline.Mark{mark("conv <1>", "forward", 0, 0.125)}}}}, nil
}

const drawnNet = `name: "n"
layer { name: "conv <1>" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 2 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "c" top: "c" }`

// TestLooking: the net and the batch are shown of a run that trains, and of no other; a page that waits does not keep the server from closing.
func TestLooking(t *testing.T) {
	h := &events.History{}
	s, _ := begin(t, Config{Address: loopback, Runs: one(h), Inspector: pretended{}})
	expect := func(s *Server, path string, status int, want string) {
		t.Helper()
		if got, text := request(t, s, "GET", path); got != status || !strings.Contains(text, want) {
			t.Errorf("%s: %d %.200q, want %d %q", path, got, text, status, want)
		}
	}
	paths := []string{"/api/layers", "/api/layer?name=conv+%3C1%3E", "/api/batch"}
	for _, path := range append(paths, "/api/net") {
		expect(s, path, 409, "has not started")
	}
	h.Take(events.Event{Time: time.Now(), Body: &events.Started{NetText: drawnNet, Layers: []events.Layer{{Name: "conv <1>", Tops: []string{"4 2 1 1 (8)"}}}}})
	expect(s, "/api/net", 200, `"layer":"relu"`)
	expect(s, "/api/net", 200, `\u003e4x2x1x1\u003c`)
	expect(s, paths[0], 200, `"gradient_rms":"NaN"`)
	expect(s, paths[1], 200, `"dead":0.25`)
	expect(s, paths[2], 200, `"size":64`)
	expect(s, "/api/layer?name=none", 409, "no layer")
	expect(s, "/api/test?net=2", 200, `"average_precision":"Integral"`)
	expect(s, "/api/test?net=x", 409, `"x" is no number`)
	h.Take(events.Event{Time: time.Now(), Body: &events.Started{NetText: "layer {"}})
	expect(s, "/api/net", 409, "the run's net:")
	h.Take(events.Event{Time: time.Now(), Body: &events.Stopped{}})
	for _, path := range paths {
		expect(s, path, 409, "the run has ended")
	}

	waiting := &events.History{}
	slow, _ := begin(t, Config{Address: loopback, Runs: one(waiting), Inspector: pretended{hang: true}})
	waiting.Take(events.Event{Time: time.Now(), Body: &events.Started{}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		expect(slow, "/api/layers", 409, "no iteration ended in time")
	}()
	time.Sleep(50 * time.Millisecond) // the request arrives, most likely
	begun := time.Now()
	slow.Close()
	<-done
	if lapse := time.Since(begun); lapse > 30*time.Second {
		t.Errorf("closing took %v", lapse)
	}
}

// TestMetricsAndHealth: both are there, metrics need the token on open addresses, and they are missing unless asked for.
func TestMetricsAndHealth(t *testing.T) {
	figures := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "swcaffe_loss 3\n") })
	local, _ := begin(t, Config{Address: loopback, Metrics: figures})
	open, _ := begin(t, Config{Address: "0.0.0.0:0", Token: "secret", Metrics: figures})
	without, _ := begin(t, Config{Address: loopback})
	for _, c := range []struct {
		server        *Server
		path, headers string
		status        int
		want          string
	}{
		{local, "/metrics", "", 200, "swcaffe_loss 3"},
		{local, "/healthz", "", 200, "ok"},
		{local, "/metrics", "Host: evil.example", 403, ""},
		{open, "/metrics", "", 401, ""},
		{open, "/metrics", "Authorization: Bearer secret", 200, "swcaffe_loss 3"},
		{open, "/healthz", "", 200, "ok"},
		{without, "/metrics", "", 404, ""},
		{without, "/healthz", "", 200, "ok"},
	} {
		var headers []string
		if c.headers != "" {
			headers = append(headers, c.headers)
		}
		if got, text := request(t, c.server, "GET", c.path, headers...); got != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %q, want %d", c.path, c.headers, got, text, c.status)
		}
	}
}
