package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/predict"
)

// small is a classifier of images of 3 x 4 x 5 whose preprocessing is stated. Its weights are filled by the seed.
const small = `layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 5 } } transform_param { scale: 0.01 mean_value: 100 } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 7 weight_filler { type: "gaussian" std: 0.3 } } }
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }`

const values = 3 * 4 * 5

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// loader loads nets with a seed, from which their weights are.
func loader(seed uint64) func(predict.Options) (*predict.Model, error) {
	return func(o predict.Options) (*predict.Model, error) {
		o.Batch, o.Seed = 8, seed
		return predict.Load(o)
	}
}

func config(t *testing.T) Config {
	path := filepath.Join(t.TempDir(), "deploy.prototxt")
	write(t, path, small)
	return Config{
		Address: "127.0.0.1:0", Models: []Source{{Name: "m", Version: "1", Options: predict.Options{Net: path}}}, Load: loader(1),
		Errorf: t.Logf, Cores: 2, Sessions: 2, Queue: 64, Requests: 100, Timeout: 20 * time.Second, MaxBody: 1 << 20, MaxBodies: 8 << 20,
	}
}

// run starts a server, waits until it has all plans, and returns its address. At its end no goroutine of it remains.
func run(t *testing.T, cfg Config) (*Server, string) {
	t.Helper()
	before := runtime.NumGoroutine()
	s := begin(t, cfg)
	planned(s) // another server's count begins after this one's goroutines
	t.Cleanup(func() {
		for range 500 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before the server:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	})
	t.Cleanup(func() { end(t, s) })
	return s, s.URL()
}

// begin starts a server.
func begin(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve()
	if err := s.Load(); err != nil && !s.Ready() {
		t.Fatal(err)
	}
	return s
}

// planned waits until all versions have all plans, so that runs have the sizes that they have from then on.
func planned(s *Server) {
	for _, e := range s.repository.models {
		for _, v := range e.serving {
			<-v.begun
		}
	}
}

// end closes a server.
func end(t *testing.T, s *Server) {
	http.DefaultClient.CloseIdleConnections()
	if err := s.Close(t.Context()); err != nil && t.Context().Err() == nil {
		t.Error(err)
	}
}

// call sends a request with headers as "NAME: VALUE" and returns the status and the body.
func call(t *testing.T, method, url string, body []byte, headers ...string) (int, http.Header, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil, nil
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	if err != nil {
		t.Error(err)
	}
	return w.StatusCode, w.Header, answer
}

// outputOf reads the first output of a response of infer.
func outputOf(t *testing.T, h http.Header, body []byte) (shape []int, list []float32) {
	t.Helper()
	text, binary := body, []byte(nil)
	if n, err := strconv.Atoi(h.Get(headerLength)); err == nil {
		text, binary = body[:n], body[n:]
	}
	var r struct {
		Outputs []struct {
			Shape []int
			Data  []float32
		}
	}
	if err := json.Unmarshal(text, &r); err != nil || len(r.Outputs) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	list = r.Outputs[0].Data
	if binary != nil {
		d, _ := findDatatype("FP32")
		var err error
		if list, err = d.readBinary(binary, len(binary)/4); err != nil {
			t.Fatal(err)
		}
	}
	return r.Outputs[0].Shape, list
}

// encode writes small integers as values of a datatype.
func encode(datatype string, list []float32) (b []byte) {
	for _, v := range list {
		var bits uint64
		size := 0
		switch datatype {
		case "FP64":
			bits, size = math.Float64bits(float64(v)), 8
		case "FP32":
			bits, size = uint64(math.Float32bits(v)), 4
		case "BF16":
			bits, size = uint64(math.Float32bits(v)>>16), 2
		case "FP16": // 0 to 3 are multiples of powers of two
			bits, size = uint64([]uint16{0, 0x3c00, 0x4000, 0x4200}[int(v)]), 2
		case "BOOL":
			bits, size = uint64(v), 1
		default:
			n, err := strconv.Atoi(strings.TrimLeft(datatype, "UINT"))
			if err != nil {
				panic(err)
			}
			bits, size = uint64(v), n/8
		}
		for i := range size {
			b = append(b, byte(bits>>(8*i)))
		}
	}
	return b
}

