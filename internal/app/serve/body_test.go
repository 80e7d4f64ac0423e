package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
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
