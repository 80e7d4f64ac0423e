package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// TestBodies: the memory of a body is as long as wanted, binary tensors in it are aligned, and it is used again only after its last user.
func TestBodies(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 4096, 1<<20 - 64, 1 << 20} {
		for _, at := range []int{0, 1, 63, n} {
			b := newBody(n)
			content := b.aligned(n, at)
			if address := uintptr(unsafe.Pointer(&content[0])) + uintptr(at); len(content) != n || address%bodyAlignment != 0 {
				t.Errorf("%d bytes, tensors at %d: %d bytes, the tensors' address is %#x", n, at, len(content), address)
			}
			b.use()
			b.release()
			if other := newBody(n); other == b {
				t.Errorf("%d bytes: memory that has a user is given to another request", n)
			}
			b.release()
		}
	}
}

// TestReadInferLengths: lengths of the JSON that cannot be are refused, whether the body's length is stated or not.
func TestReadInferLengths(t *testing.T) {
	for length, want := range map[string]int{"": 4, "0": 0, "3": 3, "4": 4, "5": -1, "-1": -1, "x": -1, "99999999999999999999": -1} {
		for _, stated := range []bool{true, false} {
			r := httptest.NewRequest("POST", "/", strings.NewReader("{}ab"))
			if !stated {
				r.ContentLength = -1
			}
			if length != "" {
				r.Header.Set(headerLength, length)
			}
			memory, content, header, err := readInfer(r)
			memory.release()
			if want < 0 {
				if statusOf(err) != http.StatusBadRequest {
					t.Errorf("length %q, stated %v: %v", length, stated, err)
				}
			} else if err != nil || header != want || string(content) != "{}ab" {
				t.Errorf("length %q, stated %v: header %d, content %q, %v", length, stated, header, content, err)
			}
		}
	}
}

// TestBodiesOfVanishedClients: clients that leave while their requests wait or run do not change what others are answered, though memory of bodies is used again.
func TestBodiesOfVanishedClients(t *testing.T) {
	cfg, _ := breakingConfig(t)
	cfg.Load = loader(4)
	_, url := run(t, cfg)
	ask := func(ctx context.Context, first float32) ([]byte, error) {
		items := 1 + int(first)%9
		values := slices.Repeat([]float32{first, 1, 2, 3, 4, 5, 6}, items)
		head := fmt.Appendf(nil, `{"inputs": [{"name": "data", "shape": [%d, 7], "datatype": "FP32", "parameters": {"binary_data_size": %d}}], "parameters": {"binary_data_output": true}}`, items, 28*items)
		r, err := http.NewRequestWithContext(ctx, "POST", url+"/v2/models/m/infer", bytes.NewReader(appendFloats(slices.Clone(head), values)))
		if err != nil {
			return nil, err
		}
		r.Header.Set(headerLength, fmt.Sprint(len(head)))
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		defer w.Body.Close()
		var b bytes.Buffer
		_, err = b.ReadFrom(w.Body)
		if w.StatusCode != 200 {
			return nil, fmt.Errorf("status %d: %s", w.StatusCode, &b)
		}
		return b.Bytes()[b.Len()-28*items:], err
	}
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			for i := range 60 {
				first := float32(100*c + i)
				if c%2 == 1 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
					ask(ctx, first)
					cancel()
					continue
				}
				b, err := ask(t.Context(), first)
				if err != nil {
					t.Error(err)
					return
				}
				for ; len(b) > 0; b = b[28:] {
					if got := math.Float32frombits(binary.LittleEndian.Uint32(b)); got != first {
						t.Errorf("the request with %v was answered %v", first, got)
					}
				}
			}
		})
	}
	clients.Wait()
	http.DefaultClient.CloseIdleConnections()
}

// TestClientsThatLeave: a client that leaves while it sends a body is counted as one that left.
func TestClientsThatLeave(t *testing.T) {
	_, url := run(t, config(t))
	for range 2 {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
		c.Close()
	}
	two := &http.Transport{Protocols: new(http.Protocols)}
	two.Protocols.SetUnencryptedHTTP2(true)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/v2/models/m/infer", &leaving{cancel: cancel, ctx: ctx})
	if err != nil {
		t.Fatal(err)
	}
	if w, err := two.RoundTrip(r); err == nil {
		t.Errorf("status %d", w.StatusCode)
	}
	two.CloseIdleConnections()
	const want = `swcaffe_serve_requests_total{code="499",model="m",version="1"} 3`
	var text []byte
	for begin := time.Now(); time.Since(begin) < 10*time.Second && !strings.Contains(string(text), want); time.Sleep(5 * time.Millisecond) {
		_, _, text = call(t, "GET", url+"/metrics", nil)
	}
	if !strings.Contains(string(text), want) {
		t.Errorf("metrics: %s", text)
	}
}

// leaving is a body whose client leaves after its first bytes.
type leaving struct {
	cancel context.CancelFunc
	ctx    context.Context
	sent   bool
}

func (l *leaving) Read(p []byte) (int, error) {
	if !l.sent {
		l.sent = true
		return copy(p, "{"), nil
	}
	time.AfterFunc(50*time.Millisecond, l.cancel) // the request has arrived
	<-l.ctx.Done()
	return 0, l.ctx.Err()
}