// TestRandomRequests: what the server answers, of every datatype, in JSON and in binary, for 1 to 20 items, are the bits that a session gives.
func TestRandomRequests(t *testing.T) {
	cfg := config(t)
	_, url := run(t, cfg)
	m, err := loader(1)(cfg.Models[0].Options)
	if err != nil {
		t.Fatal(err)
	}
	session, err := m.NewSession(1)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for k := range 120 {
		d := datatypes[k%(len(datatypes)-1)]
		n, x := 1+random.IntN(20), []float32(nil)
		most := 4
		if d.name == "BOOL" {
			most = 2
		}
		for range n * values {
			x = append(x, float32(random.IntN(most)))
		}
		var want []float32
		for at := 0; at < n; {
			size := fitting([]int{1, 2, 4, 8}, n-at)
			out, err := session.Run(t.Context(), predict.Array{Values: x[at*values:][:size*values]})
			if err != nil {
				t.Fatal(err)
			}
			want, at = append(want, out[0].Values...), at+size
		}
		input := map[string]any{"name": "data", "datatype": d.name, "shape": []int{n, 3, 4, 5}}
		request := map[string]any{"inputs": []any{input}, "parameters": map[string]any{"binary_data_output": k%2 == 0}}
		var tail []byte
		if random.IntN(2) == 0 {
			tail = encode(d.name, x)
			input["parameters"] = map[string]any{"binary_data_size": len(tail)}
		} else if d.name == "BOOL" {
			var words []bool
			for _, v := range x {
				words = append(words, v == 1)
			}
			input["data"] = words
		} else {
			input["data"] = nested(x, 3, 4, 5)
		}
		text, _ := json.Marshal(request)
		status, h, body := call(t, "POST", url+"/v2/models/m/infer", append(text, tail...), headerLength+": "+strconv.Itoa(len(text)))
		if status != 200 {
			t.Fatalf("%s, %d items: status %d: %s", d.name, n, status, body)
		}
		if shape, got := outputOf(t, h, body); !slices.Equal(shape, []int{n, 7}) || !slices.Equal(got, want) {
			t.Fatalf("%s, %d items, binary %v: shape %v, %v, want %v", d.name, n, tail != nil, shape, got, want)
		}
	}
}

// nested puts values into lists in lists, of which the inner ones have the lengths.
func nested(x []float32, lengths ...int) any {
	var list any = x
	for _, n := range slices.Backward(lengths) {
		switch l := list.(type) {
		case []float32:
			list = slices.Collect(slices.Chunk(l, n))
		case [][]float32:
			list = slices.Collect(slices.Chunk(l, n))
		case [][][]float32:
			list = slices.Collect(slices.Chunk(l, n))
		}
	}
	return list
}

func jsonRequest(x []float32) []byte {
	b, _ := json.Marshal(map[string]any{"inputs": []any{map[string]any{"name": "data", "datatype": "FP32", "shape": []int{len(x) / values, 3, 4, 5}, "data": x}}})
	return b
}

// TestReload: models are exchanged under load. Each answer is that of one of the models, and no request fails.
func TestReload(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "m", "1", deployFile)
	write(t, file, small)
	seed := uint64(0)
	cfg := config(t)
	cfg.Folder, cfg.Models = folder, nil
	cfg.Load = func(o predict.Options) (*predict.Model, error) { // one load at a time
		o.Weights = ""
		m, err := loader(1 + seed%2)(o)
		seed++
		return m, err
	}
	write(t, filepath.Join(folder, "m", "1", "w.caffemodel"), "")
	_, url := run(t, cfg)
	x := make([]float32, values)
	for i := range x {
		x[i] = float32(i)
	}
	ask := func() []float32 {
		status, h, body := call(t, "POST", url+"/v2/models/m/infer", jsonRequest(x))
		if status != 200 {
			t.Errorf("status %d: %s", status, body)
			return nil
		}
		_, list := outputOf(t, h, body)
		return list
	}
	reload := func(i int) {
		write(t, file, small+strings.Repeat("\n", i))
		if status, _, body := call(t, "POST", url+"/v2/repository/models/m/load", nil); status != 200 {
			t.Errorf("load: status %d: %s", status, body)
		}
	}
	first := ask()
	reload(1)
	second := ask()
	if slices.Equal(first, second) {
		t.Fatal("the model was not exchanged")
	}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := ask(); !near(got, first) && !near(got, second) {
					t.Errorf("%v is neither %v nor %v", got, first, second)
				}
			}
		})
	}
	for i := range 30 {
		reload(2 + i)
	}
	close(stop)
	clients.Wait()
}

