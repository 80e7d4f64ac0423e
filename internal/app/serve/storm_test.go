package serve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestConnections: connections beyond the limit are closed at once, and those that end make room.
func TestConnections(t *testing.T) {
	cfg := config(t)
	cfg.Connections = 3
	s, _ := run(t, cfg)
	answered := func(c net.Conn) bool {
		c.SetDeadline(time.Now().Add(10 * time.Second))
		io.WriteString(c, "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
		w, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil && w.StatusCode == 200
	}
	var list []net.Conn
	connect := func() net.Conn {
		c, err := net.Dial("tcp", s.GRPC())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
		return c
	}
	defer func() {
		for _, c := range list {
			c.Close()
		}
	}()
	for i := range 3 {
		if !answered(connect()) {
			t.Fatalf("connection %d is not answered", i+1)
		}
	}
	if answered(connect()) {
		t.Error("the fourth of three connections is answered")
	}
	list[0].Close()
	for begin := time.Now(); !answered(connect()); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("a connection that ended makes no room")
		}
	}
}

// TestMaxPixels: an image with more pixels than the limit is refused before it is decoded.
func TestMaxPixels(t *testing.T) {
	cfg := config(t)
	cfg.MaxPixels = 19 // the picture has 20
	_, url := run(t, cfg)
	file, err := os.ReadFile(pictureFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if status, _, body := call(t, "POST", url+"/v2/models/m/classify", file); status != 413 || !strings.Contains(string(body), "at most 19 pixels") {
		t.Errorf("status %d: %s", status, body)
	}
}

// TestHosts: a page of another origin cannot use the server, be it by its Origin header, by a name of its own that leads here, or by a form.
func TestHosts(t *testing.T) {
	_, url := run(t, config(t))
	for _, headers := range [][]string{
		{"Origin: https://evil.example"}, {"Origin: null"}, {"Host: evil.example"}, {"Host: evil.example:8000", "Origin: http://evil.example:8000"},
		{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Host: 127.0.0.1.evil.example"}, {"Host: localhost.evil.example"},
	} {
		for _, path := range []string{"/v2/models/m/infer", "/v2/repository/models/m/unload", "/v2/models/m/classify"} {
			if status, h, body := call(t, "POST", url+path, []byte("{}"), headers...); status != 403 || h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%v, %s: status %d: %s", headers, path, status, body)
			}
		}
	}
	if status, _, _ := call(t, "GET", url+"/v2", nil, "Origin: "+url, "Sec-Fetch-Site: same-origin"); status != 200 {
		t.Errorf("the page itself: status %d", status)
	}
}

// storm sends a random bad request, over a connection of its own.
func storm(r *rand.Rand, address string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	junk := make([]byte, r.IntN(3000))
	for i := range junk {
		junk[i] = byte(r.Uint32())
	}
	post := func(path string, length int, body []byte, headers string) {
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n", path, length, headers)
		c.Write(body)
	}
	switch r.IntN(9) {
	case 0: // no HTTP
		c.Write(junk)
	case 1: // a body that ends early
		post("/v2/models/m/infer", len(junk)+1+r.IntN(1000), junk, "")
	case 2: // lengths that cannot be
		post("/v2/models/m/infer", len(junk), junk, fmt.Sprintf("%s: %d\r\n", headerLength, r.Int64()-r.Int64()))
	case 3: // a huge body
		post("/v2/models/m/infer", 1<<(bits.UintSize-2), junk, "")
	case 4: // shapes that cannot be
		body := fmt.Appendf(nil, `{"inputs": [{"name": "data", "shape": [%d, %d, 4, 5], "datatype": "FP32", "data": [1]}]}`, r.Int64(), r.IntN(9)-3)
		post("/v2/models/m/infer", len(body), body, "")
	case 5: // an image that is none, or cut
		post("/v2/models/m/classify", len(junk)+8, append([]byte("\x89PNG\r\n\x1a\n"), junk...), "")
	case 6: // the protocol of gRPC without HTTP/2
		post(inferCall, len(junk), junk, "Content-Type: application/grpc\r\n")
	case 7: // HTTP/2 with frames that are none
		io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		c.Write(junk)
	case 8: // chunks that end early
		io.WriteString(c, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n{}")
		c.Write(binary.LittleEndian.AppendUint32(nil, r.Uint32()))
	}
	if r.IntN(2) == 0 {
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
	}
}

// TestStorm: after a storm of bad requests there are as many goroutines and open files as before, no more memory, and the server answers.
func TestStorm(t *testing.T) {
	cfg := config(t)
	cfg.Timeout = 2 * time.Second
	s, url := run(t, cfg)
	want := []byte(`{"inputs": [{"name": "data", "shape": [1, 3, 4, 5], "datatype": "FP32", "data": [` + strings.Repeat("1,", 59) + `1]}]}`)
	status, _, first := call(t, "POST", url+"/v2/models/m/infer", want)
	if status != 200 {
		t.Fatalf("status %d: %s", status, first)
	}
	http.DefaultClient.CloseIdleConnections()
	files := func() int {
		list, _ := os.ReadDir("/proc/self/fd")
		return len(list)
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // pools are empty after two
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run := func(n int) {
		var clients sync.WaitGroup
		for c := range 16 {
			clients.Go(func() {
				r := rand.New(rand.NewPCG(uint64(n), uint64(c)))
				for range n / 16 {
					storm(r, s.GRPC())
				}
			})
		}
		clients.Wait()
	}
	settle := func(what string, now func() int, limit int) {
		for begin := time.Now(); now() > limit; time.Sleep(10 * time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Errorf("%d %s after the storm, %d before", now(), what, limit)
				return
			}
		}
	}
	time.Sleep(20 * time.Millisecond)
	goroutines, handles := runtime.NumGoroutine(), files()
	run(200) // what is made once
	settle("goroutines", runtime.NumGoroutine, goroutines)
	memory := heap()
	run(320)
	settle("goroutines", runtime.NumGoroutine, goroutines)
	settle("open files", files, handles)
	if now := heap(); now > memory+1<<20 {
		t.Errorf("%d bytes of memory after the storm, %d before", now, memory)
	}
	if n := s.held.Load(); n != 0 || len(s.slots) != 0 || s.connections.Load() != 0 {
		t.Errorf("after the storm %d bytes of bodies, %d requests and %d connections are counted", n, len(s.slots), s.connections.Load())
	}
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", want); status != 200 || !bytes.Equal(body, first) {
		t.Errorf("after the storm: status %d: %s", status, body)
	}
}