// near allows for the roundings of another size of run.
func near(a, b []float32) bool {
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-5 {
			return false
		}
	}
	return len(a) == len(b)
}

// TestJoined: requests that wait together share runs, and each has its own answer.
func TestJoined(t *testing.T) {
	cfg := config(t)
	cfg.Delay = 50 * time.Millisecond
	s, url := run(t, cfg)
	var clients sync.WaitGroup
	for k := range 12 {
		clients.Go(func() {
			x := make([]float32, values*(1+k%3))
			for i := range x {
				x[i] = float32((i*7+k)%11) / 5
			}
			_, h, body := call(t, "POST", url+"/v2/models/m/infer", jsonRequest(x))
			_, got := outputOf(t, h, body)
			var want []float32
			for item := range slices.Chunk(x, values) {
				_, h, body := call(t, "POST", url+"/v2/models/m/infer", jsonRequest(item))
				_, one := outputOf(t, h, body)
				want = append(want, one...)
			}
			if !near(got, want) {
				t.Errorf("client %d: %v, alone %v", k, got, want)
			}
		})
	}
	clients.Wait()
	_, _, text := call(t, "GET", s.URL()+"/metrics", nil)
	if !strings.Contains(string(text), `swcaffe_serve_requests_total{code="200",model="m",version="1"} 36`) {
		t.Errorf("metrics: %s", text)
	}
	if strings.Contains(string(text), `swcaffe_serve_batch_items_count{model="m",version="1"} 36`) {
		t.Errorf("no requests were joined")
	}
}

// TestOverload: requests beyond the queue are refused at once with 429, the others are answered.
func TestOverload(t *testing.T) {
	cfg := config(t)
	cfg.Queue, cfg.Delay = 1, 100*time.Millisecond
	_, url := run(t, cfg)
	request := jsonRequest(make([]float32, 8*values))
	var mu sync.Mutex
	count := map[int]int{}
	var clients sync.WaitGroup
	for range 40 {
		clients.Go(func() {
			status, h, body := call(t, "POST", url+"/v2/models/m/infer", request)
			mu.Lock()
			defer mu.Unlock()
			count[status]++
			if status == 429 && (h.Get("Retry-After") == "" || !strings.Contains(string(body), `{"error":"`)) {
				t.Errorf("429 with %v, %s", h, body)
			}
		})
	}
	clients.Wait()
	if count[200] == 0 || count[200]+count[429] != 40 {
		t.Errorf("statuses: %v", count)
	}
	cfg = config(t)
	cfg.Requests = 1
	s, url := run(t, cfg)
	s.slots <- struct{}{}
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", request); status != 429 {
		t.Errorf("beyond -requests: status %d: %s", status, body)
	}
	<-s.slots
	s.held.Add(s.cfg.MaxBodies)
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", request); status != 429 {
		t.Errorf("beyond -max_bodies: status %d: %s", status, body)
	}
	s.held.Add(-s.cfg.MaxBodies)
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", request); status != 200 || s.held.Load() != 0 {
		t.Errorf("afterwards: status %d, %d bytes held: %s", status, s.held.Load(), body)
	}
}

// TestTimeout: a request that waits too long ends with 504, and does not run afterwards.
func TestTimeout(t *testing.T) {
	cfg := config(t)
	cfg.Timeout, cfg.Delay = 100*time.Millisecond, 400*time.Millisecond
	s, url := run(t, cfg)
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", jsonRequest(make([]float32, values))); status != 504 {
		t.Errorf("status %d: %s", status, body)
	}
	time.Sleep(2 * cfg.Delay)
	w := httptest.NewRecorder() // not over the network, where the short time could end this request too
	s.metrics.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if text := w.Body.String(); !strings.Contains(text, `batch_items_count{model="m",version="1"} 0`) {
		t.Errorf("the request ran though nobody waited for it: %s", text)
	}
}

// TestBadRequests: each is refused with a status and a reason.
func TestBadRequests(t *testing.T) {
	_, url := run(t, config(t))
	input := func(rest string) string { return `{"inputs":[{"name":"data",` + rest + `}]}` }
	for _, c := range []struct {
		body, header string
		status       int
		reason       string
	}{
		{``, "", 400, "EOF"},
		{`{"inputs":`, "", 400, "unexpected EOF"},
		{`[]`, "", 400, "cannot unmarshal"},
		{`{}`, "", 400, "no inputs"},
		{`{"inputs":[{}]}`, "", 400, "none of the protocol's"},
		{input(`"datatype":"FP31","shape":[1]`), "", 400, `datatype \"FP31\"`},
		{input(`"datatype":"FP32","shape":[1,3,4,5],"data":[1]`), "", 400, "1 values are given, its shape needs 60"},
		{input(`"datatype":"FP32","shape":[1,1],"data":[1]`), "", 400, "has shape [1 1], model \\\"m\\\" takes [-1 3 4 5]"},
		{input(`"datatype":"FP32","shape":[0,3,4,5],"data":[]`), "", 400, "at least one item"},
		{input(`"datatype":"FP32","shape":[-1,3,4,5],"data":[]`), "", 400, "cannot be negative"},
		{input(`"datatype":"FP32","shape":[4294967296,4294967296,4],"data":[]`), "", 400, "at most 2147483647 values"},
		{input(`"datatype":"FP32","shape":[1.5],"data":[]`), "", 400, "cannot unmarshal"},
		{input(`"datatype":"FP32","shape":[1],"data":[null]`), "", 400, "null is no number"},
		{input(`"datatype":"FP32","shape":[1],"data":[1e99]`), "", 400, "1e99 is no number of 32 bits"},
		{input(`"datatype":"FP32","shape":[1],"data":["1"]`), "", 400, "a text where a number should be"},
		{input(`"datatype":"FP32","shape":[1],"data":3`), "", 400, "no list"},
		{input(`"datatype":"FP32","shape":[1]`), "", 400, "no list"},
		{input(`"datatype":"INT8","shape":[1],"data":[128]`), "", 400, "no integer of 8 bits"},
		{input(`"datatype":"UINT16","shape":[1],"data":[-1]`), "", 400, "no integer from 0"},
		{input(`"datatype":"BOOL","shape":[1],"data":[2]`), "", 400, "neither true nor false"},
		{input(`"datatype":"BYTES","shape":[1],"data":[5]`), "", 400, "list of texts"},
		{input(`"datatype":"BYTES","shape":[1],"data":["no image"]`), "", 400, "no JPEG or PNG"},
		{input(`"datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}`), "", 400, "0 bytes remain"},
		{input(`"datatype":"FP32","shape":[1],"parameters":{"binary_data_size":-4}`), "", 400, "binary_data_size is -4"},
		{input(`"datatype":"FP32","shape":[1],"data":[1]`) + "1234", "", 400, "Inference-Header-Content-Length"},
		{`{}`, "3", 400, "length of the JSON in a body of 2 bytes"},
		{`{}`, "-1", 400, "length of the JSON"},
		{`{}`, "x", 400, "length of the JSON"},
		{`{"inputs":[{"name":"dat","datatype":"FP32","shape":[1],"data":[1]}]}`, "", 400, `unknown input \"dat\"`},
		{strings.Replace(string(jsonRequest(make([]float32, values))), `{"inputs"`, `{"outputs":[{"name":"x"}],"inputs"`, 1), "", 400, `unknown output \"x\"`},
		{strings.Repeat(" ", 1<<20+1), "", 413, "at most 1048576"},
	} {
		headers := []string{}
		if c.header != "" {
			headers = append(headers, headerLength+": "+c.header)
		}
		status, h, body := call(t, "POST", url+"/v2/models/m/infer", []byte(c.body), headers...)
		if status != c.status || !strings.Contains(string(body), c.reason) || !strings.HasPrefix(string(body), `{"error":`) || h.Get("Content-Type") != "application/json" {
			t.Errorf("%.80s: status %d, want %d with %q: %s", c.body, status, c.status, c.reason, body)
		}
	}
	for path, want := range map[string]int{
		"/v2/models/none/infer": 404, "/v2/models/m/versions/2/infer": 404, "/v3": 404, "/v2/repository/models/x/load": 404, "/v2/models/m/detect": 400,
	} {
		if status, _, body := call(t, "POST", url+path, nil); status != want || !strings.HasPrefix(string(body), `{"error":`) {
			t.Errorf("%s: status %d, want %d: %s", path, status, want, body)
		}
	}
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", []byte("{}"), "Content-Encoding: gzip"); status != 415 {
		t.Errorf("gzip: status %d: %s", status, body)
	}
}

// TestGuard: pages of other sites cannot use the server, nor can clients without the token if there is one.
func TestGuard(t *testing.T) {
	_, url := run(t, config(t))
	for _, h := range []string{"Host: example.com", "Origin: http://example.com", "Origin: null", "Sec-Fetch-Site: cross-site"} {
		if status, _, body := call(t, "POST", url+"/v2/repository/index", nil, h); status != 403 {
			t.Errorf("%s: status %d: %s", h, status, body)
		}
	}
	cfg := config(t)
	cfg.Address = "0.0.0.0:0"
	if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "-token") {
		t.Errorf("an open address without a token: %v", err)
	}
	cfg.Token = "secret"
	s, _ := run(t, cfg)
	url = strings.Replace(s.URL(), "[::]", "127.0.0.1", 1)
	for path, want := range map[string]int{"/v2": 401, "/metrics": 401, "/v2/health/ready": 200} {
		if status, _, _ := call(t, "GET", url+path, nil); status != want {
			t.Errorf("%s without the token: status %d", path, status)
		}
	}
	for _, h := range []string{"Authorization: Bearer secret", "Authorization: bearer secret"} {
		if status, _, _ := call(t, "GET", url+"/v2", nil, h); status != 200 {
			t.Errorf("%s: status %d", h, status)
		}
	}
	cfg.Address = "127.0.0.1:0"
	_, url = run(t, cfg)
	for path, want := range map[string]int{"/v2": 401, "/models": 401, "/v2/health/live": 200, "/v2/health/ready": 200, "/": 200} {
		if status, _, _ := call(t, "GET", url+path, nil); status != want {
			t.Errorf("%s without the token, on this computer: status %d", path, status)
		}
	}
}

// picture is a PNG of the size.
func picture(height, width int) []byte {
	im := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			im.Set(x, y, color.NRGBA{uint8(17 * x), uint8(31 * y), uint8(x * y), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// TestImages: an image as a body, a form, base64 and BYTES is answered with what package predict gives.
func TestImages(t *testing.T) {
	cfg := config(t)
	labels := filepath.Join(t.TempDir(), "labels.txt")
	write(t, labels, "a\nb\nc\nd\ne\nf\ng\n")
	cfg.Models[0].Options.Labels = labels
	_, url := run(t, cfg)
	m, err := loader(1)(cfg.Models[0].Options)
	if err != nil {
		t.Fatal(err)
	}
	session, err := m.NewSession(1)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	file := picture(9, 8)
	item, err := m.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := session.Classify(t.Context(), 2, item)
	if err != nil {
		t.Fatal(err)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	w.WriteField("top", "2")
	part, _ := w.CreateFormFile("image", "cat.png")
	part.Write(file)
	w.Close()
	coded := base64.StdEncoding.EncodeToString(file)
	for _, c := range []struct{ method, kind, body, query string }{
		{"PUT", "", string(file), "?top=2"}, {"POST", "application/octet-stream", string(file), "?top=2"}, {"POST", w.FormDataContentType(), form.String(), ""},
		{"POST", "application/json", `{"image":"` + coded + `","top":2}`, ""},
	} {
		status, _, body := call(t, c.method, url+"/v2/models/m/classify"+c.query, []byte(c.body), "Content-Type: "+c.kind)
		var got struct{ Predictions []predict.Class }
		if err := json.Unmarshal(body, &got); err != nil || status != 200 || !slices.Equal(got.Predictions, classes[0]) {
			t.Errorf("%s %s: status %d, %v, want %v: %s", c.method, c.kind, status, got, classes[0], body)
		}
	}
	request := fmt.Sprintf(`{"inputs":[{"name":"data","datatype":"BYTES","shape":[2,1],"data":[%q,%[1]q]}],"outputs":[{"name":"prob","parameters":{"classification":1}}]}`, coded)
	status, _, body := call(t, "POST", url+"/v2/models/m/infer", []byte(request))
	best := classes[0][0]
	want := fmt.Sprintf(`"datatype":"BYTES","shape":[2,1],"data":["%.6f:%d:%s"`, best.Score, best.Class, best.Label)
	if status != 200 || !strings.Contains(string(body), want) {
		t.Errorf("BYTES: status %d: %s, want %s", status, body, want)
	}
	for name, bad := range map[string]string{"no image": "text", "empty": "", "cut": string(file[:30])} {
		if status, _, body := call(t, "PUT", url+"/v2/models/m/classify", []byte(bad)); status != 400 {
			t.Errorf("%s: status %d: %s", name, status, body)
		}
	}
}

// TestFolder: a damaged model is reported and the others are served, with metadata and the highest version by default.
func TestFolder(t *testing.T) {
	folder := t.TempDir()
	for _, version := range []string{"good/2", "good/10", "bad/1"} {
		write(t, filepath.Join(folder, version, deployFile), small)
		write(t, filepath.Join(folder, version, "w.caffemodel"), "")
	}
	write(t, filepath.Join(folder, "bad", "1", deployFile), "layer { name")
	write(t, filepath.Join(folder, "empty", "config.pbtxt"), "")
	cfg := config(t)
	cfg.Folder = folder
	cfg.Load = func(o predict.Options) (*predict.Model, error) {
		o.Weights = ""
		return loader(1)(o)
	}
	s, url := run(t, cfg)
	if err := s.Load(); err == nil || !strings.Contains(err.Error(), `model "bad", version 1: `) || !strings.Contains(err.Error(), `model "empty", version none: `) {
		t.Errorf("loading: %v", err)
	}
	for path, want := range map[string]string{
		"GET /v2/models/good":                  `{"name":"good","versions":["2","10"],"platform":"caffe","inputs":[{"name":"data","datatype":"FP32","shape":[-1,3,4,5]}],"outputs":[{"name":"prob","datatype":"FP32","shape":[-1,7]}]}`,
		"GET /v2/models/good/versions/2/ready": `{"ready":true}`,
		"GET /v2/models/bad/ready":             `{"ready":false}`,
		"GET /v2/health/ready":                 `{"ready":true}`,
		"GET /v2/health/live":                  `{"live":true}`,
		"POST /v2/repository/models/bad/load":  `model \"bad\", version 1`,
	} {
		method, path, _ := strings.Cut(path, " ")
		if _, _, body := call(t, method, url+path, nil); !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
	_, h, body := call(t, "POST", url+"/v2/models/good/infer", jsonRequest(make([]float32, values)))
	if outputOf(t, h, body); !strings.Contains(string(body), `"model_version":"10"`) {
		t.Errorf("default version: %s", body)
	}
	call(t, "POST", url+"/v2/repository/models/good/unload", nil)
	if status, _, _ := call(t, "GET", url+"/v2/health/ready", nil); status != 503 {
		t.Errorf("after unload: ready has status %d", status)
	}
	_, _, body = call(t, "POST", url+"/v2/repository/index", nil)
	if !strings.Contains(string(body), `{"name":"good","version":"10","state":"UNAVAILABLE","reason":"unloaded"}`) {
		t.Errorf("index: %s", body)
	}
}

// TestNameOfBytes: a model whose name is not UTF-8 is refused in plain words, and the others are served.
func TestNameOfBytes(t *testing.T) {
	cfg := config(t)
	odd := cfg.Models[0]
	odd.Name = "m\xff"
	cfg.Models = append(cfg.Models, odd)
	s, url := run(t, cfg)
	if err := s.Load(); err == nil || !strings.Contains(err.Error(), `model "m\xff", version 1: the name is not UTF-8`) {
		t.Errorf("loading: %v", err)
	}
	if status, _, body := call(t, "GET", url+"/v2/models/m/ready", nil); status != 200 {
		t.Errorf("the other model: status %d, %s", status, body)
	}
}

// TestDrain: Close answers the requests under way.
func TestDrain(t *testing.T) {
	cfg := config(t)
	cfg.Delay = 200 * time.Millisecond
	s, url := run(t, cfg)
	answered := make(chan int)
	go func() {
		status, _, _ := call(t, "POST", url+"/v2/models/m/infer", jsonRequest(make([]float32, values)))
		answered <- status
	}()
	for len(s.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if status := <-answered; status != 200 {
		t.Errorf("status %d", status)
	}
}
